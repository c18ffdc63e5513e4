#include "fcgi-app/queue/entry_proof.h"

#include "fcgi-app/http/problem.h"
#include "lib/base/clock.h"
#include "lib/captcha/altcha.h"

/* Member ids contain no spaces: a proof for a coupon event with the queue's name does not match the
 * queue. */
static struct altcha_subject subject_of(const struct request *request,
                                        const struct line_caller *caller)
{
    return (struct altcha_subject){
        .event = caller->queue,
        .caller = str_of(arena_format(request->arena, "entry %.*s", STR_ARG(caller->member)))};
}

struct str entry_proof_check(const struct services *services, const struct request *request,
                             const struct line_caller *caller, struct str solution,
                             const char **why)
{
    const struct altcha_subject subject = subject_of(request, caller);
    struct str nonce = {0};
    enum altcha_outcome outcome = altcha_verify(services->ticket_keys, request->arena, &subject,
                                                solution, clock_wall_ms(), &nonce);

    *why = altcha_outcome_reason(outcome);
    return outcome == ALTCHA_SOLVED ? nonce : str_sized(NULL, 0);
}

void entry_proof_wanted(const struct request *request, struct response *response, struct str queue,
                        const char *why)
{
    const char *address = arena_format(request->arena, "\"%s/queues/%.*s/challenge\"",
                                       request->from_room ? "/_sluice" : "/v1", STR_ARG(queue));

    problem_answer(request, response, PROBLEM_CAPTCHA_FAILED, "%s", why);
    problem_add(response, "challenge", str_of(address));
}

void entry_proof_challenge(const struct services *services, const struct request *request,
                           const struct line_caller *caller, struct buffer *out)
{
    const struct altcha_subject subject = subject_of(request, caller);

    altcha_challenge(services->ticket_keys, request->arena, &subject, clock_wall_ms(), out);
}
