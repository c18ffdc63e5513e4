/*
 * POST /v1/orders — place an order with an entry token.
 *
 * Request   headers X-Entry-Token and Idempotency-Key;
 *           {"queue": q, "items": [{"sku": s, "quantity": 1..10000}, …]}, 1..50 items, each SKU once
 * Reply     201 the order, Location; the same key and body again: 200, Idempotent-Replayed: true
 * Errors    in this order: 401 UNAUTHENTICATED, 400 IDEMPOTENCY_KEY_REQUIRED, 400 INVALID_REQUEST,
 *           401 ENTRY_TOKEN_REQUIRED; then 401 ENTRY_TOKEN_INVALID, 404 NOT_FOUND (queue),
 *           409 ORDER_IN_PROGRESS, 409 OUT_OF_STOCK, 422 IDEMPOTENCY_KEY_REUSED, 429 ORDER_CAPACITY,
 *           503 ADMISSION_UNAVAILABLE, 503 ORDERS_UNAVAILABLE
 * Touches   lua/claim.lua, consume.lua, release.lua; sql/queries/order_place.sql, order_by_key.sql
 *
 * One trip to Redis takes the token, one to PostgreSQL is the whole order, one more spends the token or
 * gives it back. PostgreSQL's word counts: once it has committed, the answer is 201 whatever Redis says.
 */
#include "fcgi-app/http/caller.h"
#include "fcgi-app/http/problem.h"
#include "fcgi-app/order/order_answer.h"
#include "fcgi-app/order/order_body.h"
#include "fcgi-app/order/order_claim.h"
#include "fcgi-app/pool/handler.h"
#include "lib/base/clock.h"
#include "lib/base/identifier.h"
#include "lib/base/test_pause.h"
#include "lib/orders/availability.h"

enum { QUESTIONS_PER_SECOND = 20 };

/* One request on its way. */
struct attempt {
    const struct services *services;
    const struct request *request;
    struct response *response;
    struct order_body body;
    struct str key;
    struct claim claim;
};

static void answer_replay(const struct attempt *attempt, const struct order *order)
{
    order_answer(attempt->response, 200, order);
    response_header(attempt->response, "Idempotent-Replayed", STR("true"));
}

static void answer_created(const struct attempt *attempt, const struct order *order)
{
    struct arena *arena = attempt->request->arena;

    order_answer(attempt->response, 201, order);
    response_header(attempt->response, "Location",
                    str_of(arena_format(arena, "/v1/orders/%.*s", STR_ARG(order->id))));
}

static void answer_key_reused(const struct attempt *attempt)
{
    problem_answer(attempt->request, attempt->response, PROBLEM_IDEMPOTENCY_KEY_REUSED,
                   "This Idempotency-Key has made an order from another request.");
}

static void answer_out_of_stock(const struct attempt *attempt, struct str sku)
{
    struct buffer json;

    problem_answer(attempt->request, attempt->response, PROBLEM_OUT_OF_STOCK,
                   "There is not enough left of %.*s. The entry token is still good.",
                   STR_ARG(sku));
    buffer_init(&json, SLUG_MAX + 2);
    buffer_add_json_string(&json, sku);
    problem_add(attempt->response, "sku", buffer_text(&json));
    buffer_free(&json);
}

/* The token was spent under this very key: the order is in PostgreSQL. */
static void replay(const struct attempt *attempt)
{
    struct order order;
    enum order_outcome outcome =
        order_by_key(attempt->services->postgres, attempt->request->arena, attempt->claim.member,
                     attempt->key, str_of(attempt->body.fingerprint), &order);

    switch (outcome) {
    case ORDER_FOUND:
        answer_replay(attempt, &order);
        return;
    case ORDER_KEY_REUSED:
        answer_key_reused(attempt);
        return;
    case ORDER_NONE:
        problem_answer_outcome(attempt->request, attempt->response, OUTCOME_ENTRY_TOKEN_INVALID);
        return;
    default:
        order_answer_failure(attempt->request, attempt->response, outcome);
        return;
    }
}

/* Made-up queues must not become a flood of questions to PostgreSQL. */
static bool may_ask_postgres(void)
{
    static int64_t second;
    static int asked;
    int64_t now = clock_monotonic_ms() / 1000;

    asked = now == second ? asked + 1 : 1;
    second = now;
    return asked <= QUESTIONS_PER_SECOND;
}

/* A queue that Redis does not know was never made, or Redis has lost its memory. */
static void answer_no_queue(const struct attempt *attempt)
{
    enum order_outcome known = ORDER_UNAVAILABLE;

    if (attempt->claim.queue_deleted) {
        known = ORDER_NONE;
    } else if (may_ask_postgres()) {
        known = order_queue_known(attempt->services->postgres, attempt->request->arena,
                                  attempt->body.queue);
    }
    if (known == ORDER_NONE) {
        problem_answer(attempt->request, attempt->response, PROBLEM_NOT_FOUND,
                       "There is no such queue.");
        return;
    }
    problem_answer_outcome(attempt->request, attempt->response, OUTCOME_ADMISSION_UNAVAILABLE);
}

static void committed(const struct attempt *attempt, const struct order_placement *placement)
{
    const struct services *services = attempt->services;
    const struct order *order = &placement->order;

    test_pause("order.committed");
    order_claim_consume(services, attempt->request, &attempt->claim, order->id, order->place_held);
    test_pause("order.consumed");
    if (placement->took_last) {
        (void)availability_publish(services->postgres, services->redis, attempt->request->arena,
                                   order->queue, false);
    }
    order_answer_log(LOG_LEVEL_INFO, "order.created", order, attempt->claim.member);
    answer_created(attempt, order);
}

/* The key has made an order before: with this token, which is then spent, or with an earlier one. */
static void replayed(const struct attempt *attempt, const struct order_placement *placement)
{
    const struct order *order = &placement->order;

    if (str_equal(placement->admission, str_of(attempt->claim.admission))) {
        order_claim_consume(attempt->services, attempt->request, &attempt->claim, order->id,
                            order->place_held);
    } else {
        order_claim_release(attempt->services, attempt->request, &attempt->claim);
    }
    answer_replay(attempt, order);
}

/* The transaction was rolled back: the token is good for another try. */
static void rolled_back(const struct attempt *attempt, enum order_outcome outcome,
                        const struct order_placement *placement)
{
    const struct request *request = attempt->request;
    struct response *response = attempt->response;

    order_claim_release(attempt->services, request, &attempt->claim);
    switch (outcome) {
    case ORDER_KEY_REUSED:
        answer_key_reused(attempt);
        return;
    case ORDER_OUT_OF_STOCK:
        answer_out_of_stock(attempt, placement->sku);
        return;
    case ORDER_UNKNOWN_SKU:
        problem_answer_at(request, response,
                          order_body_pointer(request->arena, &attempt->body, placement->sku),
                          "This queue does not sell %.*s.", STR_ARG(placement->sku));
        return;
    case ORDER_CURRENCIES_DIFFER:
        problem_answer_at(request, response, "/items",
                          "The items are priced in different currencies: order them separately.");
        return;
    case ORDER_TOTAL_TOO_LARGE:
        problem_answer_at(request, response, "/items", "The total is too large for one order.");
        return;
    case ORDER_QUEUE_GONE:
        problem_answer(request, response, PROBLEM_NOT_FOUND, "There is no such queue.");
        return;
    case ORDER_EPOCH:
        problem_answer_outcome(request, response, OUTCOME_ENTRY_TOKEN_INVALID);
        return;
    case ORDER_INCARNATION:
        problem_answer_outcome(request, response, OUTCOME_ADMISSION_UNAVAILABLE);
        return;
    default:
        order_answer_failure(request, response, outcome);
        return;
    }
}

static void place(const struct attempt *attempt)
{
    const struct order_request wanted = {
        .key = attempt->key,
        .fingerprint = str_of(attempt->body.fingerprint),
        .items = attempt->body.items,
        .item_count = attempt->body.item_count,
        .ttl_seconds = attempt->services->settings->order_ttl_seconds,
    };
    struct order_placement placement;

    enum order_outcome outcome = order_place(attempt->services->postgres, attempt->request->arena,
                                             &attempt->claim, &wanted, &placement);
    switch (outcome) {
    case ORDER_PLACED:
        committed(attempt, &placement);
        return;
    case ORDER_REPLAYED:
        replayed(attempt, &placement);
        return;
    case ORDER_ADMISSION_SPENT:
        order_claim_spent(attempt->services, attempt->request, attempt->response, &attempt->claim,
                          &placement.spent);
        return;
    case ORDER_CLAIM_RELEASED:
        problem_answer_outcome(attempt->request, attempt->response, OUTCOME_ORDER_IN_PROGRESS);
        return;
    case ORDER_UNKNOWN:
        /* It may have committed or may yet: the claim stays until reconcile has settled it. */
        order_answer_failure(attempt->request, attempt->response, outcome);
        return;
    default:
        rolled_back(attempt, outcome, &placement);
        return;
    }
}

/* Checks everything that needs neither Redis nor PostgreSQL; false: answered. */
static bool understand(struct attempt *attempt)
{
    const struct request *request = attempt->request;
    struct response *response = attempt->response;
    struct order_body_fault fault;
    const char *why;

    if (!identifier_idempotency_key(request->idempotency_key, &attempt->key)) {
        problem_answer(request, response, PROBLEM_IDEMPOTENCY_KEY_REQUIRED,
                       "Send a header Idempotency-Key of 1 to 255 printable characters.");
        return false;
    }
    json_object *json = request_json(request, &why);
    if (json == NULL) {
        problem_answer_at(request, response, "", "%s", why);
        return false;
    }
    if (!order_body_read(request->arena, json, &attempt->body, &fault)) {
        problem_answer_at(request, response, fault.pointer, "%s", fault.why);
        return false;
    }
    if (request->entry_token.n == 0) {
        problem_answer(request, response, PROBLEM_ENTRY_TOKEN_REQUIRED,
                       "Send the entryToken of your position as X-Entry-Token.");
        return false;
    }
    return true;
}

void post_order(const struct services *services, const struct request *request,
                struct response *response)
{
    struct attempt attempt = {.services = services, .request = request, .response = response};
    struct caller caller;

    if (!caller_require(services, request, response, &caller) || !understand(&attempt)) {
        return;
    }
    claim_prepare(&attempt.claim, attempt.body.queue, caller.id, request->entry_token, attempt.key);
    switch (order_claim_take(services, request, response, &attempt.claim, 0)) {
    case OUTCOME_CLAIMED:
        place(&attempt);
        return;
    case OUTCOME_REPLAY:
        replay(&attempt);
        return;
    case OUTCOME_NOT_FOUND:
        answer_no_queue(&attempt);
        return;
    default:
        return;
    }
}
