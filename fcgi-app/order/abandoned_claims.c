#include "fcgi-app/order/abandoned_claims.h"

#include <stdbool.h>
#include <string.h>

#include "lib/base/identifier.h"
#include "lib/base/log.h"

enum { CLAIMS_MAX = 64, KEEP_MS = 60000 };

static struct abandoned {
    char queue[SLUG_MAX + 1];
    char member[MEMBER_MAX + 1];
    char show[SLUG_MAX + 1]; /* "" for an order of items */
    char admission[SHA256_TEXT + 1];
    char id[RANDOM_ID_TEXT + 1];
    int64_t until_ms; /* 0: free */
} claims[CLAIMS_MAX];

static size_t next_slot;

void abandoned_claims_add(const struct claim *claim, int64_t now_ms)
{
    struct abandoned *slot = &claims[next_slot];

    next_slot = (next_slot + 1) % CLAIMS_MAX;
    str_copy(claim->queue, slot->queue, sizeof(slot->queue));
    str_copy(claim->member, slot->member, sizeof(slot->member));
    str_copy(claim->show, slot->show, sizeof(slot->show));
    memcpy(slot->admission, claim->admission, sizeof(slot->admission));
    memcpy(slot->id, claim->id, sizeof(slot->id));
    slot->until_ms = now_ms + KEEP_MS;
}

/* Returns false if Redis does not answer. */
static bool release(const struct services *services, struct arena *arena, struct abandoned *one)
{
    struct claim claim = {
        .queue = str_of(one->queue), .member = str_of(one->member), .show = str_of(one->show)};

    memcpy(claim.admission, one->admission, sizeof(claim.admission));
    memcpy(claim.id, one->id, sizeof(claim.id));
    enum outcome outcome = claim_release(services->redis, arena, &claim);
    if (outcome == OUTCOME_RELEASED) {
        log_event(LOG_LEVEL_INFO, "claim.given_back",
                  LOG_FIELDS(LOG_TEXT("queue", one->queue), LOG_TEXT("claim", one->id)));
        one->until_ms = 0;
    }
    return outcome != OUTCOME_ADMISSION_UNAVAILABLE;
}

void abandoned_claims_release(const struct services *services, struct arena *arena, int64_t now_ms)
{
    for (size_t i = 0; i < CLAIMS_MAX; i++) {
        if (claims[i].until_ms <= now_ms) {
            claims[i].until_ms = 0;
        } else if (!release(services, arena, &claims[i])) {
            return;
        }
    }
}
