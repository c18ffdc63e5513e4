#include "lib/payments/payment_flow.h"

#include "lib/base/digest.h"
#include "lib/base/random.h"
#include "lib/base/test_pause.h"
#include "lib/payments/payment_step.h"

/* Part of a wait beside the provider's and PostgreSQL's timeouts. */
enum { BESIDE_CALLS_SECONDS = 5 };

int64_t payment_flow_wait_seconds(const struct settings *settings)
{
    return (settings->payment_timeout_ms + 2 * settings->statement_timeout_ms) / 1000 + 1 +
           BESIDE_CALLS_SECONDS;
}

/* At most three calls (a look-up, a refund, a look-up after its refusal), and about as many
 * records. */
int64_t payment_flow_settle_seconds(const struct settings *settings)
{
    return 3 * (settings->payment_timeout_ms + 2 * settings->statement_timeout_ms) / 1000 + 1 +
           BESIDE_CALLS_SECONDS;
}

/* The URL to which the member returns: `way` is approve, cancel or fail. */
static struct str return_url(const struct payment_flow *flow, struct arena *arena, struct str order,
                             const char *way, const char *state)
{
    return str_of(arena_format(arena, "%s/v1/orders/%.*s/payment/%s?state=%s",
                               flow->settings->payment_public_url, STR_ARG(order), way, state));
}

static struct payment_verdict ask_for_session(const struct payment_flow *flow, struct arena *arena,
                                              struct str member, struct str order,
                                              const struct payment_opening *opening, bool mobile,
                                              const char *state, struct payment_session *session)
{
    const struct payment_subject subject =
        payment_step_subject(arena, opening->id, str_sized(NULL, 0), member, &opening->amounts);
    const struct payment_offer offer = {
        .item_name = opening->title,
        .quantity = opening->quantity,
        .mobile = mobile,
        .approve_url = return_url(flow, arena, order, "approve", state),
        .cancel_url = return_url(flow, arena, order, "cancel", state),
        .fail_url = return_url(flow, arena, order, "fail", state),
    };

    return payment_provider_ready(flow->provider, arena, &subject, &offer, session);
}

/* Without a session the member has no payment page, so no money can move. */
static enum payment_started abandon_start(const struct payment_flow *flow, struct arena *arena,
                                          struct str id, const struct payment_verdict *verdict)
{
    struct payment_effect effect;
    const char *why = arena_format(arena, "no session: %.*s", STR_ARG(verdict->detail));

    if (payment_step_is_recorded(
            payment_start_failed(flow->postgres, arena, id, str_of(why), &effect))) {
        payment_step_log(LOG_LEVEL_WARNING, "payment.not_started", id, &effect, verdict->detail);
    }
    bool our_fault =
        verdict->outcome == PAYMENT_REJECTED && (verdict->refusal == PAYMENT_REFUSAL_AMOUNT ||
                                                 verdict->refusal == PAYMENT_REFUSAL_UNSUPPORTED);
    return our_fault ? PAYMENT_STARTED_NOT_PAYABLE : PAYMENT_STARTED_NO_PROVIDER;
}

static enum payment_started record_session(const struct payment_flow *flow, struct arena *arena,
                                           struct str id, const struct payment_session *session,
                                           struct payment_start *start)
{
    struct payment_effect effect;
    enum payment_stored stored = PAYMENT_STORED_UNKNOWN;

    for (int tries = 0; tries < 2 && stored == PAYMENT_STORED_UNKNOWN; tries++) {
        stored = payment_ready(flow->postgres, arena, id, session->ref, session->redirect_url,
                               flow->settings->payment_session_seconds,
                               flow->settings->payment_grace_seconds, &effect);
    }
    switch (stored) {
    case PAYMENT_STORED_DONE:
    case PAYMENT_STORED_SAME:
        payment_step_log(LOG_LEVEL_INFO, "payment.ready", id, &effect, session->ref);
        start->redirect_url = session->redirect_url;
        start->expires_us = effect.session_ends_us;
        return PAYMENT_STARTED_OK;
    case PAYMENT_STORED_ENDED:
        start->order_status = effect.order_status;
        return PAYMENT_STARTED_NOT_PAYABLE;
    case PAYMENT_STORED_STALE: /* it took so long that another payment was started */
        return PAYMENT_STARTED_IN_PROGRESS;
    case PAYMENT_STORED_UNAVAILABLE:
    case PAYMENT_STORED_UNKNOWN:
        return PAYMENT_STARTED_NO_STORE;
    default:
        return PAYMENT_STARTED_FAILED;
    }
}

static enum payment_started not_opened(enum payment_stored stored,
                                       const struct payment_opening *opening,
                                       struct payment_start *start)
{
    switch (stored) {
    case PAYMENT_STORED_SAME:
        start->redirect_url = opening->redirect_url;
        start->expires_us = opening->session_ends_us;
        return PAYMENT_STARTED_OK;
    case PAYMENT_STORED_IN_PROGRESS:
        return PAYMENT_STARTED_IN_PROGRESS;
    case PAYMENT_STORED_NOT_PAYABLE:
        start->order_status = opening->order_status;
        return PAYMENT_STARTED_NOT_PAYABLE;
    case PAYMENT_STORED_NONE:
        return PAYMENT_STARTED_NO_ORDER;
    case PAYMENT_STORED_UNAVAILABLE:
    case PAYMENT_STORED_UNKNOWN:
        return PAYMENT_STARTED_NO_STORE;
    default:
        return PAYMENT_STARTED_FAILED;
    }
}

enum payment_started payment_flow_start(const struct payment_flow *flow, struct arena *arena,
                                        struct str member, struct str order, bool mobile,
                                        struct payment_start *start)
{
    struct payment_opening opening;
    struct payment_session session;
    char id[PAYMENT_ID_TEXT + 1];
    char state[RANDOM_TOKEN_TEXT + 1];
    char hash[SHA256_TEXT + 1];

    *start = (struct payment_start){.expires_us = -1};
    if (flow->provider == NULL) {
        return PAYMENT_STARTED_NO_PROVIDER;
    }
    payment_id_make(id);
    random_token(state);
    sha256_text(str_sized(state, RANDOM_TOKEN_TEXT), hash);
    enum payment_stored stored = payment_open(flow->postgres, arena, member, order, str_of(id),
                                              str_of(payment_provider_name(flow->provider)), hash,
                                              payment_flow_wait_seconds(flow->settings), &opening);
    if (stored != PAYMENT_STORED_DONE) {
        return not_opened(stored, &opening, start);
    }
    start->is_new = true;
    test_pause("payment.starting");
    struct payment_verdict verdict =
        ask_for_session(flow, arena, member, order, &opening, mobile, state, &session);
    if (verdict.outcome != PAYMENT_OK) {
        start->order_status = opening.order_status;
        return abandon_start(flow, arena, opening.id, &verdict);
    }
    test_pause("payment.started");
    return record_session(flow, arena, opening.id, &session, start);
}
