#include "fcgi-app/queue/refusal.h"

#include "fcgi-app/http/problem.h"
#include "fcgi-app/queue/seen_queues.h"
#include "lib/admission/line/line.h"

void refusal_answer(const struct request *request, struct response *response, struct str queue,
                    bool has_ticket, enum outcome outcome, const redisReply *reply)
{
    if (outcome == OUTCOME_NOT_FOUND) {
        if (!line_settings_missing(reply)) {
            seen_queues_remove(queue);
        } else if (has_ticket || seen_queues_has(queue)) {
            outcome = OUTCOME_ADMISSION_UNAVAILABLE;
        } else {
            /* Misspelt, or lost before this process started: the reply ends up here again. */
            response->follow_up = line_memory_ask(request->arena);
            return;
        }
    } else if (line_memory_is_there(reply)) {
        outcome = OUTCOME_NOT_FOUND;
    }
    if (outcome == OUTCOME_SOLD_OUT) {
        problem_answer(request, response, PROBLEM_SOLD_OUT, "%s",
                       line_refusal_has_ended(reply)
                           ? "The event has ended: its last coupons are no longer issued."
                           : "Everything is sold out. Nothing can be ordered unless the "
                             "queue opens again.");
    } else if (outcome == OUTCOME_NOT_FOUND) {
        problem_answer(request, response, PROBLEM_NOT_FOUND, "There is no queue %.*s.",
                       STR_ARG(queue));
    } else {
        problem_answer_outcome(request, response, outcome);
    }
}
