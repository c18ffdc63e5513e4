#include "lib/database/service/history_store.h"

#include <inttypes.h>

#include "lib/base/buffer.h"

enum { MINUTES_TEXT_MAX = HISTORY_MINUTES_MAX * 1024 };

enum postgres_outcome history_last(struct postgres *postgres, struct arena *arena, struct str queue,
                                   int64_t *minute)
{
    const char *const parameters[] = {arena_copy(arena, queue)};
    const PGresult *result = NULL;
    enum postgres_outcome outcome =
        postgres_query(postgres, arena, QUERY_HISTORY_LAST, parameters, &result);

    *minute = outcome == POSTGRES_OK ? postgres_int(result, 0, 0, -1) : -1;
    return outcome;
}

static void add_number(struct buffer *json, const char *name, int64_t value)
{
    buffer_format(json, ",\"%s\":%" PRId64, name, value);
}

/** Omits an unknown value, which becomes NULL. */
static void add_known(struct buffer *json, const char *name, int64_t value)
{
    if (value >= 0) {
        add_number(json, name, value);
    }
}

static void add_minute(struct buffer *json, const struct queue_sample *it)
{
    buffer_format(json, "{\"minute\":%" PRId64, it->second / 60);
    add_number(json, "waiting", it->waiting);
    add_number(json, "ready", it->ready);
    add_number(json, "claimed", it->claimed);
    add_number(json, "entered", it->entered);
    add_number(json, "admitted", it->admitted);
    add_number(json, "consumed", it->consumed);
    add_number(json, "expired", it->expired);
    add_number(json, "went", it->left);
    add_known(json, "withdrawn", it->withdrawn);
    add_known(json, "rate_milli", it->rate_milli);
    add_known(json, "p50_ms", it->p50_ms);
    add_known(json, "p95_ms", it->p95_ms);
    add_known(json, "p99_ms", it->p99_ms);
    add_known(json, "order_errors", it->order_errors);
    add_known(json, "promised_seconds", it->promised_seconds);
    add_known(json, "actual_seconds", it->actual_seconds);
    buffer_add_char(json, '}');
}

enum postgres_outcome history_put(struct postgres *postgres, struct arena *arena, struct str queue,
                                  const struct queue_sample *minutes, size_t count)
{
    const PGresult *result = NULL;
    struct buffer json;

    buffer_init(&json, MINUTES_TEXT_MAX);
    buffer_add_char(&json, '[');
    for (size_t i = 0; i < count; i++) {
        if (i > 0) {
            buffer_add_char(&json, ',');
        }
        add_minute(&json, &minutes[i]);
    }
    buffer_add_char(&json, ']');
    const char *const parameters[] = {arena_copy(arena, queue),
                                      arena_copy(arena, buffer_text(&json))};
    buffer_free(&json);
    return postgres_query(postgres, arena, QUERY_HISTORY_PUT, parameters, &result);
}

/* Columns of history_range.sql. */
static void read_point(const PGresult *result, int row, struct queue_sample *point)
{
    int64_t *const numbers[] = {
        &point->second,         &point->waiting,   &point->ready,        &point->claimed,
        &point->entered,        &point->admitted,  &point->consumed,     &point->expired,
        &point->left,           &point->withdrawn, &point->rate_milli,   &point->p50_ms,
        &point->p95_ms,         &point->p99_ms,    &point->order_errors, &point->promised_seconds,
        &point->actual_seconds,
    };

    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        *numbers[i] = postgres_int(result, row, (int)i, -1);
    }
}

enum postgres_outcome history_range(struct postgres *postgres, struct arena *arena,
                                    struct str queue, int64_t from_s, int64_t to_s, int64_t step_s,
                                    struct queue_sample **points, size_t *count)
{
    const char *const parameters[] = {arena_copy(arena, queue), arena_int(arena, from_s),
                                      arena_int(arena, to_s), arena_int(arena, step_s),
                                      arena_format(arena, "%d", HISTORY_POINTS_MAX)};
    const PGresult *result = NULL;
    enum postgres_outcome outcome =
        postgres_query(postgres, arena, QUERY_HISTORY_RANGE, parameters, &result);

    *count = 0;
    if (outcome != POSTGRES_OK) {
        return outcome;
    }
    *points = arena_alloc(arena, ((size_t)PQntuples(result) + 1) * sizeof(**points));
    for (int i = 0; i < PQntuples(result); i++) {
        read_point(result, i, &(*points)[i]);
    }
    *count = (size_t)PQntuples(result);
    return outcome;
}

enum postgres_outcome history_prune(struct postgres *postgres, struct arena *arena, int64_t days)
{
    const char *const parameters[] = {arena_int(arena, days),
                                      arena_format(arena, "%d", HISTORY_PRUNED_MAX)};
    const PGresult *result = NULL;

    return postgres_query(postgres, arena, QUERY_HISTORY_PRUNE, parameters, &result);
}

enum postgres_outcome pass_note(struct postgres *postgres, struct arena *arena, const char *program)
{
    const char *const parameters[] = {program};
    const PGresult *result = NULL;

    return postgres_query(postgres, arena, QUERY_PASS_NOTE, parameters, &result);
}
