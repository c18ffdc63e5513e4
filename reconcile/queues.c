#include "lib/admission/queues/queue_repair.h"
#include "lib/base/log.h"
#include "lib/base/test_pause.h"
#include "lib/database/queues/recovery_store.h"
#include "lib/store/redis_primary.h"
#include "reconcile/reconcile.h"

enum {
    NUMBERS_PER_CALL = 1000,
    PLACES_PER_CALL = 500,
    /* More numbers than can be issued between two checkpoints. */
    SEQ_MARGIN = 1000000,
    /* A recovery that stands still for so long is left to another reconcile. */
    RECOVERY_PAUSE_MAX_MS = 20000,
    /* Attempts per queue and pass. */
    ATTEMPTS = 3
};

struct recovery {
    struct queue_row queue;
    int64_t known;     /* the latest incarnation that Redis knows, as far as it has told */
    bool is_overtaken; /* Redis has lost what was prepared, or knows a later incarnation */
};

static int64_t recovery_ms(const struct queue_row *queue)
{
    json_object *seconds;

    if (!json_object_object_get_ex(queue->settings, "recoverySeconds", &seconds)) {
        return 0;
    }
    return json_object_get_int64(seconds) * 1000;
}

/* PRESENT: another reconcile was faster, and has loaded all of them. OLDER: another one has begun a
 * later recovery, Redis has been lost again meanwhile, or PostgreSQL has lost incarnations. */
static bool is_loaded(struct reconcile *reconcile, struct recovery *recovery, enum outcome outcome)
{
    reconcile->report.redis_silent |= outcome == OUTCOME_ADMISSION_UNAVAILABLE;
    recovery->is_overtaken |= outcome == OUTCOME_OLDER;
    return outcome == OUTCOME_LOADED;
}

/* Members who have spent an admission of this epoch are not seated again. */
static bool load_spent_numbers(struct reconcile *reconcile, struct recovery *recovery)
{
    const struct queue_row *queue = &recovery->queue;
    int64_t after = 0;
    enum outcome outcome;
    size_t count;

    /* PostgreSQL is asked again while Redis only has MORE places to look through: a session that
     * stands still loses the recovery's lock. */
    do {
        const int64_t *numbers;
        if (recovery_spent_numbers(reconcile->postgres, reconcile->arena, queue->id, queue->epoch,
                                   after, NUMBERS_PER_CALL, &numbers, &count) != POSTGRES_OK) {
            reconcile->report.postgres_silent = true;
            return false;
        }
        outcome =
            spent_numbers_load(reconcile->redis, reconcile->arena, queue->id, queue->incarnation,
                               queue->epoch, after, numbers, count, &recovery->known);
        if (outcome != OUTCOME_MORE && !is_loaded(reconcile, recovery, outcome)) {
            return false;
        }
        test_pause("reconcile.page_loaded");
        after = count > 0 ? numbers[count - 1] : after;
    } while (count > 0 || outcome == OUTCOME_MORE);
    return true;
}

/* A place held by an unpaid order must not be given to another member. */
static bool load_unpaid_places(struct reconcile *reconcile, struct recovery *recovery)
{
    const struct queue_row *queue = &recovery->queue;
    struct held_place after = {0};
    size_t count;

    do {
        const struct held_place *places;
        if (recovery_held_places(reconcile->postgres, reconcile->arena, queue->id, &after,
                                 PLACES_PER_CALL, &places, &count) != POSTGRES_OK) {
            reconcile->report.postgres_silent = true;
            return false;
        }
        struct str words[2 * PLACES_PER_CALL];
        for (size_t i = 0; i < count; i++) {
            words[2 * i] = places[i].member;
            words[2 * i + 1] = places[i].order;
        }
        enum outcome outcome =
            count == 0 ? OUTCOME_LOADED
                       : unpaid_places_load(reconcile->redis, reconcile->arena, queue->id,
                                            queue->incarnation, words, 2 * count, &recovery->known);
        if (!is_loaded(reconcile, recovery, outcome)) {
            return false;
        }
        after = count > 0 ? places[count - 1] : after;
    } while (count == PLACES_PER_CALL);
    return true;
}

bool reconcile_recovery_begin(struct reconcile *reconcile)
{
    bool is_locked;

    if (recovery_lock(reconcile->postgres, reconcile->arena, RECOVERY_PAUSE_MAX_MS, &is_locked) !=
        POSTGRES_OK) {
        reconcile->report.postgres_silent = true;
        return false;
    }
    reconcile->report.overtaken |= !is_locked;
    return is_locked;
}

static bool unlock(struct reconcile *reconcile)
{
    bool was_locked;

    if (recovery_unlock(reconcile->postgres, reconcile->arena, &was_locked) != POSTGRES_OK) {
        reconcile->report.postgres_silent = true;
    }
    return was_locked;
}

void reconcile_recovery_end(struct reconcile *reconcile)
{
    (void)unlock(reconcile);
}

/*
 * PostgreSQL first: once the incarnation is raised, no order can commit on a claim from before the
 * loss. Then Redis learns which numbers are spent, and only then is the queue published.
 */
static bool attempt(struct reconcile *reconcile, struct recovery *recovery)
{
    struct queue_row *queue = &recovery->queue;
    enum postgres_outcome store;
    int64_t incarnation;
    bool found;

    if (!queue_version_outrun(reconcile->postgres, reconcile->redis, reconcile->arena, queue,
                              &store)) {
        reconcile->report.postgres_silent |= store != POSTGRES_OK;
        reconcile->report.redis_silent |= store == POSTGRES_OK;
        return false;
    }
    if (recovery_raise_incarnation(reconcile->postgres, reconcile->arena, queue->id,
                                   queue->incarnation, recovery->known,
                                   &incarnation) != POSTGRES_OK ||
        queue_store_get(reconcile->postgres, reconcile->arena, queue->id, &found, queue) !=
            POSTGRES_OK) {
        reconcile->report.postgres_silent = true;
        return false;
    }
    if (!found || !load_spent_numbers(reconcile, recovery) ||
        !load_unpaid_places(reconcile, recovery) || !reconcile_load_codes(reconcile, queue) ||
        !reconcile_load_coupons(reconcile, queue) || !reconcile_load_shows(reconcile, queue)) {
        return !found;
    }
    enum outcome outcome =
        queue_publish_recovery(reconcile->redis, reconcile->arena, queue,
                               queue->seq_checkpoint + SEQ_MARGIN, recovery_ms(queue));
    if (outcome != OUTCOME_PUBLISHED) {
        /* OLDER: another reconcile was faster. NOT_FOUND: what was prepared is lost. */
        reconcile->report.redis_silent |= outcome == OUTCOME_ADMISSION_UNAVAILABLE;
        recovery->is_overtaken |= outcome == OUTCOME_NOT_FOUND;
        return outcome == OUTCOME_OLDER;
    }
    reconcile->report.queues_recovered++;
    log_event(LOG_LEVEL_WARNING, "queue.recovered",
              LOG_FIELDS(LOG_STR("queue", queue->id), LOG_INT("incarnation", queue->incarnation),
                         LOG_INT("seqFloor", queue->seq_checkpoint + SEQ_MARGIN)));
    return true;
}

/* Begins again at once, unless this reconcile has lost the lock: the recovery is then another
 * one's. After the last attempt the recovery is still its own, and the next pass begins again. */
bool reconcile_recover(struct reconcile *reconcile, const struct queue_row *missing)
{
    struct recovery recovery = {.queue = *missing};
    bool is_back = attempt(reconcile, &recovery);

    for (int i = 1; recovery.is_overtaken && i < ATTEMPTS; i++) {
        if (!unlock(reconcile)) {
            reconcile->report.overtaken = true;
            break;
        }
        if (!reconcile_recovery_begin(reconcile)) {
            break;
        }
        recovery.is_overtaken = false;
        is_back = attempt(reconcile, &recovery);
    }
    return is_back;
}

/* Returns whether every queue is in Redis. */
static bool publish_all(struct reconcile *reconcile)
{
    struct queue_publish_report published = {0};
    bool complete =
        queue_publish_all(reconcile->postgres, reconcile->redis, reconcile->arena, &published);

    if (!complete) {
        reconcile->report.postgres_silent |= published.store != POSTGRES_OK;
        reconcile->report.redis_silent |= published.store == POSTGRES_OK;
    }
    reconcile->report.queues_published += (int64_t)published.published;
    if (published.missing_count > 0 && !reconcile_recovery_begin(reconcile)) {
        return false;
    }
    for (size_t i = 0; i < published.missing_count && !reconcile->report.redis_silent &&
                       !reconcile->report.postgres_silent;
         i++) {
        complete = reconcile_recover(reconcile, &published.missing[i]) && complete;
    }
    if (published.missing_count > 0) {
        reconcile_recovery_end(reconcile);
    }
    return complete && published.on_their_way == 0 && !reconcile->report.redis_silent &&
           !reconcile->report.postgres_silent;
}

void reconcile_publish(struct reconcile *reconcile)
{
    struct redis_memory memory;

    /* Read first: a loss while the queues are checked revokes the confirmation. */
    if (!redis_memory_look(reconcile->redis, reconcile->arena, &memory)) {
        reconcile->report.redis_silent = true;
        return;
    }
    if (publish_all(reconcile) && !memory.is_complete &&
        !redis_memory_complete(reconcile->redis, reconcile->arena, &memory)) {
        reconcile->report.redis_silent = true;
    }
}
