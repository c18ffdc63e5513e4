#include "fcgi-app/order/order_claim.h"

#include "fcgi-app/http/problem.h"
#include "fcgi-app/order/abandoned_claims.h"
#include "lib/admission/autopilot/order_load.h"
#include "lib/base/clock.h"
#include "lib/base/log.h"
#include "lib/base/test_pause.h"
#include "lib/database/outbox/outbox_acks.h"
#include "lib/metrics/metrics.h"

/* Logs the claim's id, which is public: it reveals nothing of the token. */
static void log_failure(const char *event, const struct claim *claim, enum outcome outcome)
{
    log_event(LOG_LEVEL_WARNING, event,
              LOG_FIELDS(LOG_STR("queue", claim->queue), LOG_TEXT("claim", claim->id),
                         LOG_TEXT("outcome", outcome_word(outcome))));
}

/* A previous transaction on this worker's connection, the claim's own, and its retry. If that is
 * too short, reconcile releases the claim, and the transaction is refused. */
static int64_t least_lease_ms(const struct services *services, int64_t spare_ms)
{
    return 3 * services->settings->statement_timeout_ms + spare_ms;
}

/* Answers the outcomes that the route does not handle. */
static void answer_taking(const struct request *request, struct response *response,
                          const struct claim *claim, enum outcome taken)
{
    switch (taken) {
    case OUTCOME_CLAIMED:
        log_event(LOG_LEVEL_DEBUG, "claim.taken",
                  LOG_FIELDS(LOG_STR("queue", claim->queue), LOG_TEXT("claim", claim->id)));
        test_pause("order.claimed");
        return;
    case OUTCOME_REPLAY:
    case OUTCOME_NOT_FOUND:
    case OUTCOME_ALREADY:
    case OUTCOME_SOLD_OUT:
    case OUTCOME_SEAT_NOT_HELD:
        return;
    case OUTCOME_ADMISSION_UNAVAILABLE:
        abandoned_claims_add(claim, clock_monotonic_ms());
        problem_answer_outcome(request, response, taken);
        return;
    default:
        problem_answer_outcome(request, response, taken);
        return;
    }
}

enum outcome order_claim_take(const struct services *services, const struct request *request,
                              struct response *response, struct claim *claim, int64_t spare_ms)
{
    test_pause("order.before_claim");
    enum outcome taken =
        claim_take(services->redis, request->arena, claim, least_lease_ms(services, spare_ms));
    answer_taking(request, response, claim, taken);
    return taken;
}

enum outcome order_claim_take_seats(const struct services *services, const struct request *request,
                                    struct response *response, struct claim *claim, struct str show,
                                    const struct body_seats *seats, struct seat_refusal *refusal)
{
    test_pause("order.before_claim");
    enum outcome taken = seats_claim(services->redis, request->arena, claim, show, seats->seats,
                                     seats->count, least_lease_ms(services, 0), refusal);
    answer_taking(request, response, claim, taken);
    return taken;
}

void order_claim_consume(const struct services *services, const struct request *request,
                         const struct claim *claim, struct str order, bool keep_place, int64_t row)
{
    int64_t tombstone_ms = services->settings->tombstone_seconds * 1000;
    struct claim ended = *claim;
    ended.load = order_load_answered(clock_monotonic_ms() - request->arrived_ms);
    enum outcome outcome =
        claim_consume(services->redis, request->arena, &ended, order, tombstone_ms, keep_place);

    metrics_add(
        outcome == OUTCOME_ADMISSION_UNAVAILABLE ? METRIC_CONSUMES_LATE : METRIC_CONSUMES_DONE, 1);
    if (outcome != OUTCOME_CONSUMED && outcome != OUTCOME_ALREADY) {
        log_failure("order.consume_failed", claim, outcome);
        return;
    }
    outbox_acks_add(services->outbox_acks, row, clock_monotonic_ms());
}

static void release(const struct services *services, const struct request *request,
                    const struct claim *claim, struct str load)
{
    struct claim ended = *claim;

    ended.load = load;
    enum outcome outcome = claim_release(services->redis, request->arena, &ended);
    if (outcome != OUTCOME_RELEASED && outcome != OUTCOME_NOT_CLAIMED) {
        log_failure("order.release_failed", claim, outcome);
    }
}

void order_claim_release(const struct services *services, const struct request *request,
                         const struct claim *claim)
{
    release(services, request, claim,
            order_load_answered(clock_monotonic_ms() - request->arrived_ms));
}

void order_claim_failed(const struct services *services, const struct request *request,
                        const struct claim *claim)
{
    release(services, request, claim, order_load_error());
}

void order_claim_unknown(const struct services *services, const struct request *request,
                         const struct claim *claim)
{
    (void)order_load_add(services->redis, request->arena, claim->queue, order_load_timeout());
}

void order_claim_spent(const struct services *services, const struct request *request,
                       struct response *response, const struct claim *claim,
                       const struct claim_spender *spender)
{
    struct claim spent = *claim;

    str_copy(spender->key_hash, spent.key_hash, sizeof(spent.key_hash));
    /* The token got nothing from the event of this request. */
    spent.event = (struct str){0};
    order_claim_consume(services, request, &spent, spender->by, spender->keep_place, 0);
    problem_answer_outcome(request, response, OUTCOME_ENTRY_TOKEN_INVALID);
}
