#include "lib/database/queues/code_store.h"

#include "lib/store/postgres_array.h"

enum postgres_outcome code_store_add(struct postgres *postgres, struct arena *arena,
                                     struct str queue, enum code_kind kind,
                                     const struct str *hashes, size_t count, int64_t uses,
                                     int64_t ends_ms, int64_t *added)
{
    const char *const parameters[] = {
        arena_copy(arena, queue),
        postgres_text_array(arena, hashes, count),
        code_kind_word(kind),
        arena_int(arena, uses),
        ends_ms > 0 ? arena_int(arena, ends_ms) : NULL,
    };
    const PGresult *result;

    enum postgres_outcome outcome =
        postgres_query(postgres, arena, QUERY_CODES_ADD, parameters, &result);
    if (outcome == POSTGRES_OK) {
        *added = postgres_int(result, 0, 0, 0);
    }
    return outcome;
}

enum postgres_outcome code_store_page(struct postgres *postgres, struct arena *arena,
                                      struct str queue, struct str after,
                                      const struct code_entry **codes, size_t *count)
{
    const char *const parameters[] = {arena_copy(arena, queue), arena_copy(arena, after),
                                      arena_int(arena, CODES_PER_CALL)};
    const PGresult *result;

    enum postgres_outcome outcome =
        postgres_query(postgres, arena, QUERY_CODES_PAGE, parameters, &result);
    if (outcome != POSTGRES_OK) {
        return outcome;
    }
    *count = (size_t)PQntuples(result);
    struct code_entry *found = arena_alloc(arena, (*count + 1) * sizeof(*found));
    for (int i = 0; i < PQntuples(result); i++) {
        found[i].hash = postgres_text(result, i, 0);
        found[i].kind = postgres_text(result, i, 1);
        found[i].left = postgres_int(result, i, 2, 0);
        found[i].ends_ms = postgres_int(result, i, 3, 0);
    }
    *codes = found;
    return POSTGRES_OK;
}

enum postgres_outcome code_store_uses(struct postgres *postgres, struct arena *arena,
                                      struct str queue, const struct code_use *after,
                                      const struct code_used **uses, size_t *count)
{
    const char *const parameters[] = {arena_copy(arena, queue), arena_copy(arena, after->hash),
                                      arena_copy(arena, after->member),
                                      arena_int(arena, CODES_PER_CALL)};
    const PGresult *result;

    enum postgres_outcome outcome =
        postgres_query(postgres, arena, QUERY_CODE_USES_PAGE, parameters, &result);
    if (outcome != POSTGRES_OK) {
        return outcome;
    }
    *count = (size_t)PQntuples(result);
    struct code_used *found = arena_alloc(arena, (*count + 1) * sizeof(*found));
    for (int i = 0; i < PQntuples(result); i++) {
        found[i].use.hash = postgres_text(result, i, 0);
        found[i].use.member = postgres_text(result, i, 1);
        found[i].kind = postgres_text(result, i, 2);
        found[i].use.at_ms = postgres_int(result, i, 3, 0);
    }
    *uses = found;
    return POSTGRES_OK;
}

enum postgres_outcome code_store_note(struct postgres *postgres, struct arena *arena,
                                      struct str queue, const struct code_use *uses, size_t count)
{
    struct str *hashes = arena_alloc(arena, (count + 1) * sizeof(*hashes));
    struct str *members = arena_alloc(arena, (count + 1) * sizeof(*members));
    int64_t *moments = arena_alloc(arena, (count + 1) * sizeof(*moments));
    const PGresult *result;

    for (size_t i = 0; i < count; i++) {
        hashes[i] = uses[i].hash;
        members[i] = uses[i].member;
        moments[i] = uses[i].at_ms;
    }
    const char *const parameters[] = {
        arena_copy(arena, queue),
        postgres_text_array(arena, hashes, count),
        postgres_text_array(arena, members, count),
        postgres_int_array(arena, moments, count),
    };
    return postgres_query(postgres, arena, QUERY_CODE_USES_NOTE, parameters, &result);
}

enum postgres_outcome code_store_counts(struct postgres *postgres, struct arena *arena,
                                        struct str queue, const struct code_count **counts,
                                        size_t *count)
{
    const char *const parameters[] = {arena_copy(arena, queue)};
    const PGresult *result;

    enum postgres_outcome outcome =
        postgres_query(postgres, arena, QUERY_CODES_COUNT, parameters, &result);
    if (outcome != POSTGRES_OK) {
        return outcome;
    }
    *count = (size_t)PQntuples(result);
    struct code_count *found = arena_alloc(arena, (*count + 1) * sizeof(*found));
    for (int i = 0; i < PQntuples(result); i++) {
        found[i].kind = postgres_text(result, i, 0);
        found[i].codes = postgres_int(result, i, 1, 0);
        found[i].uses = postgres_int(result, i, 2, 0);
        found[i].used = postgres_int(result, i, 3, 0);
    }
    *counts = found;
    return POSTGRES_OK;
}
