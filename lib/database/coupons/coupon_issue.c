#include <string.h>

#include "lib/database/coupons/coupon_store.h"
#include "lib/database/store_call.h"

/* The number of transactions that may run concurrently: see issue_coupon(). */
enum { FEW = 32 };

static const struct {
    const char *sqlstate;
    enum coupon_outcome outcome;
} RULES[] = {
    {"SL001", COUPON_INCARNATION},     {"SL003", COUPON_CLAIM_RELEASED},
    {"SL004", COUPON_ADMISSION_SPENT}, {"SL009", COUPON_QUEUE_GONE},
    {"SL013", COUPON_EPOCH},           {"SL014", COUPON_EVENT_GONE},
    {"SL015", COUPON_EVENT_MOVED},     {"SL016", COUPON_ENDED},
};

static const struct {
    const char *word;
    enum coupon_outcome outcome;
} WORDS[] = {
    {"issued", COUPON_ISSUED},     {"already", COUPON_ALREADY}, {"none", COUPON_NONE_FREE},
    {"not_open", COUPON_NOT_OPEN}, {"ended", COUPON_ENDED},
};

static enum coupon_outcome read_answer(const PGresult *result, struct coupon *coupon)
{
    struct str word = postgres_text(result, 0, 0);

    coupon->id = postgres_text(result, 0, 1);
    coupon->code = postgres_text(result, 0, 2);
    coupon->issued_ms = postgres_int(result, 0, 3, 0);
    coupon->admission = postgres_text(result, 0, 4);
    coupon->few_left = str_equal(postgres_text(result, 0, 5), STR("t"));
    coupon->number = postgres_int(result, 0, 6, 0);
    coupon->outbox_row = postgres_int(result, 0, 7, 0);
    for (size_t i = 0; i < sizeof(WORDS) / sizeof(*WORDS); i++) {
        if (str_equal(word, str_of(WORDS[i].word))) {
            return WORDS[i].outcome;
        }
    }
    return COUPON_FAILED;
}

static enum coupon_outcome read_refusal(const struct postgres *postgres, struct arena *arena,
                                        struct coupon *coupon)
{
    for (size_t i = 0; i < sizeof(RULES) / sizeof(*RULES); i++) {
        if (!store_refusal_is(postgres, RULES[i].sqlstate)) {
            continue;
        }
        if (RULES[i].outcome == COUPON_ADMISSION_SPENT) {
            store_spender_read(str_of(arena_copy(arena, str_of(postgres_detail(postgres)))),
                               &coupon->spent);
        }
        return RULES[i].outcome;
    }
    return COUPON_FAILED;
}

/* The parameters of coupon_issue.sql, in order. */
enum { PARAMETERS = 12, OUTBOX_ACKS = PARAMETERS - 1 };

void coupon_issue_prepare(struct arena *arena, const struct claim *claim, struct str event,
                          const struct coupon_search *search, struct outbox_acks *acks,
                          struct postgres_call *call)
{
    const char *const parameters[PARAMETERS] = {
        arena_copy(arena, event),
        arena_copy(arena, claim->queue),
        arena_int(arena, claim->incarnation),
        arena_int(arena, claim->epoch),
        arena_int(arena, claim->seq),
        arena_copy(arena, claim->member),
        claim->id,
        claim->admission,
        claim->key_hash,
        arena_int(arena, search->behind),
        arena_int(arena, search->count ? FEW : 0),
        [OUTBOX_ACKS] = outbox_acks_take(acks, arena),
    };
    const char **kept = arena_alloc(arena, sizeof(parameters));

    memcpy(kept, parameters, sizeof(parameters));
    *call = (struct postgres_call){.query = QUERY_COUPON_ISSUE, .parameters = kept};
}

static enum coupon_outcome read_end(struct postgres *postgres, struct arena *arena,
                                    struct postgres_call *call, struct coupon *coupon)
{
    const PGresult *rows;
    enum store_refusal refusal;

    if (store_call_read(postgres, arena, call, "coupon_issue", &rows, &refusal)) {
        return read_answer(rows, coupon);
    }
    switch (refusal) {
    case STORE_RULE:
        return read_refusal(postgres, arena, coupon);
    case STORE_RETRY:
    case STORE_UNAVAILABLE:
        return COUPON_UNAVAILABLE;
    case STORE_UNKNOWN:
        return COUPON_UNKNOWN;
    case STORE_DEFECT:
        return COUPON_FAILED;
    }
    return COUPON_FAILED;
}

enum coupon_outcome coupon_issue_read(struct postgres *postgres, struct arena *arena,
                                      struct postgres_call *call, struct outbox_acks *acks,
                                      struct coupon *coupon)
{
    *coupon = (struct coupon){0};
    enum coupon_outcome outcome = read_end(postgres, arena, call, coupon);
    if (call->parameters[OUTBOX_ACKS] != NULL) {
        outbox_acks_settle(acks, outcome == COUPON_ISSUED);
    }
    return outcome;
}
