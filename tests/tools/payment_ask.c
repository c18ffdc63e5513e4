/*
 * payment_ask — one call of the payment provider, as the payment pool makes it:
 *     payment_ask --config FILE ready ID TOTAL ITEM URL
 *     payment_ask --config FILE approve ID TOTAL REF TOKEN [KEY ORDER AMOUNT [ATTEMPT]]
 *     payment_ask --config FILE lookup ID TOTAL REF
 *     payment_ask --config FILE cancel ID TOTAL REF AMOUNT BEFORE
 * Prints words: the outcome, the refusal's number, whether it was answered, what came of it in fields that depend on
 * the call, and the milliseconds; then a line with the detail.
 */
#include <stdio.h>
#include <string.h>

#include "lib/base/clock.h"
#include "lib/payments/payment_provider.h"
#include "lib/settings/program_options.h"

enum { CALL, ID, TOTAL, FIRST, SECOND, KEY, ORDER, AMOUNT, ATTEMPT, WORDS_MAX };

static const char *const OUTCOMES[] = {[PAYMENT_OK] = "ok",
                                       [PAYMENT_REJECTED] = "rejected",
                                       [PAYMENT_NOT_SENT] = "not-sent",
                                       [PAYMENT_UNKNOWN] = "unknown"};
static const char *const STANDINGS[] = {[PAYMENT_STANDS_OPEN] = "open",
                                        [PAYMENT_STANDS_PAID] = "paid",
                                        [PAYMENT_STANDS_PARTLY_CANCELED] = "partly-canceled",
                                        [PAYMENT_STANDS_CANCELED] = "canceled",
                                        [PAYMENT_STANDS_FAILED] = "failed",
                                        [PAYMENT_STANDS_EXPIRED] = "expired"};

static int64_t number(const char *text)
{
    int64_t value = 0;

    (void)str_to_int64(str_of(text), 0, INT64_C(9007199254740991), &value);
    return value;
}

static struct payment_verdict call(struct payment_provider *provider, struct arena *arena,
                                   const char *const words[WORDS_MAX], struct payment_state *state,
                                   struct payment_session *session)
{
    int64_t total = number(words[TOTAL]);
    struct payment_subject subject = {.id = str_of(words[ID]),
                                      .payer = STR("member-1"),
                                      .ref = str_of(words[FIRST]),
                                      .money = {.total = total, .vat = payment_vat(total, 0)},
                                      .currency = STR("KRW")};

    if (strcmp(words[CALL], "ready") == 0) {
        const struct payment_offer offer = {.item_name = str_of(words[FIRST]),
                                            .quantity = 1,
                                            .approve_url = str_of(words[SECOND]),
                                            .cancel_url = STR("/cancel"),
                                            .fail_url = STR("/fail")};
        subject.ref = STR("");
        return payment_provider_ready(provider, arena, &subject, &offer, session);
    }
    if (strcmp(words[CALL], "approve") == 0) {
        const struct payment_return back = {.pg_token = str_of(words[SECOND]),
                                            .payment_key = str_of(words[KEY]),
                                            .order_id = str_of(words[ORDER]),
                                            .amount = str_of(words[AMOUNT])};
        int64_t attempt = words[ATTEMPT][0] == '\0' ? 1 : number(words[ATTEMPT]);
        return payment_provider_approve(provider, arena, &subject, &back, attempt, state);
    }
    if (strcmp(words[CALL], "cancel") == 0) {
        int64_t amount = number(words[SECOND]);
        const struct payment_money money = {.total = amount, .vat = payment_vat(amount, 0)};
        return payment_provider_cancel(provider, arena, &subject, &money, number(words[KEY]),
                                       state);
    }
    return payment_provider_lookup(provider, arena, &subject, state);
}

static void ask(struct payment_provider *provider, const struct program *program)
{
    const char *words[WORDS_MAX] = {"", "", "", "", "", "", "", "", ""};
    struct arena *arena = arena_new();
    struct payment_session session = {.ref = STR("")};
    struct payment_state state = {.ref = STR("")};
    int64_t begin = clock_monotonic_ms();

    for (int i = 0; i < program->argument_count && i < WORDS_MAX; i++) {
        words[i] = program->arguments[i];
    }
    struct payment_verdict verdict = call(provider, arena, words, &state, &session);
    printf("%s %d %d %lld", OUTCOMES[verdict.outcome], (int)verdict.refusal, (int)verdict.answered,
           (long long)(clock_monotonic_ms() - begin));
    if (verdict.outcome == PAYMENT_OK && session.ref.n > 0) {
        printf(" %.*s %.*s", STR_ARG(session.ref), STR_ARG(session.redirect_url));
    } else if (verdict.outcome == PAYMENT_OK) {
        printf(" %s %lld %lld %lld", STANDINGS[state.standing], (long long)state.total,
               (long long)state.canceled, (long long)state.approved_ms);
    }
    printf("\n%.*s\n", STR_ARG(verdict.detail));
    arena_free(arena);
}

int main(int argc, char **argv)
{
    struct program program = {.name = "payment_ask",
                              .summary = "Makes one call of the payment provider.",
                              .arguments_help = "CALL ID TOTAL …"};
    struct payment_provider *provider = NULL;
    struct settings settings;
    char error[PAYMENT_PROVIDER_ERROR];
    int code = program_start(&program, argc, argv, &settings);

    if (code != PROGRAM_GOES_ON) {
        return code;
    }
    if (!payment_provider_open(&settings, &provider, error)) {
        (void)fprintf(stderr, "%s\n", error);
        code = PROGRAM_BAD_CONFIG;
    } else {
        code = PROGRAM_OK;
        if (provider != NULL) {
            ask(provider, &program);
        }
    }
    payment_provider_close(provider);
    settings_free(&settings);
    return code;
}
