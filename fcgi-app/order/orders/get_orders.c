/*
 * GET /v1/orders?limit=&cursor= — the caller's orders, newest first.
 *
 * Request   limit 1..100, default 20; cursor: `next` of the previous page
 * Reply     200 {"orders": [..], "next": cursor of the next page or null}
 * Errors    401 UNAUTHENTICATED, 400 INVALID_REQUEST, 503 ORDERS_UNAVAILABLE
 * Touches   sql/queries/orders/order_list.sql; never Redis
 */
#include "fcgi-app/http/caller.h"
#include "fcgi-app/http/problem.h"
#include "fcgi-app/order/orders/order_answer.h"
#include "fcgi-app/pool/handler.h"

enum { LIMIT_DEFAULT = 20, LIMIT_MAX = 100 };

static void answer_page(struct response *response, const struct order_page *page)
{
    struct buffer *body = &response->body;

    response_json(response, 200);
    buffer_add(body, STR("{\"orders\":["));
    for (size_t i = 0; i < page->count; i++) {
        if (i > 0) {
            buffer_add_char(body, ',');
        }
        order_answer_write(body, &page->orders[i]);
    }
    buffer_add(body, STR("],\"next\":"));
    if (page->next.n > 0) {
        buffer_add_json_string(body, page->next);
    } else {
        buffer_add(body, STR("null"));
    }
    buffer_add_char(body, '}');
}

void get_orders(const struct services *services, const struct request *request,
                struct response *response)
{
    struct caller caller;
    struct str text;
    struct str cursor = str_sized(NULL, 0);
    int64_t limit = LIMIT_DEFAULT;
    struct order_page page;

    if (!caller_require(services, request, response, &caller)) {
        return;
    }
    if (request_query(request, STR("limit"), &text) && !str_to_int64(text, 1, LIMIT_MAX, &limit)) {
        problem_answer(request, response, PROBLEM_INVALID_REQUEST,
                       "The parameter limit must be a whole number from 1 to %d.", LIMIT_MAX);
        return;
    }
    if (request_query(request, STR("cursor"), &cursor) && !order_cursor_is_valid(cursor)) {
        problem_answer(request, response, PROBLEM_INVALID_REQUEST,
                       "The parameter cursor must be the `next` of an earlier answer.");
        return;
    }
    enum order_outcome outcome =
        order_list(services->postgres, request->arena, caller.id, limit, cursor, &page);
    if (outcome != ORDER_FOUND) {
        order_answer_failure(request, response, outcome);
        return;
    }
    answer_page(response, &page);
}
