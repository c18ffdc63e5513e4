/* Handles the member's return from the provider: approve, cancel, fail. */
#include "lib/base/clock.h"
#include "lib/base/test_pause.h"
#include "lib/payments/payment_flow.h"
#include "lib/payments/payment_settings.h"
#include "lib/payments/payment_step.h"

/* One approval under way. */
struct approval {
    const struct payment_flow *flow;
    struct arena *arena;
    struct str id;
    struct payment_approval turn;
};

/* The result for the member if the payment has moved on meanwhile. */
static enum payment_returned_as returned_by_phase(enum payment_phase phase, struct str order_status)
{
    switch (phase) {
    case PAYMENT_PHASE_PAID:
        return PAYMENT_RETURNED_PAID;
    case PAYMENT_PHASE_CANCEL_REQUESTED:
    case PAYMENT_PHASE_CANCELED:
        return PAYMENT_RETURNED_REFUNDED;
    case PAYMENT_PHASE_STOPPED:
        return PAYMENT_RETURNED_STOPPED;
    case PAYMENT_PHASE_READY:
        return str_equal(order_status, STR("PENDING_PAYMENT")) ? PAYMENT_RETURNED_UNAVAILABLE
                                                               : PAYMENT_RETURNED_REFUSED;
    case PAYMENT_PHASE_STARTING:
    case PAYMENT_PHASE_APPROVING:
    case PAYMENT_PHASE_UNKNOWN:
        return PAYMENT_RETURNED_CONFIRMING;
    default:
        return PAYMENT_RETURNED_REFUSED;
    }
}

/* Whether it was recorded or not: as far as is known, it is being confirmed. */
static enum payment_returned_as returned(enum payment_stored stored,
                                         const struct payment_effect *effect)
{
    return payment_step_is_recorded(stored) ? returned_by_phase(effect->phase, effect->order_status)
                                            : PAYMENT_RETURNED_CONFIRMING;
}

/* Certainly nothing was taken, and the session remains open. */
static enum payment_returned_as undo(const struct approval *approval,
                                     const struct payment_verdict *verdict, bool alert)
{
    struct payment_effect effect;

    enum payment_stored stored =
        payment_approve_undo(approval->flow->postgres, approval->arena, approval->id,
                             approval->turn.number, verdict->detail, alert, &effect);
    if (payment_step_is_recorded(stored)) {
        payment_step_log(alert ? LOG_LEVEL_ERROR : LOG_LEVEL_WARNING, "payment.not_approved",
                         approval->id, &effect, verdict->detail);
    }
    return returned(stored, &effect);
}

/* The provider refused. */
static enum payment_returned_as end_unpaid(const struct approval *approval,
                                           enum payment_phase phase,
                                           const struct payment_verdict *verdict)
{
    const struct payment_not_taken report = {
        .approvals = approval->turn.number, .phase = phase, .is_final = true, .is_answered = true};
    struct payment_effect effect;

    enum payment_stored stored =
        payment_unpaid(approval->flow->postgres, approval->arena, approval->id, &report,
                       payment_step_gives_back(approval->flow), verdict->detail, &effect);
    if (payment_step_is_recorded(stored)) {
        payment_step_log(LOG_LEVEL_INFO, "payment.declined", approval->id, &effect,
                         verdict->detail);
        payment_step_publish(approval->flow, approval->arena, &effect);
    }
    return returned(stored, &effect);
}

static enum payment_returned_as end_rejected(const struct approval *approval,
                                             const struct payment_verdict *verdict)
{
    switch (verdict->refusal) {
    case PAYMENT_REFUSAL_TOO_EARLY:
        return undo(approval, verdict, false);
    case PAYMENT_REFUSAL_MISMATCH:
    case PAYMENT_REFUSAL_MISCONFIGURED:
        return undo(approval, verdict, true);
    case PAYMENT_REFUSAL_EXPIRED:
        return end_unpaid(approval, PAYMENT_PHASE_EXPIRED, verdict);
    default:
        return end_unpaid(approval, PAYMENT_PHASE_FAILED, verdict);
    }
}

/* The money may have been taken. If the provider did answer, a look-up now may tell; otherwise
 * reconcile looks it up. */
static enum payment_returned_as end_unknown(const struct approval *approval,
                                            const struct payment_verdict *verdict)
{
    struct payment_effect effect;
    struct payment_row row;

    enum payment_stored stored =
        payment_in_doubt(approval->flow->postgres, approval->arena, approval->id,
                         approval->turn.number, verdict->detail, &effect);
    if (payment_step_is_recorded(stored)) {
        payment_step_log(LOG_LEVEL_WARNING, "payment.unknown", approval->id, &effect,
                         verdict->detail);
    }
    if (!verdict->answered || stored != PAYMENT_STORED_DONE) {
        return returned(stored, &effect);
    }
    if (payment_find(approval->flow->postgres, approval->arena, approval->id, &row) ==
        PAYMENT_STORED_DONE) {
        (void)payment_flow_settle(approval->flow, approval->arena, &row);
    }
    if (payment_find(approval->flow->postgres, approval->arena, approval->id, &row) !=
        PAYMENT_STORED_DONE) {
        return PAYMENT_RETURNED_CONFIRMING;
    }
    return returned_by_phase(row.phase, str_sized(NULL, 0));
}

/* This process has the turn: the only call that takes the money. */
static enum payment_returned_as approve(const struct approval *approval,
                                        const struct payment_return *back, int64_t began_ms)
{
    const struct payment_subject subject =
        payment_step_subject(approval->arena, approval->id, approval->turn.ref,
                             approval->turn.member, &approval->turn.amounts);
    const struct payment_verdict held_up = {.outcome = PAYMENT_NOT_SENT,
                                            .detail = STR("held up before the call")};
    struct payment_state state;
    struct payment_effect effect;

    test_pause("payment.approving");
    if (clock_monotonic_ms() - began_ms > PAYMENT_SEND_WITHIN_MS) {
        return undo(approval, &held_up, false);
    }
    struct payment_verdict verdict = payment_provider_approve(
        approval->flow->provider, approval->arena, &subject, back, approval->turn.number, &state);
    test_pause("payment.approved");
    switch (verdict.outcome) {
    case PAYMENT_OK:
        return returned(payment_step_paid(approval->flow, approval->arena, approval->id, &state,
                                          STR("approved"), &effect),
                        &effect);
    case PAYMENT_REJECTED:
        return end_rejected(approval, &verdict);
    case PAYMENT_NOT_SENT:
        return undo(approval, &verdict, false);
    case PAYMENT_UNKNOWN:
        break;
    }
    return end_unknown(approval, &verdict);
}

/* Finds the payment. Returns false if `*as` is the result. */
static bool find_returned(const struct payment_flow *flow, struct arena *arena, struct str order,
                          struct str state, struct str *id, enum payment_returned_as *as)
{
    enum payment_stored found = payment_returned(flow->postgres, arena, order, state, id);

    *as = found == PAYMENT_STORED_NONE ? PAYMENT_RETURNED_FORBIDDEN : PAYMENT_RETURNED_NO_STORE;
    return found == PAYMENT_STORED_DONE;
}

enum payment_returned_as payment_flow_approve(const struct payment_flow *flow, struct arena *arena,
                                              struct str order, struct str state,
                                              const struct payment_return *back)
{
    struct approval approval = {.flow = flow, .arena = arena};
    enum payment_returned_as as;

    if (!find_returned(flow, arena, order, state, &approval.id, &as)) {
        return as;
    }
    if (flow->provider == NULL) {
        return PAYMENT_RETURNED_UNAVAILABLE;
    }
    int64_t began_ms = clock_monotonic_ms();
    if (payment_approve_begin(
            flow->postgres, arena, approval.id, str_of(payment_provider_name(flow->provider)),
            payment_flow_wait_seconds(flow->settings), &approval.turn) != PAYMENT_STORED_DONE) {
        return PAYMENT_RETURNED_NO_STORE;
    }
    switch (approval.turn.turn) {
    case PAYMENT_TURN_GO:
        return approve(&approval, back, began_ms);
    case PAYMENT_TURN_PAID:
        return str_equal(approval.turn.order_status, STR("PAID")) ? PAYMENT_RETURNED_PAID
                                                                  : PAYMENT_RETURNED_REFUNDED;
    case PAYMENT_TURN_CONFIRMING:
        return PAYMENT_RETURNED_CONFIRMING;
    case PAYMENT_TURN_REFUSED:
        break;
    }
    return PAYMENT_RETURNED_REFUSED;
}

enum payment_returned_as payment_flow_stop(const struct payment_flow *flow, struct arena *arena,
                                           struct str order, struct str state, bool failed)
{
    struct payment_effect effect;
    struct str id;
    enum payment_returned_as as;

    if (!find_returned(flow, arena, order, state, &id, &as)) {
        return as;
    }
    enum payment_stored stored =
        payment_stop(flow->postgres, arena, id, payment_step_gives_back(flow),
                     failed ? STR("PAYMENT_FAILED") : STR("CANCELED"),
                     failed ? STR("the member came back by fail_url")
                            : STR("the member came back by cancel_url"),
                     &effect);
    if (!payment_step_is_recorded(stored)) {
        return PAYMENT_RETURNED_NO_STORE;
    }
    if (stored == PAYMENT_STORED_DONE) {
        payment_step_log(LOG_LEVEL_INFO, "payment.stopped", id, &effect, str_sized(NULL, 0));
    }
    payment_step_publish(flow, arena, &effect);
    return returned_by_phase(effect.phase, effect.order_status);
}
