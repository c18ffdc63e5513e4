#include "lib/database/payments/payment_admin.h"

#include "lib/database/orders/order_row.h"
#include "lib/database/payments/payment_result.h"

static const char *text_or_null(struct arena *arena, struct str text)
{
    return text.n > 0 ? arena_copy(arena, text) : NULL;
}

/* Columns of payments_page.sql. */
static void read_seen(const PGresult *result, int row, struct payment_seen *seen)
{
    *seen = (struct payment_seen){
        .id = postgres_text(result, row, 0),
        .order = postgres_text(result, row, 1),
        .provider = postgres_text(result, row, 2),
        .state = postgres_text(result, row, 3),
        .why = postgres_text(result, row, 4),
        .ref = postgres_text(result, row, 5),
        .canceled = postgres_int(result, row, 10, 0),
        .attempts = postgres_int(result, row, 11, 0),
        .needs_person = order_row_flag(result, row, 12),
        .last_error = postgres_text(result, row, 13),
        .created_ms = postgres_int(result, row, 14, -1),
        .updated_ms = postgres_int(result, row, 15, -1),
        .next_look_ms = postgres_int(result, row, 16, -1),
        .session_ends_ms = postgres_int(result, row, 17, -1),
    };
    payment_result_amounts(result, row, 6, &seen->amounts);
}

enum postgres_outcome payment_admin_page(struct postgres *postgres, struct arena *arena,
                                         const struct payment_filter *filter, int64_t limit,
                                         struct payment_seen **rows, size_t *count)
{
    const char *const parameters[] = {
        filter->stuck ? "true" : "false",    text_or_null(arena, filter->state),
        text_or_null(arena, filter->order),  text_or_null(arena, filter->id),
        text_or_null(arena, filter->before), arena_int(arena, limit),
    };
    const PGresult *result = NULL;
    enum postgres_outcome outcome =
        postgres_query(postgres, arena, QUERY_PAYMENTS_PAGE, parameters, &result);

    *count = 0;
    if (outcome != POSTGRES_OK) {
        return outcome;
    }
    *rows = arena_alloc(arena, ((size_t)PQntuples(result) + 1) * sizeof(**rows));
    for (int i = 0; i < PQntuples(result); i++) {
        read_seen(result, i, &(*rows)[i]);
    }
    *count = (size_t)PQntuples(result);
    return outcome;
}

enum postgres_outcome payment_admin_events(struct postgres *postgres, struct arena *arena,
                                           struct str id, struct payment_event **events,
                                           size_t *count)
{
    const char *const parameters[] = {arena_copy(arena, id)};
    const PGresult *result = NULL;
    enum postgres_outcome outcome =
        postgres_query(postgres, arena, QUERY_PAYMENT_EVENTS, parameters, &result);

    *count = 0;
    if (outcome != POSTGRES_OK) {
        return outcome;
    }
    *events = arena_alloc(arena, ((size_t)PQntuples(result) + 1) * sizeof(**events));
    for (int i = 0; i < PQntuples(result); i++) {
        (*events)[i] = (struct payment_event){
            .from = postgres_text(result, i, 0),
            .to = postgres_text(result, i, 1),
            .why = postgres_text(result, i, 2),
            .at_ms = postgres_int(result, i, 3, -1),
        };
    }
    *count = (size_t)PQntuples(result);
    return outcome;
}

enum payment_stored payment_admin_request_lookup(struct postgres *postgres, struct arena *arena,
                                                 struct str id)
{
    const char *const parameters[] = {arena_copy(arena, id)};
    const PGresult *result = NULL;
    enum postgres_outcome outcome =
        postgres_query(postgres, arena, QUERY_PAYMENT_LOOK, parameters, &result);

    if (outcome != POSTGRES_OK) {
        return payment_result_refusal(postgres, outcome, "payment_look");
    }
    if (PQntuples(result) == 0) {
        return PAYMENT_STORED_NONE;
    }
    return order_row_flag(result, 0, 0) ? PAYMENT_STORED_DONE : PAYMENT_STORED_SAME;
}
