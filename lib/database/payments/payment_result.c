#include "lib/database/payments/payment_result.h"

#include "lib/base/log.h"
#include "lib/database/store_refusal.h"

enum payment_stored payment_result_refusal(const struct postgres *postgres,
                                           enum postgres_outcome outcome, const char *call)
{
    switch (store_refusal_of(postgres, outcome, call)) {
    case STORE_RETRY:
    case STORE_UNAVAILABLE:
        return PAYMENT_STORED_UNAVAILABLE;
    case STORE_UNKNOWN:
        return PAYMENT_STORED_UNKNOWN;
    case STORE_RULE:
        log_event(LOG_LEVEL_ERROR, "payment.rule_broken",
                  LOG_FIELDS(LOG_TEXT("call", call),
                             LOG_TEXT("sqlstate", postgres_sqlstate(postgres)),
                             LOG_TEXT("message", postgres_message(postgres))));
        break;
    case STORE_DEFECT:
        break;
    }
    return PAYMENT_STORED_FAILED;
}

enum payment_stored payment_result_word(struct str word)
{
    static const struct {
        const char *word;
        enum payment_stored stored;
    } WORDS[] = {
        {"done", PAYMENT_STORED_DONE},
        {"opened", PAYMENT_STORED_DONE},
        {"same", PAYMENT_STORED_SAME},
        {"stale", PAYMENT_STORED_STALE},
        {"none", PAYMENT_STORED_NONE},
        {"ended", PAYMENT_STORED_ENDED},
        {"in_progress", PAYMENT_STORED_IN_PROGRESS},
        {"not_payable", PAYMENT_STORED_NOT_PAYABLE},
        {"refund", PAYMENT_STORED_REFUND},
        {"mismatch", PAYMENT_STORED_MISMATCH},
        {"early", PAYMENT_STORED_EARLY},
        {"partial", PAYMENT_STORED_PARTIAL},
    };

    for (size_t i = 0; i < sizeof(WORDS) / sizeof(*WORDS); i++) {
        if (str_equal(word, str_of(WORDS[i].word))) {
            return WORDS[i].stored;
        }
    }
    return PAYMENT_STORED_FAILED;
}

void payment_result_amounts(const PGresult *result, int row, int column,
                            struct payment_amounts *amounts)
{
    amounts->total = postgres_int(result, row, column, 0);
    amounts->tax_free = postgres_int(result, row, column + 1, 0);
    amounts->vat = postgres_int(result, row, column + 2, 0);
    amounts->currency = postgres_text(result, row, column + 3);
}

const char *payment_result_why(struct arena *arena, struct str why)
{
    struct str kept = str_sized(why.p, why.n < PAYMENT_WHY_MAX ? why.n : PAYMENT_WHY_MAX);
    char *text = arena_copy(arena, kept);

    for (size_t i = 0; i < kept.n; i++) {
        if (text[i] < ' ' || text[i] > '~') {
            text[i] = '?';
        }
    }
    return text;
}
