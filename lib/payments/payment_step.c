#include "lib/payments/payment_step.h"

#include <string.h>
#include <time.h>

#include "lib/admission/tokens/claim.h"
#include "lib/base/digest.h"
#include "lib/database/goods/availability.h"
#include "lib/database/seats/seat_publication.h"

enum { RECORD_TRIES = 3, RECORD_PAUSE_MS = 300 };

struct payment_subject payment_step_subject(struct arena *arena, struct str id, struct str ref,
                                            struct str member,
                                            const struct payment_amounts *amounts)
{
    char payer[SHA256_TEXT + 1];

    sha256_text(member, payer);
    return (struct payment_subject){
        .id = id,
        .payer = str_of(arena_copy(arena, str_sized(payer, SHA256_TEXT))),
        .ref = ref,
        .money = {.total = amounts->total, .tax_free = amounts->tax_free, .vat = amounts->vat},
        .currency = amounts->currency,
    };
}

bool payment_step_gives_back(const struct payment_flow *flow)
{
    return strcmp(flow->settings->payment_failure, "give_back") == 0;
}

void payment_step_publish(const struct payment_flow *flow, struct arena *arena,
                          const struct payment_effect *effect)
{
    if (effect->place_freed) {
        (void)place_free(flow->redis, arena, effect->queue, effect->member, effect->order);
    }
    (void)order_seats_publish(flow->postgres, flow->redis, arena, effect->order);
    if (effect->came_back) {
        (void)availability_publish(flow->postgres, flow->redis, arena, effect->queue, false);
    }
}

void payment_step_log(enum log_level level, const char *event, struct str id,
                      const struct payment_effect *effect, struct str detail)
{
    log_event(level, event,
              LOG_FIELDS(LOG_STR("payment", id), LOG_STR("order", effect->order),
                         LOG_TEXT("state", payment_phase_name(effect->phase)),
                         LOG_STR("orderStatus", effect->order_status), LOG_STR("detail", detail)));
}

bool payment_step_is_recorded(enum payment_stored stored)
{
    return stored != PAYMENT_STORED_NONE && stored != PAYMENT_STORED_UNAVAILABLE &&
           stored != PAYMENT_STORED_UNKNOWN && stored != PAYMENT_STORED_FAILED;
}

/* True, after a pause, if the same record may be tried again. */
static bool try_again(enum payment_stored stored, int tries)
{
    const struct timespec pause = {.tv_nsec = RECORD_PAUSE_MS * 1000000L};

    if ((stored != PAYMENT_STORED_UNAVAILABLE && stored != PAYMENT_STORED_UNKNOWN) ||
        tries == RECORD_TRIES) {
        return false;
    }
    (void)nanosleep(&pause, NULL);
    return true;
}

/* Logs the result of recording money that has moved. */
static void log_paid(enum payment_stored stored, struct str id, const struct payment_effect *effect,
                     struct str why)
{
    switch (stored) {
    case PAYMENT_STORED_DONE:
        payment_step_log(LOG_LEVEL_INFO, "payment.paid", id, effect, why);
        return;
    case PAYMENT_STORED_REFUND:
        payment_step_log(LOG_LEVEL_WARNING, "payment.paid_too_late", id, effect, why);
        return;
    case PAYMENT_STORED_MISMATCH:
        payment_step_log(LOG_LEVEL_ERROR, "payment.amount_differs", id, effect, why);
        return;
    default:
        return;
    }
}

enum payment_stored payment_step_paid(const struct payment_flow *flow, struct arena *arena,
                                      struct str id, const struct payment_state *state,
                                      struct str why, struct payment_effect *effect)
{
    const struct payment_taken taken = {
        .ref = state->ref,
        .currency = state->currency,
        .total = state->total,
        .canceled = state->canceled,
    };
    enum payment_stored stored;
    int tries = 0;

    do {
        stored = payment_paid(flow->postgres, arena, id, &taken, why, effect);
    } while (try_again(stored, ++tries));
    if (payment_step_is_recorded(stored)) {
        log_paid(stored, id, effect, why);
        payment_step_publish(flow, arena, effect);
    }
    return stored;
}

enum payment_stored payment_step_canceled(const struct payment_flow *flow, struct arena *arena,
                                          struct str id, const struct payment_state *state,
                                          struct str why, struct payment_effect *effect)
{
    enum payment_stored stored;
    int tries = 0;

    do {
        stored = payment_canceled(flow->postgres, arena, id, state->canceled,
                                  payment_step_gives_back(flow), why, effect);
    } while (try_again(stored, ++tries));
    if (stored == PAYMENT_STORED_DONE) {
        payment_step_log(LOG_LEVEL_INFO, "payment.canceled", id, effect, why);
    }
    if (payment_step_is_recorded(stored)) {
        payment_step_publish(flow, arena, effect);
    }
    return stored;
}
