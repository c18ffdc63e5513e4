#include "lib/database/audit/audit_store.h"

static void release_json(void *object)
{
    (void)json_object_put(object);
}

static void read_row(const PGresult *result, int at, struct arena *arena, struct audit_row *row)
{
    row->id = postgres_int(result, at, 0, 0);
    row->at_ms = postgres_int(result, at, 1, 0);
    row->actor = postgres_text(result, at, 2);
    row->action = postgres_text(result, at, 3);
    row->target = postgres_text(result, at, 4);
    row->request_id = postgres_text(result, at, 5);
    row->details = json_tokener_parse(arena_copy(arena, postgres_text(result, at, 6)));
    arena_on_reset(arena, release_json, row->details);
}

enum postgres_outcome audit_store_list(struct postgres *postgres, struct arena *arena,
                                       int64_t before_id, struct str target, int64_t limit,
                                       struct audit_row **rows, size_t *count)
{
    const char *const parameters[] = {before_id > 0 ? arena_int(arena, before_id) : NULL,
                                      target.n > 0 ? arena_copy(arena, target) : NULL,
                                      arena_int(arena, limit)};
    const PGresult *result = NULL;
    enum postgres_outcome outcome =
        postgres_query(postgres, arena, QUERY_AUDIT_LIST, parameters, &result);

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

enum postgres_outcome audit_store_name_author(struct postgres *postgres, struct arena *arena,
                                              const struct change_author *author)
{
    const char *const parameters[] = {author->actor, author->request_id};
    const PGresult *result = NULL;

    return postgres_query(postgres, arena, QUERY_AUDIT_AUTHOR, parameters, &result);
}

enum postgres_outcome audit_store_note(struct postgres *postgres, struct arena *arena,
                                       const struct change_author *author, const char *action,
                                       struct str queue, const char *details)
{
    const char *const parameters[] = {author->actor, action,
                                      arena_format(arena, "queue/%.*s", STR_ARG(queue)),
                                      author->request_id, details};
    const PGresult *result = NULL;

    return postgres_query(postgres, arena, QUERY_AUDIT_NOTE, parameters, &result);
}
