#include "lib/database/queues/queue_store.h"

#include "lib/admission/goods/goods_finding.h"
#include "lib/admission/queues/queue_publication.h"
#include "lib/base/random.h"
#include "lib/base/test_pause.h"
#include "lib/store/redis_primary.h"

/* A change this recent may still be being published by the process that made it. */
enum { PUBLISHING_MS = 5000 };

static const char *const ACTIONS[] = {[QUEUE_ACTION_PAUSE] = "pause",
                                      [QUEUE_ACTION_RESUME] = "resume",
                                      [QUEUE_ACTION_DRAIN] = "drain",
                                      [QUEUE_ACTION_SOLD_OUT] = "sold-out",
                                      [QUEUE_ACTION_RESET] = "reset"};

bool queue_action_parse(struct str word, enum queue_action *action)
{
    for (size_t i = 0; i < sizeof(ACTIONS) / sizeof(ACTIONS[0]); i++) {
        if (str_equal(word, str_of(ACTIONS[i]))) {
            *action = (enum queue_action)i;
            return true;
        }
    }
    return false;
}

const char *queue_action_word(enum queue_action action)
{
    return ACTIONS[action];
}

static void release_json(void *object)
{
    (void)json_object_put(object);
}

/** Reads a row of the columns `outcome, queue_record`. */
static void read_row(const PGresult *result, int at, struct arena *arena, struct queue_row *row)
{
    int column = 1;

    row->id = postgres_text(result, at, column++);
    row->settings = json_tokener_parse(arena_copy(arena, postgres_text(result, at, column++)));
    arena_on_reset(arena, release_json, row->settings);
    row->operator_state = arena_copy(arena, postgres_text(result, at, column++));
    row->epoch = postgres_int(result, at, column++, 1);
    row->incarnation = postgres_int(result, at, column++, 1);
    row->version = postgres_int(result, at, column++, 1);
    row->seq_checkpoint = postgres_int(result, at, column++, 0);
    row->sold_out = str_equal(postgres_text(result, at, column++), STR("t"));
    row->sold_out_change = postgres_int(result, at, column++, 0);
    row->created_at_ms = postgres_int(result, at, column++, 0);
    row->updated_at_ms = postgres_int(result, at, column++, 0);
    row->deleted = str_equal(postgres_text(result, at, column++), STR("t"));
    row->now_ms = postgres_int(result, at, column++, 0);
    row->lottery_secret = postgres_text(result, at, column++);
    row->lottery_draw = postgres_text(result, at, column);
}

static enum queue_change read_change(struct str word)
{
    if (str_equal(word, STR("created"))) {
        return QUEUE_CREATED;
    }
    if (str_equal(word, STR("changed"))) {
        return QUEUE_CHANGED;
    }
    if (str_equal(word, STR("same"))) {
        return QUEUE_SAME;
    }
    return str_equal(word, STR("stale")) ? QUEUE_STALE : QUEUE_MISSING;
}

/** Runs a changing statement and reads its result. */
static enum postgres_outcome change_queue(struct postgres *postgres, struct arena *arena,
                                          enum query query, const char *const *parameters,
                                          enum queue_change *change, struct queue_row *row)
{
    const PGresult *result = NULL;
    enum postgres_outcome outcome = postgres_query(postgres, arena, query, parameters, &result);

    if (outcome == POSTGRES_OK) {
        *change = read_change(postgres_text(result, 0, 0));
        if (*change != QUEUE_MISSING) {
            read_row(result, 0, arena, row);
        }
    }
    return outcome;
}

enum postgres_outcome queue_store_put(struct postgres *postgres, struct arena *arena, struct str id,
                                      int64_t version, json_object *settings,
                                      const struct change_author *author, enum queue_change *change,
                                      struct queue_row *row)
{
    const char *const parameters[] = {arena_copy(arena, id),
                                      arena_int(arena, version),
                                      "true",
                                      json_object_to_json_string(settings),
                                      author->actor,
                                      author->request_id};

    return change_queue(postgres, arena, QUERY_QUEUE_WRITE, parameters, change, row);
}

enum postgres_outcome queue_store_change(struct postgres *postgres, struct arena *arena,
                                         struct str id, int64_t version, json_object *settings,
                                         const struct change_author *author,
                                         enum queue_change *change, struct queue_row *row)
{
    const char *const parameters[] = {arena_copy(arena, id),
                                      arena_int(arena, version),
                                      "false",
                                      json_object_to_json_string(settings),
                                      author->actor,
                                      author->request_id};

    return change_queue(postgres, arena, QUERY_QUEUE_WRITE, parameters, change, row);
}

enum postgres_outcome queue_store_act(struct postgres *postgres, struct arena *arena, struct str id,
                                      enum queue_action action, const struct change_author *author,
                                      enum queue_change *change, struct queue_row *row)
{
    const char *const parameters[] = {arena_copy(arena, id), queue_action_word(action),
                                      author->actor, author->request_id};

    return change_queue(postgres, arena, QUERY_QUEUE_ACT, parameters, change, row);
}

enum postgres_outcome queue_store_delete(struct postgres *postgres, struct arena *arena,
                                         struct str id, int64_t version,
                                         const struct change_author *author,
                                         enum queue_change *change, struct queue_row *row)
{
    const char *const parameters[] = {
        arena_copy(arena, id), version == QUEUE_VERSION_ANY ? NULL : arena_int(arena, version),
        author->actor, author->request_id};

    return change_queue(postgres, arena, QUERY_QUEUE_DELETE, parameters, change, row);
}

static enum postgres_outcome find_queue(struct postgres *postgres, struct arena *arena,
                                        struct str id, bool deleted_too, bool *found,
                                        struct queue_row *row)
{
    const char *const parameters[] = {arena_copy(arena, id), deleted_too ? "true" : "false"};
    const PGresult *result = NULL;
    enum postgres_outcome outcome =
        postgres_query(postgres, arena, QUERY_QUEUE_GET, parameters, &result);

    *found = outcome == POSTGRES_OK && PQntuples(result) > 0;
    if (*found) {
        read_row(result, 0, arena, row);
    }
    return outcome;
}

enum postgres_outcome queue_store_get(struct postgres *postgres, struct arena *arena, struct str id,
                                      bool *found, struct queue_row *row)
{
    return find_queue(postgres, arena, id, false, found, row);
}

enum postgres_outcome queue_store_list(struct postgres *postgres, struct arena *arena,
                                       bool deleted_too, struct queue_row **rows, size_t *count)
{
    const char *const parameters[] = {deleted_too ? "true" : "false"};
    const PGresult *result = NULL;
    enum postgres_outcome outcome =
        postgres_query(postgres, arena, QUERY_QUEUE_LIST, parameters, &result);

    *count = 0;
    if (outcome != POSTGRES_OK) {
        return outcome;
    }
    int rows_read = PQntuples(result);
    *rows = arena_alloc(arena, ((size_t)rows_read + 1) * sizeof(**rows));
    for (int i = 0; i < rows_read; i++) {
        read_row(result, i, arena, &(*rows)[i]);
    }
    *count = (size_t)rows_read;
    return outcome;
}

/* A queue is listed before it is published and unlisted after its deletion was: after an
 * interruption in between, no queue with a line is missing from the list. */
static bool list_queue(struct redis *redis, struct arena *arena, struct str id, bool listed)
{
    return redis_call(redis, arena, queue_publication_listed(arena, id, listed)) != NULL;
}

static struct queue_publication publication_of(const struct queue_row *row,
                                               enum queue_publish_intent intent)
{
    return (struct queue_publication){.intent = intent,
                                      .queue = row->id,
                                      .settings = row->settings,
                                      .operator_state = str_of(row->operator_state),
                                      .version = row->version,
                                      .epoch = row->epoch,
                                      .incarnation = row->incarnation,
                                      .deleted = row->deleted,
                                      .lottery_secret = row->lottery_secret,
                                      .lottery_draw = row->lottery_draw,
                                      .seq_floor = row->seq_checkpoint};
}

static enum outcome publish(struct redis *redis, struct arena *arena, const struct queue_row *row,
                            const struct queue_publication *publication)
{
    if (!row->deleted &&
        (!redis_primaries_begin(redis, arena) || !list_queue(redis, arena, row->id, true))) {
        return OUTCOME_ADMISSION_UNAVAILABLE;
    }
    enum outcome published =
        outcome_of(redis_call(redis, arena, queue_publication_publish(arena, publication)));
    if (published != OUTCOME_PUBLISHED && published != OUTCOME_OLDER) {
        return published == OUTCOME_NOT_FOUND ? published : OUTCOME_ADMISSION_UNAVAILABLE;
    }
    if (row->deleted && published == OUTCOME_PUBLISHED &&
        !list_queue(redis, arena, row->id, false)) {
        return OUTCOME_ADMISSION_UNAVAILABLE;
    }
    const struct goods_finding last = {.change = row->sold_out_change, .sold_out = row->sold_out};
    if (!row->deleted && last.change > 0 &&
        sold_out_set(redis, arena, row->id, &last, NULL) == OUTCOME_ADMISSION_UNAVAILABLE) {
        return OUTCOME_ADMISSION_UNAVAILABLE;
    }
    return published;
}

enum outcome queue_publish_recovery(struct redis *redis, struct arena *arena,
                                    const struct queue_row *row, int64_t seq_floor,
                                    int64_t recovery_ms)
{
    struct queue_publication publication = publication_of(row, QUEUE_PUBLISH_RECOVER);

    publication.seq_floor = seq_floor;
    publication.recovery_ms = recovery_ms;
    return publish(redis, arena, row, &publication);
}

enum outcome queue_publish_change(struct redis *redis, struct arena *arena,
                                  const struct queue_row *row)
{
    const struct queue_publication publication =
        publication_of(row, row->deleted ? QUEUE_PUBLISH_CREATE : QUEUE_PUBLISH_CHANGE);

    return publish(redis, arena, row, &publication);
}

/* Of a queue in its first incarnation and epoch only its creation makes a line: every other process
 * changes one that is there, or raises the incarnation first. */
static bool had_no_line(const struct queue_row *row)
{
    return row->incarnation == 1 && row->epoch == 1;
}

enum outcome queue_publish_creation(struct postgres *postgres, struct redis *redis,
                                    struct arena *arena, const struct queue_row *row)
{
    struct queue_publication publication = publication_of(row, QUEUE_PUBLISH_CREATE);
    struct queue_row current;
    char name[RANDOM_ID_TEXT + 1];
    bool found;

    random_id(name);
    if (!redis_primaries_begin(redis, arena) ||
        redis_call(redis, arena, queue_publication_announce(arena, row->id, str_of(name))) ==
            NULL ||
        find_queue(postgres, arena, row->id, true, &found, &current) != POSTGRES_OK) {
        return OUTCOME_ADMISSION_UNAVAILABLE;
    }
    if (found && current.deleted == row->deleted && (row->deleted || had_no_line(&current))) {
        publication.announced = str_of(name);
    }
    enum outcome published = publish(redis, arena, row, &publication);
    /* A queue created again after its deletion must not be affected by the deletion. */
    return published == OUTCOME_NOT_FOUND && row->deleted ? OUTCOME_OLDER : published;
}

enum outcome queue_lock(struct redis *redis, struct arena *arena, const struct queue_row *row,
                        enum queue_lock_scope scope, struct queue_occupancy *who)
{
    *who = (struct queue_occupancy){0};
    /* The lock is on this version, so Redis must have it. */
    enum outcome published = queue_publish_change(redis, arena, row);
    if (published != OUTCOME_PUBLISHED && published != OUTCOME_OLDER) {
        return published;
    }
    test_pause("queue.locking");
    enum outcome locked = queue_publication_read_lock(
        redis_call(redis, arena, queue_publication_lock(arena, row->id, row->version, scope)), who);
    if (locked == OUTCOME_OK) {
        test_pause("queue.locked");
    }
    /* Redis had it a moment ago, so it was deleted, or the publication of the next look finds it
     * lost. */
    return locked == OUTCOME_NOT_FOUND ? OUTCOME_OLDER : locked;
}

struct published {
    int64_t version; /* -1: Redis does not have the queue */
    int64_t epoch;
    int64_t incarnation;
    bool is_deleted;
    bool is_whole;  /* with every setting that this release knows */
    bool is_locked; /* nobody enters before another version is published */
};

/** Reads what Redis has; false if it did not answer. */
static bool read_published(struct redis *redis, struct arena *arena, struct str queue,
                           struct published *published)
{
    const redisReply *reply = redis_call(redis, arena, queue_publication_version(arena, queue));

    if (reply == NULL) {
        return false;
    }
    *published = (struct published){.version = queue_publication_read_version(reply),
                                    .epoch = queue_publication_read_epoch(reply),
                                    .incarnation = queue_publication_read_incarnation(reply),
                                    .is_deleted = queue_publication_read_deleted(reply),
                                    .is_whole = queue_publication_read_whole(reply),
                                    .is_locked = queue_publication_read_locked(reply)};
    return true;
}

/* A queue created a moment ago may not be in Redis yet. */
static bool is_new(const struct queue_row *row)
{
    return row->now_ms - row->created_at_ms <= PUBLISHING_MS;
}

/** Whether PostgreSQL has lost a recovery, a reset or a deletion that Redis has: no change can
 *  continue that line. Only where `row` is not outdated. */
static bool is_lost(const struct queue_row *row, const struct published *redis_has)
{
    return !row->deleted &&
           (redis_has->incarnation > row->incarnation || redis_has->epoch > row->epoch ||
            (redis_has->is_deleted && redis_has->epoch == row->epoch));
}

/** Whether no change from `row` would reach Redis: it is locked on this version, and the change that
 *  it was locked for has not come, or PostgreSQL has lost versions and numbers them anew. */
static bool is_stuck(const struct queue_row *row, const struct published *redis_has)
{
    if (redis_has->version != row->version) {
        return redis_has->version > row->version;
    }
    return redis_has->is_locked || redis_has->epoch != row->epoch ||
           redis_has->incarnation != row->incarnation || redis_has->is_deleted != row->deleted;
}

/** Raises the version of a queue above Redis's. A pending change on the old version becomes STALE.
 *  An outdated row stays as it is. */
static enum postgres_outcome raise_version(struct postgres *postgres, struct arena *arena,
                                           struct queue_row *row, int64_t redis_version)
{
    const char *const parameters[] = {arena_copy(arena, row->id), arena_int(arena, row->version),
                                      arena_int(arena, redis_version)};
    const PGresult *result = NULL;
    enum postgres_outcome outcome =
        postgres_query(postgres, arena, QUERY_QUEUE_VERSION_RAISE, parameters, &result);

    if (outcome == POSTGRES_OK && PQntuples(result) > 0) {
        row->version = postgres_int(result, 0, 0, row->version);
    }
    return outcome;
}

bool queue_version_outrun(struct postgres *postgres, struct redis *redis, struct arena *arena,
                          struct queue_row *row, enum postgres_outcome *store)
{
    struct published redis_has;

    *store = POSTGRES_OK;
    if (!read_published(redis, arena, row->id, &redis_has)) {
        return false;
    }
    if (redis_has.version > row->version) {
        *store = raise_version(postgres, arena, row, redis_has.version);
    }
    return *store == POSTGRES_OK;
}

static bool publish_if_behind(struct postgres *postgres, struct redis *redis, struct arena *arena,
                              struct queue_row *row, struct queue_publish_report *report)
{
    struct published redis_has;
    enum outcome outcome = OUTCOME_OLDER;

    if (!read_published(redis, arena, row->id, &redis_has)) {
        return false;
    }
    if (is_stuck(row, &redis_has)) {
        enum postgres_outcome raised = raise_version(postgres, arena, row, redis_has.version);
        if (raised != POSTGRES_OK) {
            /* Another transaction may have the row: the other queues are published all the same. */
            report->store = raised;
            return true;
        }
    }
    if (redis_has.version < 0 && !row->deleted) {
        outcome = is_new(row) ? OUTCOME_OLDER : OUTCOME_NOT_FOUND;
        report->on_their_way += outcome == OUTCOME_OLDER;
    } else if (redis_has.version < 0) {
        outcome = queue_publish_creation(postgres, redis, arena, row);
        report->published += outcome == OUTCOME_PUBLISHED;
    } else if (redis_has.version < row->version && is_lost(row, &redis_has)) {
        outcome = OUTCOME_NOT_FOUND;
    } else if (redis_has.version < row->version ||
               (redis_has.version == row->version && !redis_has.is_whole && !row->deleted)) {
        outcome = queue_publish_change(redis, arena, row);
        report->published += outcome == OUTCOME_PUBLISHED;
    } else if (!list_queue(redis, arena, row->id, !row->deleted)) {
        return false;
    }
    if (outcome == OUTCOME_NOT_FOUND) {
        report->missing[report->missing_count++] = *row;
    }
    return outcome != OUTCOME_ADMISSION_UNAVAILABLE;
}

bool queue_publish_all(struct postgres *postgres, struct redis *redis, struct arena *arena,
                       struct queue_publish_report *report)
{
    struct queue_row *rows = NULL;
    size_t count = 0;

    *report = (struct queue_publish_report){0};
    report->store = queue_store_list(postgres, arena, true, &rows, &count);
    if (report->store != POSTGRES_OK) {
        return false;
    }
    report->missing = arena_alloc(arena, (count + 1) * sizeof(*rows));
    for (size_t i = 0; i < count; i++) {
        if (!publish_if_behind(postgres, redis, arena, &rows[i], report)) {
            return false;
        }
    }
    return report->store == POSTGRES_OK;
}
