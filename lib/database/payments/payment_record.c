/* Records the steps of a payment: one function per step, all with the same result. */

#include "lib/database/orders/order_row.h"
#include "lib/database/payments/payment_result.h"
#include "lib/database/payments/payment_store.h"

/* Runs `query`; reads `outcome, state, order_id, order_status, queue, member, place_freed,
 * came_back, session_ends_us`. */
static enum payment_stored record(struct postgres *postgres, struct arena *arena, enum query query,
                                  const char *const *parameters, const char *call,
                                  struct payment_effect *effect)
{
    const PGresult *result;

    enum postgres_outcome outcome = postgres_query(postgres, arena, query, parameters, &result);
    if (outcome != POSTGRES_OK) {
        return payment_result_refusal(postgres, outcome, call);
    }
    if (PQntuples(result) == 0 ||
        !payment_phase_parse(postgres_text(result, 0, 1), &effect->phase)) {
        return PAYMENT_STORED_NONE;
    }
    effect->order = postgres_text(result, 0, 2);
    effect->order_status = postgres_text(result, 0, 3);
    effect->queue = postgres_text(result, 0, 4);
    effect->member = postgres_text(result, 0, 5);
    effect->place_freed = order_row_flag(result, 0, 6);
    effect->came_back = order_row_flag(result, 0, 7);
    effect->session_ends_us = postgres_int(result, 0, 8, -1);
    return payment_result_word(postgres_text(result, 0, 0));
}

static const char *flag_text(bool flag)
{
    return flag ? "true" : "false";
}

enum payment_stored payment_ready(struct postgres *postgres, struct arena *arena, struct str id,
                                  struct str ref, struct str redirect_url, int64_t session_seconds,
                                  int64_t grace_seconds, struct payment_effect *effect)
{
    const char *const parameters[] = {
        arena_copy(arena, id),           arena_copy(arena, ref),
        arena_copy(arena, redirect_url), arena_int(arena, session_seconds),
        arena_int(arena, grace_seconds),
    };

    return record(postgres, arena, QUERY_PAYMENT_READY, parameters, "payment_ready", effect);
}

enum payment_stored payment_start_failed(struct postgres *postgres, struct arena *arena,
                                         struct str id, struct str why,
                                         struct payment_effect *effect)
{
    const char *const parameters[] = {arena_copy(arena, id), payment_result_why(arena, why)};

    return record(postgres, arena, QUERY_PAYMENT_START_FAILED, parameters, "payment_start_failed",
                  effect);
}

enum payment_stored payment_approve_undo(struct postgres *postgres, struct arena *arena,
                                         struct str id, int64_t number, struct str why, bool alert,
                                         struct payment_effect *effect)
{
    const char *const parameters[] = {arena_copy(arena, id), arena_int(arena, number),
                                      payment_result_why(arena, why), flag_text(alert)};

    return record(postgres, arena, QUERY_PAYMENT_APPROVE_UNDO, parameters, "payment_approve_undo",
                  effect);
}

enum payment_stored payment_in_doubt(struct postgres *postgres, struct arena *arena, struct str id,
                                     int64_t number, struct str why, struct payment_effect *effect)
{
    const char *const parameters[] = {arena_copy(arena, id), arena_int(arena, number),
                                      payment_result_why(arena, why)};

    return record(postgres, arena, QUERY_PAYMENT_UNKNOWN, parameters, "payment_unknown", effect);
}

enum payment_stored payment_paid(struct postgres *postgres, struct arena *arena, struct str id,
                                 const struct payment_taken *taken, struct str why,
                                 struct payment_effect *effect)
{
    const char *const parameters[] = {
        arena_copy(arena, id),
        arena_copy(arena, taken->ref),
        arena_int(arena, taken->total),
        arena_copy(arena, taken->currency),
        arena_int(arena, taken->canceled),
        payment_result_why(arena, why),
    };

    return record(postgres, arena, QUERY_PAYMENT_PAID, parameters, "payment_paid", effect);
}

enum payment_stored payment_unpaid(struct postgres *postgres, struct arena *arena, struct str id,
                                   const struct payment_not_taken *report, bool give_back,
                                   struct str why, struct payment_effect *effect)
{
    const char *const parameters[] = {
        arena_copy(arena, id),
        arena_int(arena, report->approvals),
        payment_phase_name(report->phase),
        flag_text(report->is_final),
        flag_text(report->is_answered),
        flag_text(give_back),
        payment_result_why(arena, why),
    };

    return record(postgres, arena, QUERY_PAYMENT_UNPAID, parameters, "payment_unpaid", effect);
}

enum payment_stored payment_stop(struct postgres *postgres, struct arena *arena, struct str id,
                                 bool give_back, struct str order_status, struct str why,
                                 struct payment_effect *effect)
{
    const char *const parameters[] = {arena_copy(arena, id), flag_text(give_back),
                                      arena_copy(arena, order_status),
                                      payment_result_why(arena, why)};

    return record(postgres, arena, QUERY_PAYMENT_STOP, parameters, "payment_stop", effect);
}

enum payment_stored payment_canceled(struct postgres *postgres, struct arena *arena, struct str id,
                                     int64_t canceled, bool give_back, struct str why,
                                     struct payment_effect *effect)
{
    const char *const parameters[] = {arena_copy(arena, id), arena_int(arena, canceled),
                                      flag_text(give_back), payment_result_why(arena, why)};

    return record(postgres, arena, QUERY_PAYMENT_CANCELED, parameters, "payment_canceled", effect);
}

enum payment_stored payment_cancel_refused(struct postgres *postgres, struct arena *arena,
                                           struct str id, struct str why,
                                           struct payment_effect *effect)
{
    const char *const parameters[] = {arena_copy(arena, id), payment_result_why(arena, why)};

    return record(postgres, arena, QUERY_PAYMENT_CANCEL_REFUSED, parameters,
                  "payment_cancel_refused", effect);
}

enum payment_stored payment_note(struct postgres *postgres, struct arena *arena, struct str id,
                                 struct str error, bool needs_person)
{
    const char *const parameters[] = {arena_copy(arena, id), payment_result_why(arena, error),
                                      flag_text(needs_person)};
    struct payment_effect effect;

    return record(postgres, arena, QUERY_PAYMENT_NOTE, parameters, "payment_note", &effect);
}
