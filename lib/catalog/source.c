#include "lib/catalog/source.h"

#include "lib/base/clock.h"
#include "lib/base/log.h"

static const enum query QUERIES[] = {
    [CATALOG_CONCERTS] = QUERY_CATALOG_CONCERTS,
    [CATALOG_CONCERT] = QUERY_CATALOG_CONCERT,
    [CATALOG_SHOW] = QUERY_CATALOG_SHOW,
    [CATALOG_SEAT_PLAN] = QUERY_CATALOG_SEAT_PLAN,
};

enum catalog_outcome catalog_source_read(struct postgres *postgres, struct arena *arena,
                                         enum catalog_kind kind, struct str id,
                                         struct catalog_entry *entry, bool *server_answers)
{
    const char *const parameters[] = {arena_copy(arena, id)};
    const PGresult *result = NULL;

    *entry = (struct catalog_entry){.started = clock_monotonic_us()};
    enum postgres_outcome outcome =
        postgres_query(postgres, arena, QUERIES[kind], parameters, &result);
    entry->l2_cost = clock_monotonic_us() - entry->started;
    *server_answers = outcome == POSTGRES_OK || outcome == POSTGRES_REFUSED;
    if (outcome != POSTGRES_OK) {
        return CATALOG_UNAVAILABLE;
    }
    if (PQntuples(result) == 0) {
        return CATALOG_NONE;
    }
    entry->text = postgres_text(result, 0, 1);
    if (entry->text.n > CATALOG_TEXT_MAX) {
        log_event(LOG_LEVEL_ERROR, "catalog.too_large", LOG_FIELDS(LOG_STR("id", id)));
        return CATALOG_UNAVAILABLE;
    }
    entry->exists = true;
    entry->version = postgres_int(result, 0, 0, 0);
    catalog_etag_make(entry->text, entry->etag);
    return CATALOG_FOUND;
}
