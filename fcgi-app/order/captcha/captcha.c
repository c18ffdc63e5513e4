#include "fcgi-app/order/captcha/captcha.h"

#include "fcgi-app/http/caller.h"
#include "lib/admission/tokens/captcha_spend.h"
#include "lib/base/clock.h"
#include "lib/base/log.h"
#include "lib/captcha/siteverify.h"

/* A used solution is remembered for as long as it could still be sent. */
enum { PROOF_MEMORY_MS = (ALTCHA_LIFE_S + 60) * 1000 };

/* A proof from the widget begins like this: '{"' in base64. No provider's token does. */
#define PROOF_BEGINS "eyJ"

static const char PROOF[] = "altcha";
static const char TOKEN[] = "siteverify";
static const char WHY_NONE[] = "Send the captcha's solution as captcha.";
static const char WHY_TAKEN[] = "This captcha solution was used before. Solve a new one.";
static const char WHY_NOT_SET_UP[] = "This kind of captcha is not configured here.";
static const char WHY_NO_MEMORY[] =
    "The captcha solution cannot be checked for reuse at the moment.";
static const char WHY_BACK[] = "The captcha's provider answers: send the solution of its captcha.";

/* One check in progress. */
struct check {
    const struct services *services;
    struct arena *arena;
    struct captcha_holder holder;
    struct str solution;
    const char *why;
};

static enum captcha_outcome refused(struct check *check, const char *why)
{
    check->why = why;
    return CAPTCHA_REFUSED;
}

static enum captcha_outcome no_answer(struct check *check, const char *why)
{
    check->why = why;
    return CAPTCHA_NO_ANSWER;
}

/* Marks the solution as used, for good. */
static enum captcha_outcome spend(struct check *check, const char *kind, struct str solution,
                                  int64_t life_ms)
{
    switch (captcha_spend(check->services->redis, check->arena, kind, solution, &check->holder,
                          life_ms)) {
    case OUTCOME_OK:
    case OUTCOME_ALREADY:
        return CAPTCHA_PASSED;
    case OUTCOME_TAKEN:
        return refused(check, WHY_TAKEN);
    default:
        return no_answer(check, WHY_NO_MEMORY);
    }
}

struct altcha_subject captcha_subject(struct arena *arena, struct str event, struct str caller)
{
    if (event.n > 0) {
        return (struct altcha_subject){.event = event, .caller = caller};
    }
    /* Member ids contain no spaces: no member's proof for an event named "any" matches this. */
    return (struct altcha_subject){
        .event = STR("any"),
        .caller = str_of(arena_format(arena, "any %.*s", STR_ARG(caller))),
    };
}

static enum altcha_outcome verify_for(const struct check *check, struct str event,
                                      struct str *nonce)
{
    const struct altcha_subject subject =
        captcha_subject(check->arena, event, check->holder.member);

    return altcha_verify(check->services->altcha_keys, check->arena, &subject, check->solution,
                         clock_wall_ms(), nonce);
}

static bool verify_proof(struct check *check, struct str *nonce)
{
    enum altcha_outcome outcome = verify_for(check, check->holder.event, nonce);

    if (outcome == ALTCHA_FOREIGN) {
        outcome = verify_for(check, STR(""), nonce);
    }
    check->why = altcha_outcome_reason(outcome);
    return outcome == ALTCHA_SOLVED;
}

static enum captcha_outcome check_proof(struct check *check)
{
    struct str nonce;

    if (check->services->altcha_keys == NULL) {
        return no_answer(check, WHY_NOT_SET_UP);
    }
    return verify_proof(check, &nonce) ? spend(check, PROOF, nonce, PROOF_MEMORY_MS)
                                       : CAPTCHA_REFUSED;
}

static enum captcha_outcome check_token(struct check *check)
{
    const struct services *services = check->services;

    /* The provider accepts a token once; that a repeated request's token was good is remembered
     * here. */
    switch (captcha_spent(services->redis, check->arena, TOKEN, check->solution, &check->holder)) {
    case OUTCOME_OK:
        break;
    case OUTCOME_ALREADY:
        return CAPTCHA_PASSED;
    case OUTCOME_TAKEN:
        return refused(check, WHY_TAKEN);
    default:
        return no_answer(check, WHY_NO_MEMORY);
    }
    switch (siteverify_ask(services->siteverify, check->solution, &check->why)) {
    case SITEVERIFY_PASSED:
        return spend(check, TOKEN, check->solution, SITEVERIFY_TOKEN_LIFE_MS);
    case SITEVERIFY_REFUSED:
        return CAPTCHA_REFUSED;
    default:
        return CAPTCHA_NO_ANSWER;
    }
}

/* A proof of work in place of the provider's captcha: accepted only while the provider gives no
 * verdict. */
static enum captcha_outcome check_fallback(struct check *check)
{
    const struct services *services = check->services;
    struct str nonce;

    if (!verify_proof(check, &nonce)) {
        return CAPTCHA_REFUSED;
    }
    switch (captcha_spent(services->redis, check->arena, PROOF, nonce, &check->holder)) {
    case OUTCOME_ALREADY:
        return CAPTCHA_PASSED;
    case OUTCOME_OK:
        break;
    case OUTCOME_TAKEN:
        return refused(check, WHY_TAKEN);
    default:
        return no_answer(check, WHY_NO_MEMORY);
    }
    if (siteverify_answers(services->siteverify)) {
        return refused(check, WHY_BACK);
    }
    return spend(check, PROOF, nonce, PROOF_MEMORY_MS);
}

static bool falls_back(const struct check *check)
{
    return check->services->altcha_keys != NULL &&
           str_equal(str_of(check->services->settings->captcha_fallback), STR("altcha")) &&
           str_starts(check->solution, STR(PROOF_BEGINS));
}

static enum captcha_outcome judge(struct check *check, enum captcha_kind kind)
{
    if (check->solution.n == 0) {
        return refused(check, WHY_NONE);
    }
    if (kind == CAPTCHA_ALTCHA) {
        return check_proof(check);
    }
    if (check->services->siteverify == NULL) {
        return no_answer(check, WHY_NOT_SET_UP);
    }
    return falls_back(check) ? check_fallback(check) : check_token(check);
}

enum captcha_outcome captcha_check(const struct services *services, const struct request *request,
                                   struct str event, enum captcha_kind kind, struct str solution,
                                   const char **why)
{
    struct check check = {.services = services,
                          .arena = request->arena,
                          .solution = solution,
                          .why = "The captcha is solved."};
    enum captcha_outcome outcome = CAPTCHA_REFUSED;
    struct caller caller;

    if (kind == CAPTCHA_NONE) {
        *why = "There is no captcha to be solved.";
        return CAPTCHA_PASSED;
    }
    if (caller_identify(services, request, &caller, &check.why)) {
        check.holder = (struct captcha_holder){
            .event = event, .member = caller.id, .entry_token = request->entry_token};
        outcome = judge(&check, kind);
    }
    *why = check.why;
    if (outcome != CAPTCHA_PASSED) {
        log_event(outcome == CAPTCHA_REFUSED ? LOG_LEVEL_INFO : LOG_LEVEL_WARNING,
                  outcome == CAPTCHA_REFUSED ? "captcha.refused" : "captcha.unavailable",
                  LOG_FIELDS(LOG_STR("couponEvent", event), LOG_TEXT("reason", check.why)));
    }
    return outcome;
}
