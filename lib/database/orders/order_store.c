#include "lib/database/orders/order_store.h"

#include <inttypes.h>

#include "lib/base/clock.h"
#include "lib/base/encoding.h"
#include "lib/database/orders/order_row.h"
#include "lib/database/store_refusal.h"

/* Returns the order in the only row of the result, or NONE. */
static enum order_outcome read_one(struct arena *arena, const PGresult *result, struct order *order)
{
    if (PQntuples(result) == 0) {
        return ORDER_NONE;
    }
    order_row_read(arena, result, 0, order);
    return ORDER_FOUND;
}

/* For a call that only reads, so that an unknown outcome is harmless. */
static enum order_outcome reading_failed(const struct postgres *postgres,
                                         enum postgres_outcome outcome, const char *call)
{
    enum order_outcome refused = order_row_refusal(postgres, outcome, call);

    return refused == ORDER_UNKNOWN ? ORDER_UNAVAILABLE : refused;
}

bool order_id_is_valid(struct str id)
{
    unsigned char bytes[RANDOM_ID_TEXT];
    size_t length;

    return id.n == ORDER_ID_TEXT && str_starts(id, STR("o_")) &&
           base64url_decode(str_sized(id.p + 2, id.n - 2), bytes, sizeof(bytes), &length);
}

enum order_outcome order_find(struct postgres *postgres, struct arena *arena, struct str member,
                              struct str id, struct order *order)
{
    const char *const parameters[] = {arena_copy(arena, member), arena_copy(arena, id)};
    const PGresult *result;

    enum postgres_outcome outcome =
        postgres_query(postgres, arena, QUERY_ORDER_FIND, parameters, &result);
    if (outcome != POSTGRES_OK) {
        return reading_failed(postgres, outcome, "order_find");
    }
    return read_one(arena, result, order);
}

enum order_outcome order_by_key(struct postgres *postgres, struct arena *arena, struct str member,
                                struct str key, struct str fingerprint, struct order *order)
{
    const char *const parameters[] = {arena_copy(arena, member), arena_copy(arena, key)};
    const PGresult *result;

    enum postgres_outcome outcome =
        postgres_query(postgres, arena, QUERY_ORDER_BY_KEY, parameters, &result);
    if (outcome != POSTGRES_OK) {
        return reading_failed(postgres, outcome, "order_by_key");
    }
    enum order_outcome found = read_one(arena, result, order);
    if (found == ORDER_FOUND && !str_equal(postgres_text(result, 0, ORDER_COLUMNS), fingerprint)) {
        return ORDER_KEY_REUSED;
    }
    return found;
}

/* A cursor is `<time in µs>.<order id>` of the last order seen. */
static bool read_cursor(struct str cursor, struct str *time, struct str *id)
{
    int64_t number;

    return str_split(cursor, '.', time, id) && order_id_is_valid(*id) &&
           str_to_int64(*time, 0, RFC3339_LAST_MS * 1000 + 999, &number);
}

bool order_cursor_is_valid(struct str cursor)
{
    struct str time;
    struct str id;

    return read_cursor(cursor, &time, &id);
}

enum order_outcome order_list(struct postgres *postgres, struct arena *arena, struct str member,
                              int64_t limit, struct str cursor, struct order_page *page)
{
    struct str time;
    struct str id;
    bool goes_on = read_cursor(cursor, &time, &id);
    /* One row more than requested shows whether there is a next page. */
    const char *const parameters[] = {
        arena_copy(arena, member),
        arena_int(arena, limit + 1),
        goes_on ? arena_copy(arena, time) : NULL,
        goes_on ? arena_copy(arena, id) : NULL,
    };
    const PGresult *result;

    enum postgres_outcome outcome =
        postgres_query(postgres, arena, QUERY_ORDER_LIST, parameters, &result);
    if (outcome != POSTGRES_OK) {
        return reading_failed(postgres, outcome, "order_list");
    }
    int rows = PQntuples(result);
    bool more = rows > limit;
    page->count = (size_t)(more ? limit : rows);
    struct order *orders = arena_alloc(arena, (page->count + 1) * sizeof(*orders));
    for (size_t i = 0; i < page->count; i++) {
        order_row_read(arena, result, (int)i, &orders[i]);
    }
    page->orders = orders;
    page->next = str_sized(NULL, 0);
    if (more) {
        const struct order *last = &orders[page->count - 1];
        page->next =
            str_of(arena_format(arena, "%" PRId64 ".%.*s", last->created_us, STR_ARG(last->id)));
    }
    return ORDER_FOUND;
}

enum order_outcome orders_expire(struct postgres *postgres, struct arena *arena, int64_t limit,
                                 const struct expired_order **expired, size_t *count)
{
    const char *const parameters[] = {arena_int(arena, limit)};
    const PGresult *result;

    enum postgres_outcome outcome =
        postgres_query(postgres, arena, QUERY_ORDER_EXPIRE, parameters, &result);
    if (outcome != POSTGRES_OK) {
        return order_row_refusal(postgres, outcome, "order_expire");
    }
    *count = (size_t)PQntuples(result);
    struct expired_order *orders = arena_alloc(arena, (*count + 1) * sizeof(*orders));
    for (int i = 0; i < PQntuples(result); i++) {
        orders[i].id = postgres_text(result, i, 0);
        orders[i].queue = postgres_text(result, i, 1);
        orders[i].member = postgres_text(result, i, 2);
        orders[i].place_held = order_row_flag(result, i, 3);
    }
    *expired = orders;
    return ORDER_FOUND;
}

enum order_outcome order_queue_known(struct postgres *postgres, struct arena *arena,
                                     struct str queue)
{
    const char *const parameters[] = {arena_copy(arena, queue)};
    const PGresult *result;

    enum postgres_outcome outcome =
        postgres_query(postgres, arena, QUERY_ORDER_QUEUE_KNOWN, parameters, &result);
    if (outcome != POSTGRES_OK) {
        return reading_failed(postgres, outcome, "order_queue_known");
    }
    return PQntuples(result) > 0 ? ORDER_FOUND : ORDER_NONE;
}
