#include "lib/base/log.h"
#include "lib/database/queues/code_store.h"
#include "reconcile/reconcile.h"

enum { CALLS_PER_PASS = 20, ENTRY_LOGGED_MAX = 200 };

static void log_unreadable(const struct queue_row *queue, struct str entry)
{
    size_t logged = entry.n < ENTRY_LOGGED_MAX ? entry.n : ENTRY_LOGGED_MAX;

    log_event(LOG_LEVEL_ERROR, "codes.use_unreadable",
              LOG_FIELDS(LOG_STR("queue", queue->id), LOG_STR("entry", str_sized(entry.p, logged)),
                         LOG_INT("bytes", entry.n)));
}

/* A use is stored, and an unreadable entry logged, before it is removed from Redis's list. */
static void store_uses(struct reconcile *reconcile, const struct queue_row *queue)
{
    for (int call = 0; call < CALLS_PER_PASS; call++) {
        struct code_uses pending;
        if (!code_uses_pending(reconcile->redis, reconcile->arena, queue->id, &pending)) {
            reconcile->report.redis_silent = true;
            return;
        }
        if (pending.unreadable) {
            log_unreadable(queue, pending.first);
        } else if (pending.count == 0) {
            return;
        } else if (code_store_note(reconcile->postgres, reconcile->arena, queue->id, pending.uses,
                                   pending.count) != POSTGRES_OK) {
            reconcile->report.postgres_silent = true;
            return;
        }
        if (!code_uses_acknowledge(reconcile->redis, reconcile->arena, queue->id, pending.first,
                                   pending.unreadable ? 1 : pending.count)) {
            reconcile->report.redis_silent = true;
            return;
        }
    }
}

static bool load_codes(struct reconcile *reconcile, const struct queue_row *queue)
{
    struct str after = {0};
    size_t count;

    do {
        const struct code_entry *codes;
        int64_t added;
        if (code_store_page(reconcile->postgres, reconcile->arena, queue->id, after, &codes,
                            &count) != POSTGRES_OK) {
            reconcile->report.postgres_silent = true;
            return false;
        }
        if (!codes_load(reconcile->redis, reconcile->arena, queue->id, codes, count, NULL, 0,
                        &added)) {
            reconcile->report.redis_silent = true;
            return false;
        }
        reconcile->report.codes_loaded += added;
        after = count > 0 ? codes[count - 1].hash : after;
    } while (count == CODES_PER_CALL);
    return true;
}

static bool load_uses(struct reconcile *reconcile, const struct queue_row *queue)
{
    struct code_use after = {0};
    size_t count;

    do {
        const struct code_used *used;
        struct code_use uses[CODES_PER_CALL];
        int64_t added;
        if (code_store_uses(reconcile->postgres, reconcile->arena, queue->id, &after, &used,
                            &count) != POSTGRES_OK) {
            reconcile->report.postgres_silent = true;
            return false;
        }
        for (size_t i = 0; i < count; i++) {
            uses[i] = used[i].use;
        }
        if (!codes_load(reconcile->redis, reconcile->arena, queue->id, NULL, 0, uses, count,
                        &added)) {
            reconcile->report.redis_silent = true;
            return false;
        }
        after = count > 0 ? used[count - 1].use : after;
    } while (count == CODES_PER_CALL);
    return true;
}

bool reconcile_load_codes(struct reconcile *reconcile, const struct queue_row *queue)
{
    /* Uses first: no code exists in Redis before its uses are known. */
    return load_uses(reconcile, queue) && load_codes(reconcile, queue);
}

/* How many codes PostgreSQL has of the queue; -1 if it does not answer. */
static int64_t codes_stored(struct reconcile *reconcile, const struct queue_row *queue)
{
    const struct code_count *counts;
    size_t count;
    int64_t codes = 0;

    if (code_store_counts(reconcile->postgres, reconcile->arena, queue->id, &counts, &count) !=
        POSTGRES_OK) {
        reconcile->report.postgres_silent = true;
        return -1;
    }
    for (size_t i = 0; i < count; i++) {
        codes += counts[i].codes;
    }
    return codes;
}

void reconcile_codes(struct reconcile *reconcile, const struct queue_row *queue)
{
    int64_t stored = codes_stored(reconcile, queue);

    if (stored <= 0) {
        return;
    }
    store_uses(reconcile, queue);
    int64_t known = codes_known(reconcile->redis, reconcile->arena, queue->id);
    reconcile->report.redis_silent |= known < 0;
    if (known >= 0 && known < stored) {
        /* Loading them into Redis was interrupted. */
        (void)reconcile_load_codes(reconcile, queue);
    }
}
