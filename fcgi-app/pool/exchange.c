#include "fcgi-app/pool/exchange.h"

#include <stdlib.h>

#include "fcgi-app/http/problem.h"
#include "fcgi-app/http/request_log.h"
#include "fcgi-app/pool/pool_metrics.h"
#include "lib/base/clock.h"

enum { SPARE_MAX = 256 };

struct exchange *exchange_new(void)
{
    struct exchange *exchange = calloc(1, sizeof(*exchange));

    if (exchange == NULL) {
        abort();
    }
    exchange->arena = arena_new();
    response_init(&exchange->response);
    return exchange;
}

void exchange_clear(struct exchange *exchange)
{
    response_clear(&exchange->response);
    arena_reset(exchange->arena);
    exchange->route = NULL;
    exchange->memory = NULL;
    exchange->member = str_sized(NULL, 0);
    exchange->owner = NULL;
    exchange->next = NULL;
}

void exchange_free(struct exchange *exchange)
{
    if (exchange != NULL) {
        response_free(&exchange->response);
        arena_free(exchange->arena);
        free(exchange);
    }
}

struct exchange *exchange_take(struct exchange_store *store)
{
    struct exchange *exchange = store->spare;

    if (exchange == NULL) {
        return exchange_new();
    }
    store->spare = exchange->next;
    store->count--;
    exchange->next = NULL;
    return exchange;
}

void exchange_give_back(struct exchange_store *store, struct exchange *exchange)
{
    if (store->count == SPARE_MAX) {
        exchange_free(exchange);
        return;
    }
    exchange_clear(exchange);
    exchange->next = store->spare;
    store->spare = exchange;
    store->count++;
}

void exchange_store_free(struct exchange_store *store)
{
    while (store->spare != NULL) {
        exchange_free(exchange_take(store));
    }
}

/* Discards the rest of a refused request's body, within bounds. Returns whether its end was
 * reached. */
static bool drain(FCGX_Request *fcgi)
{
    char discarded[4096];

    for (int i = 0; i < 2 * BODY_MAX / (int)sizeof(discarded); i++) {
        if (FCGX_GetStr(discarded, sizeof(discarded), fcgi->in) < (int)sizeof(discarded)) {
            return FCGX_GetError(fcgi->in) == 0;
        }
    }
    return false;
}

bool exchange_begin(struct exchange *exchange, enum pool pool, size_t body_max, FCGX_Request *fcgi,
                    int64_t now_ms)
{
    struct request *request = &exchange->request;
    bool too_large = false;

    exchange->started_ms = now_ms;
    exchange->started_us = clock_monotonic_us();
    exchange->pool = pool;
    exchange->input_is_read = true;
    (void)request_log_take_member();
    if (!request_read(fcgi, exchange->arena, body_max, request, &too_large)) {
        exchange->input_is_read = drain(fcgi);
        if (too_large) {
            problem_answer(request, &exchange->response, PROBLEM_BODY_TOO_LARGE,
                           "The body may have at most %zu bytes.", body_max);
        } else {
            problem_answer(request, &exchange->response, PROBLEM_INVALID_REQUEST,
                           "The address, a header or the body is malformed or too long.");
        }
        return false;
    }
    request->arrived_ms = now_ms - request->waited_ms;
    exchange->route = router_find(pool, request, &exchange->response);
    return exchange->route != NULL;
}

static void note(const struct exchange *exchange, int64_t now_ms)
{
    pool_metrics_count(exchange->pool, exchange->route, problem_class(&exchange->response),
                       clock_monotonic_us() - exchange->started_us);
    request_log(&exchange->request, &exchange->response,
                exchange->route == NULL ? "" : exchange->route->path, exchange->member,
                exchange->started_ms, now_ms);
}

void exchange_send(struct exchange *exchange, FCGX_Request *fcgi, int64_t now_ms)
{
    response_send(&exchange->response, exchange->request.request_id,
                  exchange->request.method == METHOD_HEAD, fcgi);
    note(exchange, now_ms);
}

void exchange_format(struct exchange *exchange, struct buffer *out, int64_t now_ms)
{
    response_format(&exchange->response, exchange->request.request_id,
                    exchange->request.method == METHOD_HEAD, out);
    note(exchange, now_ms);
}
