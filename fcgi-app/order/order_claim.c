#include "fcgi-app/order/order_claim.h"

#include "lib/base/log.h"

/* The claim's id is public: it says nothing about the token. */
static void complain(const char *event, const struct claim *claim, enum outcome outcome)
{
    log_event(LOG_LEVEL_WARNING, event,
              LOG_FIELDS(LOG_STR("queue", claim->queue), LOG_TEXT("claim", claim->id),
                         LOG_TEXT("outcome", outcome_word(outcome))));
}

void order_claim_consume(const struct services *services, const struct request *request,
                         const struct claim *claim, struct str order, bool keep_place)
{
    int64_t tombstone_ms = services->settings->tombstone_seconds * 1000;
    enum outcome outcome =
        claim_consume(services->redis, request->arena, claim, order, tombstone_ms, keep_place);

    if (outcome != OUTCOME_CONSUMED && outcome != OUTCOME_ALREADY) {
        complain("order.consume_failed", claim, outcome);
    }
}

void order_claim_release(const struct services *services, const struct request *request,
                         const struct claim *claim)
{
    enum outcome outcome = claim_release(services->redis, request->arena, claim);

    if (outcome != OUTCOME_RELEASED && outcome != OUTCOME_NOT_CLAIMED) {
        complain("order.release_failed", claim, outcome);
    }
}
