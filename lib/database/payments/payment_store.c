#include "lib/database/payments/payment_store.h"

#include <string.h>

#include "lib/base/encoding.h"
#include "lib/database/orders/order_row.h"
#include "lib/database/payments/payment_result.h"
#include "lib/database/store_refusal.h"

/* The most payments of an order: see payment_open() in the migration. */
enum { RETURNS_MAX = 100 };

void payment_id_make(char out[PAYMENT_ID_TEXT + 1])
{
    char random[RANDOM_ID_TEXT + 1];

    random_id(random);
    out[0] = 'p';
    out[1] = '_';
    memcpy(out + 2, random, sizeof(random));
}

bool payment_id_is_valid(struct str id)
{
    unsigned char bytes[RANDOM_ID_TEXT];
    size_t length;

    return id.n == PAYMENT_ID_TEXT && str_starts(id, STR("p_")) &&
           base64url_decode(str_sized(id.p + 2, id.n - 2), bytes, sizeof(bytes), &length);
}

enum payment_stored payment_open(struct postgres *postgres, struct arena *arena, struct str member,
                                 struct str order, struct str id, struct str provider,
                                 const char return_hash[SHA256_TEXT + 1], int64_t wait_seconds,
                                 struct payment_opening *opening)
{
    const char *const parameters[] = {
        arena_copy(arena, member),
        arena_copy(arena, order),
        arena_copy(arena, id),
        arena_copy(arena, provider),
        return_hash,
        arena_int(arena, wait_seconds),
    };
    const PGresult *result;

    enum postgres_outcome outcome =
        postgres_query(postgres, arena, QUERY_PAYMENT_OPEN, parameters, &result);
    if (outcome != POSTGRES_OK) {
        return payment_result_refusal(postgres, outcome, "payment_open");
    }
    if (PQntuples(result) == 0) {
        return PAYMENT_STORED_NONE;
    }
    opening->id = postgres_text(result, 0, 1);
    opening->order_status = postgres_text(result, 0, 2);
    opening->redirect_url = postgres_text(result, 0, 3);
    opening->session_ends_us = postgres_int(result, 0, 4, -1);
    opening->title = postgres_text(result, 0, 5);
    opening->quantity = postgres_int(result, 0, 6, 1);
    payment_result_amounts(result, 0, 7, &opening->amounts);
    return payment_result_word(postgres_text(result, 0, 0));
}

enum payment_stored payment_returned(struct postgres *postgres, struct arena *arena,
                                     struct str order, struct str state, struct str *id)
{
    const char *const parameters[] = {arena_copy(arena, order),
                                      arena_format(arena, "%d", RETURNS_MAX)};
    const PGresult *result;
    char hash[SHA256_TEXT + 1];
    bool found = false;

    enum postgres_outcome outcome =
        postgres_query(postgres, arena, QUERY_PAYMENT_RETURNS, parameters, &result);
    if (outcome != POSTGRES_OK) {
        enum payment_stored refusal = payment_result_refusal(postgres, outcome, "payment_returned");
        return refusal == PAYMENT_STORED_UNKNOWN ? PAYMENT_STORED_UNAVAILABLE : refusal;
    }
    sha256_text(state, hash);
    for (int i = 0; i < PQntuples(result); i++) {
        if (constant_time_equal(postgres_text(result, i, 1), str_sized(hash, SHA256_TEXT))) {
            *id = postgres_text(result, i, 0);
            found = true;
        }
    }
    return found ? PAYMENT_STORED_DONE : PAYMENT_STORED_NONE;
}

static bool read_turn(struct str word, enum payment_turn *turn)
{
    static const char *const WORDS[] = {
        [PAYMENT_TURN_GO] = "go",
        [PAYMENT_TURN_PAID] = "paid",
        [PAYMENT_TURN_CONFIRMING] = "confirming",
        [PAYMENT_TURN_REFUSED] = "refused",
    };

    for (size_t i = 0; i < sizeof(WORDS) / sizeof(*WORDS); i++) {
        if (str_equal(word, str_of(WORDS[i]))) {
            *turn = (enum payment_turn)i;
            return true;
        }
    }
    return false;
}

enum payment_stored payment_approve_begin(struct postgres *postgres, struct arena *arena,
                                          struct str id, struct str provider, int64_t wait_seconds,
                                          struct payment_approval *approval)
{
    const char *const parameters[] = {arena_copy(arena, id), arena_copy(arena, provider),
                                      arena_int(arena, wait_seconds)};
    const PGresult *result;

    enum postgres_outcome outcome =
        postgres_query(postgres, arena, QUERY_PAYMENT_APPROVE_BEGIN, parameters, &result);
    if (outcome != POSTGRES_OK) {
        return payment_result_refusal(postgres, outcome, "payment_approve_begin");
    }
    if (PQntuples(result) == 0) {
        return PAYMENT_STORED_NONE;
    }
    approval->number = postgres_int(result, 0, 1, 0);
    approval->ref = postgres_text(result, 0, 2);
    approval->member = postgres_text(result, 0, 3);
    approval->order_status = postgres_text(result, 0, 4);
    payment_result_amounts(result, 0, 5, &approval->amounts);
    return read_turn(postgres_text(result, 0, 0), &approval->turn) ? PAYMENT_STORED_DONE
                                                                   : PAYMENT_STORED_FAILED;
}

enum payment_stored payment_order_cancel(struct postgres *postgres, struct arena *arena,
                                         struct str member, struct str order,
                                         struct order_cancel *cancel)
{
    const char *const parameters[] = {arena_copy(arena, member), arena_copy(arena, order)};
    const PGresult *result;

    enum postgres_outcome outcome =
        postgres_query(postgres, arena, QUERY_ORDER_CANCEL, parameters, &result);
    if (outcome == POSTGRES_REFUSED && store_refusal_is(postgres, "SL010")) {
        cancel->status = str_of(arena_copy(arena, str_of(postgres_detail(postgres))));
        return PAYMENT_STORED_NOT_CANCELABLE;
    }
    if (outcome == POSTGRES_REFUSED && store_refusal_is(postgres, "SL040")) {
        return PAYMENT_STORED_IN_PROGRESS;
    }
    if (outcome != POSTGRES_OK) {
        return payment_result_refusal(postgres, outcome, "order_cancel");
    }
    if (PQntuples(result) == 0) {
        return PAYMENT_STORED_NONE;
    }
    order_row_read(arena, result, 0, &cancel->order);
    cancel->place_freed = order_row_flag(result, 0, ORDER_COLUMNS);
    cancel->came_back = order_row_flag(result, 0, ORDER_COLUMNS + 1);
    cancel->payment = postgres_text(result, 0, ORDER_COLUMNS + 2);
    return PAYMENT_STORED_DONE;
}

enum payment_stored payment_hinted(struct postgres *postgres, struct arena *arena,
                                   struct str provider, struct str ref, struct str payment,
                                   struct str *id)
{
    const char *const parameters[] = {
        arena_copy(arena, provider),
        ref.n > 0 ? arena_copy(arena, ref) : NULL,
        payment.n > 0 ? arena_copy(arena, payment) : NULL,
    };
    const PGresult *result;

    enum postgres_outcome outcome =
        postgres_query(postgres, arena, QUERY_PAYMENT_HINT, parameters, &result);
    if (outcome != POSTGRES_OK) {
        return payment_result_refusal(postgres, outcome, "payment_hint");
    }
    if (PQntuples(result) == 0) {
        return PAYMENT_STORED_NONE;
    }
    *id = postgres_text(result, 0, 0);
    return PAYMENT_STORED_DONE;
}

/* Columns of payment_find.sql and payments_due.sql. */
static bool read_row(const PGresult *result, int row, struct payment_row *payment)
{
    payment->id = postgres_text(result, row, 0);
    payment->order = postgres_text(result, row, 1);
    payment->provider = postgres_text(result, row, 2);
    payment->ref = postgres_text(result, row, 4);
    payment->canceled = postgres_int(result, row, 5, 0);
    payment->member = postgres_text(result, row, 6);
    payment->is_final = order_row_flag(result, row, 7);
    payment->approvals = postgres_int(result, row, 8, 0);
    payment->attempts = postgres_int(result, row, 9, 0);
    payment->needs_person = order_row_flag(result, row, 10);
    payment_result_amounts(result, row, 11, &payment->amounts);
    payment->in_doubt = order_row_flag(result, row, 15);
    return payment_phase_parse(postgres_text(result, row, 3), &payment->phase);
}

enum payment_stored payment_find(struct postgres *postgres, struct arena *arena, struct str id,
                                 struct payment_row *row)
{
    const char *const parameters[] = {arena_copy(arena, id)};
    const PGresult *result;

    enum postgres_outcome outcome =
        postgres_query(postgres, arena, QUERY_PAYMENT_FIND, parameters, &result);
    if (outcome != POSTGRES_OK) {
        return payment_result_refusal(postgres, outcome, "payment_find");
    }
    if (PQntuples(result) == 0) {
        return PAYMENT_STORED_NONE;
    }
    return read_row(result, 0, row) ? PAYMENT_STORED_DONE : PAYMENT_STORED_FAILED;
}

enum payment_stored payments_due(struct postgres *postgres, struct arena *arena, int64_t limit,
                                 int64_t person_after, int64_t lease_seconds,
                                 const struct payment_row **rows, size_t *count)
{
    const char *const parameters[] = {arena_int(arena, limit), arena_int(arena, person_after),
                                      arena_int(arena, lease_seconds)};
    const PGresult *result;

    enum postgres_outcome outcome =
        postgres_query(postgres, arena, QUERY_PAYMENTS_DUE, parameters, &result);
    if (outcome != POSTGRES_OK) {
        return payment_result_refusal(postgres, outcome, "payments_due");
    }
    struct payment_row *due = arena_alloc(arena, ((size_t)PQntuples(result) + 1) * sizeof(*due));
    *count = 0;
    for (int i = 0; i < PQntuples(result); i++) {
        if (!read_row(result, i, &due[*count])) {
            return PAYMENT_STORED_FAILED;
        }
        *count += 1;
    }
    *rows = due;
    return PAYMENT_STORED_DONE;
}
