/* Looks payments up and finishes them according to the provider's answer. */
#include "lib/base/test_pause.h"
#include "lib/payments/payment_flow.h"
#include "lib/payments/payment_step.h"

static enum payment_settled note_unsettled(const struct payment_flow *flow, struct arena *arena,
                                           struct str id, struct str what, bool needs_person)
{
    log_event(needs_person ? LOG_LEVEL_ERROR : LOG_LEVEL_WARNING, "payment.not_settled",
              LOG_FIELDS(LOG_STR("payment", id), LOG_STR("detail", what)));
    return payment_note(flow->postgres, arena, id, what, needs_person) == PAYMENT_STORED_DONE
               ? PAYMENT_SETTLED_OPEN
               : PAYMENT_SETTLED_NO_STORE;
}

/* True if this program can query the payment's provider. */
static bool is_ours(const struct payment_flow *flow, const struct payment_row *row)
{
    return flow->provider != NULL &&
           str_equal(row->provider, str_of(payment_provider_name(flow->provider)));
}

static struct payment_subject subject_of(struct arena *arena, const struct payment_row *row)
{
    return payment_step_subject(arena, row->id, row->ref, row->member, &row->amounts);
}

/* The part that was not refunded yet: as the provider reports it, since it accepts nothing else. */
static struct payment_money unrefunded(const struct payment_row *row,
                                       const struct payment_state *state)
{
    struct payment_money left = {.total = state->total - state->canceled};

    if (state->left.total >= 0) {
        left = state->left;
    } else if (state->canceled == 0) {
        left.tax_free = row->amounts.tax_free;
        left.vat = row->amounts.vat;
    } else {
        left.tax_free = row->amounts.tax_free < left.total ? row->amounts.tax_free : left.total;
        left.vat = payment_vat(left.total, left.tax_free);
    }
    return left;
}

/* The provider refused the refund: a look-up decides whether the payment stays paid, since another
 * call may have refunded it. */
static enum payment_stored end_refused(const struct payment_flow *flow, struct arena *arena,
                                       const struct payment_row *row,
                                       const struct payment_verdict *verdict,
                                       struct payment_effect *effect)
{
    const struct payment_subject subject = subject_of(arena, row);
    struct payment_state state;
    struct payment_verdict look = payment_provider_lookup(flow->provider, arena, &subject, &state);
    bool is_final = verdict->refusal != PAYMENT_REFUSAL_MISCONFIGURED &&
                    verdict->refusal != PAYMENT_REFUSAL_TOO_EARLY;

    if (look.outcome == PAYMENT_OK && state.standing == PAYMENT_STANDS_CANCELED) {
        return payment_step_canceled(flow, arena, row->id, &state, STR("found given back"), effect);
    }
    if (!is_final || look.outcome != PAYMENT_OK ||
        (state.standing != PAYMENT_STANDS_PAID &&
         state.standing != PAYMENT_STANDS_PARTLY_CANCELED)) {
        (void)note_unsettled(flow, arena, row->id, verdict->detail, !is_final);
        return PAYMENT_STORED_UNKNOWN;
    }
    const char *why = arena_format(arena, "not given back: %.*s", STR_ARG(verdict->detail));
    enum payment_stored stored =
        payment_cancel_refused(flow->postgres, arena, row->id, str_of(why), effect);
    if (payment_step_is_recorded(stored)) {
        payment_step_log(LOG_LEVEL_ERROR, "payment.cancel_refused", row->id, effect,
                         verdict->detail);
    }
    return stored;
}

static enum payment_stored give_back(const struct payment_flow *flow, struct arena *arena,
                                     const struct payment_row *row,
                                     const struct payment_state *before,
                                     struct payment_effect *effect)
{
    const struct payment_subject subject = subject_of(arena, row);
    const struct payment_money left = unrefunded(row, before);
    struct payment_state state;

    test_pause("payment.canceling");
    struct payment_verdict verdict =
        payment_provider_cancel(flow->provider, arena, &subject, &left, before->canceled, &state);
    test_pause("payment.canceled");
    switch (verdict.outcome) {
    case PAYMENT_OK:
        return payment_step_canceled(flow, arena, row->id, &state, STR("given back"), effect);
    case PAYMENT_REJECTED:
        return end_refused(flow, arena, row, &verdict, effect);
    default:
        (void)note_unsettled(flow, arena, row->id, verdict.detail, row->needs_person);
        return PAYMENT_STORED_UNKNOWN;
    }
}

/* Looks it up first: an earlier call may have arrived although its response did not. */
static enum payment_stored refund(const struct payment_flow *flow, struct arena *arena,
                                  const struct payment_row *row, struct payment_effect *effect)
{
    const struct payment_subject subject = subject_of(arena, row);
    struct payment_state state;
    struct payment_verdict look = payment_provider_lookup(flow->provider, arena, &subject, &state);

    if (look.outcome != PAYMENT_OK) {
        (void)note_unsettled(flow, arena, row->id, look.detail,
                             row->needs_person || look.outcome == PAYMENT_REJECTED);
        return PAYMENT_STORED_UNKNOWN;
    }
    switch (state.standing) {
    case PAYMENT_STANDS_CANCELED:
        return payment_step_canceled(flow, arena, row->id, &state, STR("found given back"), effect);
    case PAYMENT_STANDS_PAID:
    case PAYMENT_STANDS_PARTLY_CANCELED:
        return give_back(flow, arena, row, &state, effect);
    default:
        (void)note_unsettled(flow, arena, row->id,
                             STR("to be given back, and not paid at the provider"), true);
        return PAYMENT_STORED_UNKNOWN;
    }
}

enum payment_stored payment_flow_refund(const struct payment_flow *flow, struct arena *arena,
                                        struct str id, struct payment_effect *effect)
{
    struct payment_row row;
    enum payment_stored found = payment_find(flow->postgres, arena, id, &row);

    if (found != PAYMENT_STORED_DONE) {
        return found;
    }
    if (row.phase != PAYMENT_PHASE_CANCEL_REQUESTED) {
        return PAYMENT_STORED_STALE;
    }
    if (!is_ours(flow, &row)) {
        (void)note_unsettled(flow, arena, id, STR("another provider's payment"), true);
        return PAYMENT_STORED_UNKNOWN;
    }
    return refund(flow, arena, &row, effect);
}

static enum payment_settled settled_by(enum payment_stored stored)
{
    switch (stored) {
    case PAYMENT_STORED_EARLY:
    case PAYMENT_STORED_PARTIAL:
        return PAYMENT_SETTLED_WAITS;
    case PAYMENT_STORED_MISMATCH:
    case PAYMENT_STORED_FAILED:
        return PAYMENT_SETTLED_OPEN;
    case PAYMENT_STORED_UNAVAILABLE:
    case PAYMENT_STORED_UNKNOWN:
        return PAYMENT_SETTLED_NO_STORE;
    default:
        return PAYMENT_SETTLED_DONE;
    }
}

static enum payment_settled settle_refund(const struct payment_flow *flow, struct arena *arena,
                                          const struct payment_row *row)
{
    struct payment_effect effect;

    switch (refund(flow, arena, row, &effect)) {
    case PAYMENT_STORED_DONE:
    case PAYMENT_STORED_SAME:
    case PAYMENT_STORED_STALE:
        return PAYMENT_SETTLED_DONE;
    case PAYMENT_STORED_PARTIAL:
        return PAYMENT_SETTLED_WAITS;
    case PAYMENT_STORED_UNAVAILABLE:
        return PAYMENT_SETTLED_NO_STORE;
    default:
        return PAYMENT_SETTLED_OPEN;
    }
}

static enum payment_settled settle_paid(const struct payment_flow *flow, struct arena *arena,
                                        const struct payment_row *row,
                                        const struct payment_state *state)
{
    struct payment_effect effect;
    enum payment_stored stored =
        payment_step_paid(flow, arena, row->id, state, STR("a look-up: paid"), &effect);

    if (stored != PAYMENT_STORED_REFUND) {
        return settled_by(stored);
    }
    return settle_refund(flow, arena, row);
}

static enum payment_settled record_unpaid(const struct payment_flow *flow, struct arena *arena,
                                          const struct payment_row *row, enum payment_phase phase,
                                          bool is_answered, struct str why)
{
    const struct payment_not_taken report = {.approvals = row->approvals,
                                             .phase = phase,
                                             .is_final = row->is_final,
                                             .is_answered = is_answered};
    struct payment_effect effect;

    if (row->phase == PAYMENT_PHASE_PAID) {
        return note_unsettled(flow, arena, row->id, STR("paid here, and not at the provider"),
                              true);
    }
    enum payment_stored stored = payment_unpaid(flow->postgres, arena, row->id, &report,
                                                payment_step_gives_back(flow), why, &effect);
    if (stored == PAYMENT_STORED_DONE) {
        payment_step_log(LOG_LEVEL_INFO, "payment.not_paid", row->id, &effect, why);
    }
    if (payment_step_is_recorded(stored)) {
        payment_step_publish(flow, arena, &effect);
    }
    return settled_by(stored);
}

/* The provider says that nothing was taken. */
static enum payment_settled settle_unpaid(const struct payment_flow *flow, struct arena *arena,
                                          const struct payment_row *row, enum payment_phase phase,
                                          struct str why)
{
    return record_unpaid(flow, arena, row, phase, true, why);
}

static enum payment_settled settle_by_lookup(const struct payment_flow *flow, struct arena *arena,
                                             const struct payment_row *row,
                                             const struct payment_state *state)
{
    struct payment_effect effect;

    switch (state->standing) {
    case PAYMENT_STANDS_PAID:
    case PAYMENT_STANDS_PARTLY_CANCELED:
        return settle_paid(flow, arena, row, state);
    case PAYMENT_STANDS_CANCELED:
        return settled_by(payment_step_canceled(flow, arena, row->id, state,
                                                STR("a look-up: given back"), &effect));
    case PAYMENT_STANDS_FAILED:
        return settle_unpaid(flow, arena, row, PAYMENT_PHASE_FAILED,
                             STR("a look-up: over at the provider"));
    case PAYMENT_STANDS_EXPIRED:
        return settle_unpaid(flow, arena, row, PAYMENT_PHASE_EXPIRED,
                             STR("a look-up: its time is over"));
    case PAYMENT_STANDS_OPEN:
        break;
    }
    return settle_unpaid(flow, arena, row, PAYMENT_PHASE_EXPIRED, STR("a look-up: not paid"));
}

/* An approval of it had no clear answer, so money may have been taken, also of one that has ended. A
 * provider that does not know such a payment is not the one that was asked to take it (another
 * shop's CID or key, perhaps), so that is no "not paid". */
static bool is_in_doubt(const struct payment_row *row)
{
    return row->phase == PAYMENT_PHASE_APPROVING || row->phase == PAYMENT_PHASE_UNKNOWN ||
           row->in_doubt;
}

static bool has_ended_unpaid(const struct payment_row *row)
{
    return row->phase == PAYMENT_PHASE_FAILED || row->phase == PAYMENT_PHASE_EXPIRED ||
           row->phase == PAYMENT_PHASE_STOPPED;
}

/* Certainly no approval of it took money, and none will: payment_approve_begin() refuses it by now.
 * End it without the provider's answer: otherwise its goods stay reserved. */
static bool ends_unanswered(const struct payment_row *row)
{
    return row->phase == PAYMENT_PHASE_READY && row->is_final;
}

/* The payment's provider did not answer. */
static enum payment_settled settle_unanswered(const struct payment_flow *flow, struct arena *arena,
                                              const struct payment_row *row, struct str detail,
                                              bool needs_person)
{
    if (ends_unanswered(row)) {
        const char *why = arena_format(arena, "not approved in time: %.*s", STR_ARG(detail));
        return record_unpaid(flow, arena, row, PAYMENT_PHASE_EXPIRED, false, str_of(why));
    }
    return note_unsettled(flow, arena, row->id, detail, needs_person);
}

/* This program cannot ask the payment's provider. One that has ended and is not in doubt
 * counts as settled: no operator action is possible. */
static enum payment_settled settle_of_another(const struct payment_flow *flow, struct arena *arena,
                                              const struct payment_row *row)
{
    const struct str detail = STR("another provider's payment");

    if (has_ended_unpaid(row) && !is_in_doubt(row)) {
        return record_unpaid(flow, arena, row, row->phase, false, detail);
    }
    return settle_unanswered(flow, arena, row, detail, true);
}

enum payment_settled payment_flow_settle(const struct payment_flow *flow, struct arena *arena,
                                         const struct payment_row *row)
{
    const struct payment_subject subject = subject_of(arena, row);
    struct payment_state state;
    struct payment_effect effect;

    if (row->phase == PAYMENT_PHASE_STARTING) {
        return settled_by(payment_start_failed(flow->postgres, arena, row->id,
                                               STR("who started it is gone"), &effect));
    }
    if (row->phase == PAYMENT_PHASE_CANCELED || row->ref.n == 0) {
        return PAYMENT_SETTLED_DONE;
    }
    if (!is_ours(flow, row)) {
        return settle_of_another(flow, arena, row);
    }
    if (row->phase == PAYMENT_PHASE_CANCEL_REQUESTED) {
        return settle_refund(flow, arena, row);
    }
    struct payment_verdict look = payment_provider_lookup(flow->provider, arena, &subject, &state);
    test_pause("payment.looked");
    if (look.outcome == PAYMENT_OK) {
        return settle_by_lookup(flow, arena, row, &state);
    }
    if (look.outcome == PAYMENT_REJECTED && look.refusal == PAYMENT_REFUSAL_NO_SUCH &&
        !is_in_doubt(row)) {
        return record_unpaid(flow, arena, row, PAYMENT_PHASE_EXPIRED, false,
                             STR("a look-up: unknown there"));
    }
    return settle_unanswered(flow, arena, row, look.detail,
                             row->needs_person || look.outcome == PAYMENT_REJECTED);
}
