/*
 * POST /v1/coupon-events/{event}/coupons — get a coupon with an entry token: one per member.
 *
 * Request   header X-Entry-Token; {"captcha": solution} if the event requires one, else no body
 *           is needed
 * Reply     201 {"event", "code", "issuedAt", "alreadyIssued": false}; 200 with the member's
 *           earlier coupon and alreadyIssued true: with the spent token while its tombstone
 *           exists, or with a new token, which stays unspent
 * Errors    in this order: 401 UNAUTHENTICATED, 400 INVALID_REQUEST, 401 ENTRY_TOKEN_REQUIRED,
 *           404 NOT_FOUND; then 401 ENTRY_TOKEN_INVALID, 409 ORDER_IN_PROGRESS, 429 ORDER_CAPACITY,
 *           503 ADMISSION_UNAVAILABLE, 410 SOLD_OUT if Redis knows it; then
 *           403 CAPTCHA_FAILED, 503 CAPTCHA_UNAVAILABLE; then 403 EVENT_NOT_OPEN, 410 EVENT_ENDED,
 *           410 SOLD_OUT, 409 COUPON_BUSY, 503 ORDERS_UNAVAILABLE. None of them costs the token
 * Touches   lua/tokens/claim.lua, consume.lua, release.lua; sql/queries/coupons/coupon_issue.sql,
 *           coupons_left.sql, coupon_find.sql
 *
 * As with an order: one round trip to Redis checks the token, whether this member has a coupon,
 * whether any is left and how many are issued, and takes the token; one to PostgreSQL is the
 * complete issue; one more consumes the token or releases it.
 */
#include "fcgi-app/http/caller.h"
#include "fcgi-app/http/problem.h"
#include "fcgi-app/order/captcha/captcha.h"
#include "fcgi-app/order/coupons/coupon_answer.h"
#include "fcgi-app/order/coupons/coupon_body.h"
#include "fcgi-app/order/coupons/coupon_event_cache.h"
#include "fcgi-app/order/coupons/coupon_refusal.h"
#include "fcgi-app/order/order_claim.h"
#include "fcgi-app/pool/transaction_handler.h"
#include "lib/base/clock.h"
#include "lib/base/identifier.h"
#include "lib/base/log.h"
#include "lib/base/test_pause.h"
#include "lib/database/coupons/coupon_store.h"
#include "lib/database/goods/availability.h"

enum {
    MEMBER_HASH_TEXT = 12,
    CAPTCHA_SPARE_MS = 1000, /* for the answer's transfer and marking it as used */
    PUBLISH_EVERY_MS = 500,
    UNHEARD_MAX = 1000, /* Redis may lag by this many: with more left, none are counted */
    /* Others may have been issued while this commit was in flight. */
    SLOW_MS = 100
};

/* One request in progress. */
struct attempt {
    const struct services *services;
    const struct request *request;
    struct response *response;
    struct str event;
    struct cached_coupon_event known;
    struct str solution;
    struct claim claim;
};

static void note_issue(const struct attempt *attempt, const struct coupon *coupon)
{
    char hash[SHA256_TEXT + 1];

    sha256_text(attempt->claim.member, hash);
    log_event(LOG_LEVEL_INFO, "coupon.issued",
              LOG_FIELDS(LOG_STR("couponEvent", attempt->event), LOG_STR("coupon", coupon->id),
                         LOG_TEXT("claim", attempt->claim.id),
                         LOG_STR("queue", attempt->claim.queue),
                         LOG_STR("member", str_sized(hash, MEMBER_HASH_TEXT)),
                         LOG_INT("number", attempt->claim.seq)));
}

/* PostgreSQL says that this event has no coupons left: then maybe all goods of the queue are sold
 * out. Checked only from time to time, as each check locks the queue's row. */
static void publish_sold_out(const struct attempt *attempt)
{
    static char last_queue[SLUG_MAX + 1];
    static int64_t last_ms;
    int64_t now = clock_monotonic_ms();
    struct str queue = attempt->claim.queue;

    if (str_equal(str_of(last_queue), queue) && now - last_ms < PUBLISH_EVERY_MS) {
        return;
    }
    if (availability_publish(attempt->services->postgres, attempt->services->redis,
                             attempt->request->arena, queue, false)) {
        str_copy(queue, last_queue, sizeof(last_queue));
        last_ms = now;
    }
}

static void issued(const struct attempt *attempt, const struct coupon *coupon, bool look)
{
    const struct services *services = attempt->services;
    struct arena *arena = attempt->request->arena;

    test_pause("order.committed");
    coupon_event_cache_note_issued(attempt->event, coupon->number);
    order_claim_consume(services, attempt->request, &attempt->claim, coupon->id, false,
                        coupon->outbox_row);
    test_pause("order.consumed");
    if (look && coupons_left(services->postgres, arena, attempt->event) == COUPON_NO_SUCH) {
        (void)availability_publish(services->postgres, services->redis, arena, attempt->claim.queue,
                                   false);
    }
    note_issue(attempt, coupon);
    coupon_answer(attempt->response, 201, attempt->event, coupon);
}

/* The member has one: from this token, which is then consumed, or from an earlier one. */
static void already_issued(const struct attempt *attempt, const struct coupon *coupon)
{
    if (str_equal(coupon->admission, str_of(attempt->claim.admission))) {
        order_claim_consume(attempt->services, attempt->request, &attempt->claim, coupon->id, false,
                            0);
    } else {
        order_claim_release(attempt->services, attempt->request, &attempt->claim);
    }
    coupon_answer(attempt->response, 200, attempt->event, coupon);
}

/* No row was free. Only a new database snapshot can tell whether one may become free: coupons taken
 * but not committed by others count as left. */
static void none_free(const struct attempt *attempt)
{
    enum coupon_outcome left =
        coupons_left(attempt->services->postgres, attempt->request->arena, attempt->event);

    order_claim_release(attempt->services, attempt->request, &attempt->claim);
    if (left == COUPON_FOUND) {
        coupon_refusal_busy(attempt->request, attempt->response);
    } else if (left == COUPON_NO_SUCH) {
        publish_sold_out(attempt);
        coupon_refusal_sold_out(attempt->request, attempt->response);
    } else {
        coupon_answer_failure(attempt->request, attempt->response, left);
    }
}

/* Nothing was written: the token can be used again. */
static void refused(const struct attempt *attempt, enum coupon_outcome outcome)
{
    if (outcome == COUPON_UNAVAILABLE || outcome == COUPON_FAILED) {
        order_claim_failed(attempt->services, attempt->request, &attempt->claim);
    } else {
        order_claim_release(attempt->services, attempt->request, &attempt->claim);
    }
    if (outcome == COUPON_EVENT_MOVED) {
        coupon_event_cache_forget(attempt->event);
    }
    coupon_refusal_answer(attempt->request, attempt->response, outcome);
}

/* By Redis' count this was the last one. */
static bool last_by_redis(const struct claim *claim)
{
    return claim->coupons >= 0 && claim->issued >= claim->coupons - 1;
}

/* If Redis lags so far behind that this is wrong, the end is detected by the next request that
 * finds none, or by reconcile. */
static bool may_be_few(const struct claim *claim)
{
    return claim->coupons < 0 || claim->coupons - claim->issued <= UNHEARD_MAX;
}

static void prepare(const struct attempt *attempt, struct postgres_call *call)
{
    const struct coupon_search search = {.behind = attempt->known.behind,
                                         .count = may_be_few(&attempt->claim)};

    coupon_issue_prepare(attempt->request->arena, &attempt->claim, attempt->event, &search,
                         attempt->services->outbox_acks, call);
    test_pause("order.before_transaction");
}

/* The call has finished. */
static void answer(const struct attempt *attempt, struct postgres_call *call)
{
    const struct services *services = attempt->services;
    struct coupon coupon;
    enum coupon_outcome outcome = coupon_issue_read(services->postgres, attempt->request->arena,
                                                    call, services->outbox_acks, &coupon);

    if (outcome != COUPON_ISSUED) {
        coupon_event_cache_note_issued(attempt->event, 0);
    }
    switch (outcome) {
    case COUPON_ISSUED:
        issued(attempt, &coupon,
               coupon.few_left || last_by_redis(&attempt->claim) ||
                   call->took_us > SLOW_MS * INT64_C(1000));
        return;
    case COUPON_ALREADY:
        already_issued(attempt, &coupon);
        return;
    case COUPON_NONE_FREE:
        none_free(attempt);
        return;
    case COUPON_ADMISSION_SPENT:
        order_claim_spent(attempt->services, attempt->request, attempt->response, &attempt->claim,
                          &coupon.spent);
        return;
    case COUPON_CLAIM_RELEASED:
        problem_answer_outcome(attempt->request, attempt->response, OUTCOME_ORDER_IN_PROGRESS);
        return;
    case COUPON_UNKNOWN:
        /* It may have committed or may commit yet: the claim stays until reconcile settles it. */
        order_claim_unknown(attempt->services, attempt->request, &attempt->claim);
        coupon_answer_failure(attempt->request, attempt->response, outcome);
        return;
    default:
        refused(attempt, outcome);
        return;
    }
}

/* The token is taken. False: answered, and the token released. */
static bool captcha_holds(const struct attempt *attempt)
{
    const char *why = "";
    enum captcha_outcome verdict =
        attempt->known.captcha == CAPTCHA_NONE
            ? CAPTCHA_PASSED
            : captcha_check(attempt->services, attempt->request, attempt->event,
                            attempt->known.captcha, attempt->solution, &why);

    if (verdict == CAPTCHA_PASSED) {
        return true;
    }
    order_claim_release(attempt->services, attempt->request, &attempt->claim);
    problem_answer(attempt->request, attempt->response,
                   verdict == CAPTCHA_REFUSED ? PROBLEM_CAPTCHA_FAILED
                                              : PROBLEM_CAPTCHA_UNAVAILABLE,
                   "%s", why);
    return false;
}

static void prepare_claim(struct attempt *attempt, struct str member)
{
    claim_prepare(&attempt->claim, attempt->known.queue, member, attempt->request->entry_token,
                  coupon_key(attempt->request->arena, attempt->event));
    attempt->claim.event = attempt->event;
}

/* The cache entry may be evicted by another event while this request is in progress. */
static void keep_queue(struct attempt *attempt)
{
    attempt->known.queue = str_of(arena_copy(attempt->request->arena, attempt->known.queue));
}

static enum outcome take(struct attempt *attempt)
{
    const struct settings *settings = attempt->services->settings;
    int64_t spare_ms = attempt->known.captcha == CAPTCHA_NONE
                           ? 0
                           : settings->captcha_timeout_ms + CAPTCHA_SPARE_MS;

    return order_claim_take(attempt->services, attempt->request, attempt->response, &attempt->claim,
                            spare_ms);
}

/* The token is not one of the queue in the cache entry: maybe the event has moved since. */
static enum outcome take_where_it_is(struct attempt *attempt, struct str member)
{
    prepare_claim(attempt, member);
    enum outcome taken = take(attempt);
    bool is_none_of_it = taken == OUTCOME_ENTRY_TOKEN_INVALID ||
                         (taken == OUTCOME_NOT_FOUND && attempt->claim.queue_deleted);
    if (!is_none_of_it || !coupon_event_cache_moved(attempt->services, attempt->request->arena,
                                                    attempt->event, &attempt->known)) {
        return taken;
    }
    keep_queue(attempt);
    response_clear(attempt->response);
    prepare_claim(attempt, member);
    return take(attempt);
}

/* Redis says that the member has one, so PostgreSQL has it. False: it does not. */
static bool answer_own(const struct attempt *attempt)
{
    struct coupon coupon;
    enum coupon_outcome outcome = coupon_find(attempt->services->postgres, attempt->request->arena,
                                              attempt->event, attempt->claim.member, &coupon);

    if (outcome == COUPON_NO_SUCH) {
        return false;
    }
    if (outcome == COUPON_FOUND) {
        coupon_answer(attempt->response, 200, attempt->event, &coupon);
    } else {
        coupon_answer_failure(attempt->request, attempt->response, outcome);
    }
    return true;
}

/* Redis names an owner unknown to PostgreSQL, which reconcile will correct: the token is taken
 * without checking the event in Redis. */
static enum outcome take_ignoring_owner(struct attempt *attempt)
{
    log_event(
        LOG_LEVEL_WARNING, "coupon.owner_unknown",
        LOG_FIELDS(LOG_STR("couponEvent", attempt->event), LOG_STR("queue", attempt->claim.queue)));
    attempt->claim.event = (struct str){0};
    enum outcome taken = take(attempt);
    attempt->claim.event = attempt->event;
    return taken;
}

/* The token is not taken. */
static void answer_untaken(const struct attempt *attempt, enum outcome taken)
{
    const struct request *request = attempt->request;
    struct response *response = attempt->response;

    switch (taken) {
    case OUTCOME_REPLAY:
        if (!answer_own(attempt)) {
            problem_answer_outcome(request, response, OUTCOME_ENTRY_TOKEN_INVALID);
        }
        return;
    case OUTCOME_SOLD_OUT:
        coupon_refusal_sold_out(attempt->request, attempt->response);
        return;
    case OUTCOME_NOT_FOUND:
        /* PostgreSQL knows the queue: it was deleted, or Redis has lost its memory. */
        problem_answer_outcome(request, response,
                               attempt->claim.queue_deleted ? OUTCOME_NOT_FOUND
                                                            : OUTCOME_ADMISSION_UNAVAILABLE);
        return;
    default:
        return;
    }
}

/* Checks everything that needs neither Redis nor, except for the event's row once a second,
 * PostgreSQL. */
static bool validate(struct attempt *attempt)
{
    const struct request *request = attempt->request;

    if (!coupon_body_read(request, attempt->response, &attempt->solution)) {
        return false;
    }
    if (request->entry_token.n == 0) {
        problem_answer(request, attempt->response, PROBLEM_ENTRY_TOKEN_REQUIRED,
                       "Send the entryToken of your position as X-Entry-Token.");
        return false;
    }
    enum coupon_outcome known = coupon_event_cache_find(
        attempt->services, request->arena, ASKED_BY_CALLER, attempt->event, &attempt->known);
    if (known != COUPON_FOUND) {
        coupon_answer_failure(request, attempt->response, known);
        return false;
    }
    keep_queue(attempt);
    return true;
}

enum transaction_begun post_coupon_begin(const struct services *services,
                                         const struct request *request, struct response *response,
                                         struct transaction *transaction)
{
    struct attempt *attempt = arena_alloc(request->arena, sizeof(*attempt));
    struct caller caller;

    *attempt = (struct attempt){.services = services,
                                .request = request,
                                .response = response,
                                .event = request->parameters[0]};
    transaction->memory = attempt;
    if (!caller_require(services, request, response, &caller) || !validate(attempt)) {
        return TRANSACTION_ANSWERED;
    }
    enum outcome taken = take_where_it_is(attempt, caller.id);
    if (taken == OUTCOME_ALREADY) {
        if (answer_own(attempt)) {
            return TRANSACTION_ANSWERED;
        }
        taken = take_ignoring_owner(attempt);
    }
    if (taken != OUTCOME_CLAIMED) {
        answer_untaken(attempt, taken);
        return TRANSACTION_ANSWERED;
    }
    if (attempt->known.captcha == CAPTCHA_SITEVERIFY) {
        /* A remote provider is called. */
        return TRANSACTION_ALONE;
    }
    if (!captcha_holds(attempt)) {
        return TRANSACTION_ANSWERED;
    }
    prepare(attempt, &transaction->call);
    return TRANSACTION_PREPARED;
}

void post_coupon_end(const struct services *services, const struct request *request,
                     struct response *response, struct transaction *transaction)
{
    const struct attempt *attempt = transaction->memory;

    (void)request;
    (void)response;
    if (attempt->known.captcha == CAPTCHA_SITEVERIFY) {
        if (!captcha_holds(attempt)) {
            return;
        }
        prepare(attempt, &transaction->call);
        postgres_send(services->postgres, &transaction->call);
        postgres_finish(services->postgres, &transaction->call);
    }
    answer(attempt, &transaction->call);
}
