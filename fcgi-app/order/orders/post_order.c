/*
 * POST /v1/orders — place an order with an entry token.
 *
 * Request   headers X-Entry-Token and Idempotency-Key;
 *           {"queue": q, "items": [{"sku": s, "quantity": 1..10000}, …]}, 1..50 items, each SKU
 *           once, or {"queue": q, "show": s, "seats": [id, …]}, 1..100 seats that the member holds
 * Reply     201 the order, Location; the same key and body again: 200, Idempotent-Replayed: true
 * Errors    in this order: 401 UNAUTHENTICATED, 400 IDEMPOTENCY_KEY_REQUIRED, 400 INVALID_REQUEST,
 *           401 ENTRY_TOKEN_REQUIRED; then 401 ENTRY_TOKEN_INVALID, 404 NOT_FOUND (queue, show),
 *           409 ORDER_IN_PROGRESS, 409 OUT_OF_STOCK, 409 SEAT_NOT_HELD, 409 SEATS_TAKEN,
 *           422 UNKNOWN_SEAT, 422 TOO_MANY_SEATS, 422 IDEMPOTENCY_KEY_REUSED, 429 ORDER_CAPACITY,
 *           503 ADMISSION_UNAVAILABLE, 503 ORDERS_UNAVAILABLE. None of them costs the token or a
 *           hold
 * Touches   lua/tokens/claim.lua, claim_seats.lua, consume.lua, release.lua, release_seats.lua,
 *           seats_publish.lua; sql/queries/orders/order_place.sql, order_by_key.sql,
 *           seats_of_order.sql, seats_named.sql
 *
 * One round trip to Redis takes the token and guards the holds, one to PostgreSQL is the complete
 * order, one more consumes the token or releases it. PostgreSQL decides: once it has committed, the
 * answer is 201 whatever Redis says. After the commit the seats' states in PostgreSQL are published
 * to Redis; until then the guard keeps them.
 */
#include "fcgi-app/http/caller.h"
#include "fcgi-app/http/problem.h"
#include "fcgi-app/order/order_claim.h"
#include "fcgi-app/order/orders/order_answer.h"
#include "fcgi-app/order/orders/order_body.h"
#include "fcgi-app/order/orders/order_refusal.h"
#include "fcgi-app/order/seats/seat_answer.h"
#include "fcgi-app/pool/transaction_handler.h"
#include "lib/base/clock.h"
#include "lib/base/identifier.h"
#include "lib/base/test_pause.h"
#include "lib/database/goods/availability.h"
#include "lib/database/seats/seat_publication.h"

enum { QUESTIONS_PER_SECOND = 20 };

/* One request in progress. */
struct attempt {
    const struct services *services;
    const struct request *request;
    struct response *response;
    struct order_body body;
    struct str key;
    struct claim claim;
    struct seat_refusal refusal; /* of the claim, if seats are the cause */
};

static bool is_of_seats(const struct attempt *attempt)
{
    return attempt->body.show.n > 0;
}

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

/* The token was spent under this very key, or the order's seats are not the member's to order: then
 * this key may have ordered them before, with another token. `otherwise`: the outcome if it has
 * not. */
static void replay(const struct attempt *attempt, enum outcome otherwise)
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
        order_refusal_key_reused(attempt->request, attempt->response);
        return;
    case ORDER_NONE:
        seat_answer_refusal(attempt->request, attempt->response, otherwise, &attempt->refusal);
        return;
    default:
        order_answer_failure(attempt->request, attempt->response, outcome);
        return;
    }
}

/* Made-up queues must not cause a flood of queries to PostgreSQL. */
static bool may_ask_postgres(void)
{
    static int64_t second;
    static int asked;
    int64_t now = clock_monotonic_ms() / 1000;

    asked = now == second ? asked + 1 : 1;
    second = now;
    return asked <= QUESTIONS_PER_SECOND;
}

/* A queue missing in Redis was never created, or Redis has lost its memory. */
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

static struct show_ref show_of(const struct attempt *attempt)
{
    return (struct show_ref){.queue = attempt->body.queue, .show = attempt->body.show};
}

static void answer_not_there(const struct attempt *attempt)
{
    struct show_ref show = show_of(attempt);

    if (attempt->claim.show_unknown) {
        seat_answer_no_show(attempt->services, attempt->request, attempt->response, &show, "/show");
    } else {
        answer_no_queue(attempt);
    }
}

/* If this fails, the outbox does it. */
static void publish_seats(const struct attempt *attempt, const struct order *order)
{
    if (order->seat_count > 0) {
        (void)order_seats_publish(attempt->services->postgres, attempt->services->redis,
                                  attempt->request->arena, order->id);
    }
}

static void committed(const struct attempt *attempt, const struct order_placement *placement)
{
    const struct services *services = attempt->services;
    const struct order *order = &placement->order;

    /* Logged before anything that may fail: a search for the request must find its order. */
    order_answer_log(LOG_LEVEL_INFO, "order.created", order, attempt->claim.member,
                     attempt->claim.id);
    test_pause("order.committed");
    order_claim_consume(services, attempt->request, &attempt->claim, order->id, order->place_held,
                        placement->outbox_row);
    test_pause("order.consumed");
    publish_seats(attempt, order);
    if (placement->took_last) {
        (void)availability_publish(services->postgres, services->redis, attempt->request->arena,
                                   order->queue, false);
    }
    answer_created(attempt, order);
}

/* The key has made an order before: with this token, which is then consumed, or with an earlier
 * one. */
static void replayed(const struct attempt *attempt, const struct order_placement *placement)
{
    const struct order *order = &placement->order;

    if (str_equal(placement->admission, str_of(attempt->claim.admission))) {
        order_claim_consume(attempt->services, attempt->request, &attempt->claim, order->id,
                            order->place_held, 0);
        publish_seats(attempt, order);
    } else {
        order_claim_release(attempt->services, attempt->request, &attempt->claim);
    }
    answer_replay(attempt, order);
}

/* The claim has ended without this order's release: restores its holds. */
static void give_holds_back(const struct attempt *attempt)
{
    if (is_of_seats(attempt)) {
        order_claim_release(attempt->services, attempt->request, &attempt->claim);
    }
}

/* The transaction was rolled back: the token can be used again, and the holds are restored. */
static void rolled_back(const struct attempt *attempt, enum order_outcome outcome,
                        const struct order_placement *placement)
{
    const struct services *services = attempt->services;
    const struct request *request = attempt->request;

    if (outcome == ORDER_UNAVAILABLE || outcome == ORDER_FAILED) {
        order_claim_failed(services, request, &attempt->claim);
    } else {
        order_claim_release(services, request, &attempt->claim);
    }
    if (outcome == ORDER_SEATS_TAKEN) {
        /* In Redis they were the member's to order. */
        (void)show_seats_publish(services->postgres, services->redis, request->arena,
                                 attempt->body.show, placement->seats, placement->seat_count);
    }
    order_refusal_answer(request, attempt->response, &attempt->body, outcome, placement);
}

static void prepare(const struct attempt *attempt, struct postgres_call *call)
{
    const struct order_request wanted = {
        .key = attempt->key,
        .fingerprint = str_of(attempt->body.fingerprint),
        .items = attempt->body.items,
        .item_count = attempt->body.item_count,
        .show = attempt->body.show,
        .seats = attempt->body.seats.seats,
        .seat_count = attempt->body.seats.count,
        .ttl_seconds = attempt->services->settings->order_ttl_seconds,
    };

    order_place_prepare(attempt->request->arena, &attempt->claim, &wanted,
                        attempt->services->outbox_acks, call);
    test_pause("order.before_transaction");
}

void post_order_end(const struct services *services, const struct request *request,
                    struct response *response, struct transaction *transaction)
{
    const struct attempt *attempt = transaction->memory;
    struct order_placement placement;

    enum order_outcome outcome = order_place_read(
        services->postgres, request->arena, &transaction->call, services->outbox_acks, &placement);
    switch (outcome) {
    case ORDER_PLACED:
        committed(attempt, &placement);
        return;
    case ORDER_REPLAYED:
        replayed(attempt, &placement);
        return;
    case ORDER_ADMISSION_SPENT:
        order_claim_spent(services, request, response, &attempt->claim, &placement.spent);
        give_holds_back(attempt);
        return;
    case ORDER_CLAIM_RELEASED:
        give_holds_back(attempt);
        problem_answer_outcome(request, response, OUTCOME_ORDER_IN_PROGRESS);
        return;
    case ORDER_UNKNOWN:
        /* It may have committed or may commit yet: the claim stays until reconcile settles it. */
        order_claim_unknown(services, request, &attempt->claim);
        order_answer_failure(request, response, outcome);
        return;
    default:
        rolled_back(attempt, outcome, &placement);
        return;
    }
}

/* Checks everything that needs neither Redis nor PostgreSQL; false: answered. */
static bool validate(struct attempt *attempt)
{
    const struct request *request = attempt->request;
    struct response *response = attempt->response;
    struct body_fault fault;
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

static enum outcome take(struct attempt *attempt)
{
    if (!is_of_seats(attempt)) {
        return order_claim_take(attempt->services, attempt->request, attempt->response,
                                &attempt->claim, 0);
    }
    return order_claim_take_seats(attempt->services, attempt->request, attempt->response,
                                  &attempt->claim, attempt->body.show, &attempt->body.seats,
                                  &attempt->refusal);
}

enum transaction_begun post_order_begin(const struct services *services,
                                        const struct request *request, struct response *response,
                                        struct transaction *transaction)
{
    struct attempt *attempt = arena_alloc(request->arena, sizeof(*attempt));
    struct caller caller;

    *attempt = (struct attempt){.services = services, .request = request, .response = response};
    transaction->memory = attempt;
    if (!caller_require(services, request, response, &caller) || !validate(attempt)) {
        return TRANSACTION_ANSWERED;
    }
    claim_prepare(&attempt->claim, attempt->body.queue, caller.id, request->entry_token,
                  attempt->key);
    switch (take(attempt)) {
    case OUTCOME_CLAIMED:
        prepare(attempt, &transaction->call);
        return TRANSACTION_PREPARED;
    case OUTCOME_REPLAY:
        replay(attempt, OUTCOME_ENTRY_TOKEN_INVALID);
        break;
    case OUTCOME_SEAT_NOT_HELD:
        replay(attempt, OUTCOME_SEAT_NOT_HELD);
        break;
    case OUTCOME_NOT_FOUND:
        answer_not_there(attempt);
        break;
    default:
        break;
    }
    return TRANSACTION_ANSWERED;
}
