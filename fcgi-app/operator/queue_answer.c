#include "fcgi-app/operator/queue_answer.h"

#include <string.h>

#include "fcgi-app/http/caller.h"
#include "fcgi-app/http/problem.h"
#include "lib/admission/lottery.h"
#include "lib/base/clock.h"
#include "lib/base/log.h"
#include "lib/base/test_pause.h"

bool operator_begin(const struct services *services, const struct request *request,
                    struct response *response, bool reads, struct operator_call *call)
{
    if (!caller_require_operator(services, request, response,
                                 reads ? OPERATOR_VIEWER : OPERATOR_FULL, &call->author.actor)) {
        return false;
    }
    call->author.request_id = arena_copy(request->arena, request->request_id);
    call->id = request->parameters[0];
    return true;
}

bool queue_not_found(const struct request *request, struct response *response, struct str id)
{
    problem_answer(request, response, PROBLEM_NOT_FOUND, "There is no queue %.*s.", STR_ARG(id));
    return false;
}

/** True for temporary SQLSTATEs: time-outs, deadlocks, a server that shuts down. */
static bool passes_by_itself(const char *sqlstate)
{
    static const char *const CLASSES[] = {"40", "53", "55", "57"};

    for (size_t i = 0; i < sizeof(CLASSES) / sizeof(CLASSES[0]); i++) {
        if (strncmp(sqlstate, CLASSES[i], 2) == 0) {
            return true;
        }
    }
    return false;
}

bool store_answered(const struct services *services, const struct request *request,
                    struct response *response, enum postgres_outcome outcome)
{
    switch (outcome) {
    case POSTGRES_OK:
        return true;
    case POSTGRES_UNREACHABLE:
        problem_answer(request, response, PROBLEM_ORDERS_UNAVAILABLE,
                       "PostgreSQL cannot be reached; nothing was changed.");
        return false;
    case POSTGRES_UNKNOWN:
        problem_answer(request, response, PROBLEM_ORDERS_UNAVAILABLE,
                       "PostgreSQL did not answer in time; the change may or may not be stored. "
                       "Check it, and repeat it if it is missing.");
        return false;
    case POSTGRES_REFUSED:
        break;
    }
    log_event(LOG_LEVEL_ERROR, "operator.store_refused",
              LOG_FIELDS(LOG_TEXT("sqlstate", postgres_sqlstate(services->postgres)),
                         LOG_TEXT("message", postgres_message(services->postgres))));
    if (passes_by_itself(postgres_sqlstate(services->postgres))) {
        problem_answer(request, response, PROBLEM_ORDERS_UNAVAILABLE,
                       "PostgreSQL is too busy at the moment; nothing was changed.");
    } else {
        problem_answer(request, response, PROBLEM_INTERNAL_ERROR,
                       "PostgreSQL refused the statement; nothing was changed.");
    }
    return false;
}

json_object *operator_body(const struct request *request, struct response *response)
{
    const char *why = NULL;
    json_object *body = request_json(request, &why);

    if (body == NULL) {
        problem_answer_at(request, response, "", "%s", why);
    }
    return body;
}

bool publish_change(const struct services *services, const struct request *request,
                    struct response *response, enum queue_change change,
                    const struct queue_row *row)
{
    bool is_new = change == QUEUE_CREATED || row->deleted;

    test_pause("operator.stored");
    enum outcome published =
        is_new ? queue_publish_creation(services->postgres, services->redis, request->arena, row)
               : queue_publish_change(services->redis, request->arena, row);

    if (published == OUTCOME_PUBLISHED || published == OUTCOME_OLDER) {
        return true;
    }
    log_event(
        LOG_LEVEL_WARNING, "queue.not_published",
        LOG_FIELDS(LOG_STR("queue", row->id), LOG_INT("version", row->version),
                   LOG_TEXT("why", published == OUTCOME_NOT_FOUND ? "Redis does not know the queue"
                                                                  : redis_error(services->redis))));
    problem_answer(request, response, PROBLEM_ADMISSION_UNAVAILABLE,
                   published == OUTCOME_NOT_FOUND
                       ? "The change is stored and takes effect when the queue, which Redis has "
                         "lost, has been recovered."
                       : "The change is stored and takes effect when Redis is back.");
    return false;
}

json_object *time_json(int64_t ms)
{
    char text[RFC3339_TEXT + 1];

    rfc3339_format(ms, text);
    return json_object_new_string(text);
}

json_object *text_json(struct str text)
{
    return json_object_new_string_len(text.n > 0 ? text.p : "", (int)text.n);
}

/** The public commitment to a lottery's secret; null for a queue that never was a lottery. */
static json_object *commitment_json(struct str secret)
{
    char commitment[LOTTERY_COMMITMENT_TEXT + 1];

    if (secret.n == 0) {
        return NULL;
    }
    lottery_commitment(secret, commitment);
    return json_object_new_string(commitment);
}

json_object *queue_json(const struct queue_row *row)
{
    json_object *answer = json_object_new_object();

    json_object_object_add(answer, "queue", text_json(row->id));
    json_object_object_add(answer, "state",
                           json_object_new_string(queue_settings_state(
                               row->settings, row->operator_state, row->sold_out, row->now_ms)));
    queue_settings_show(row->settings, answer);
    json_object_object_add(answer, "operatorState", json_object_new_string(row->operator_state));
    json_object_object_add(answer, "epoch", json_object_new_int64(row->epoch));
    json_object_object_add(answer, "incarnation", json_object_new_int64(row->incarnation));
    json_object_object_add(answer, "version", json_object_new_int64(row->version));
    json_object_object_add(answer, "lotteryCommitment", commitment_json(row->lottery_secret));
    json_object_object_add(answer, "createdAt", time_json(row->created_at_ms));
    json_object_object_add(answer, "updatedAt", time_json(row->updated_at_ms));
    return answer;
}

void answer_queue(struct response *response, int status, const struct queue_row *row)
{
    json_object *answer = queue_json(row);

    response_json_object(response, status, answer);
    (void)json_object_put(answer);
}

void log_change(const char *event, const struct operator_call *call, const char *action)
{
    log_event(LOG_LEVEL_INFO, event,
              LOG_FIELDS(LOG_STR("target", call->id), LOG_TEXT("action", action),
                         LOG_TEXT("actor", call->author.actor)));
}

void queue_answer_unknown(const struct services *services, const struct request *request,
                          struct response *response, struct str queue)
{
    struct queue_row row;
    bool found = false;

    if (!store_answered(services, request, response,
                        queue_store_get(services->postgres, request->arena, queue, &found, &row))) {
        return;
    }
    if (found) {
        problem_answer(request, response, PROBLEM_ADMISSION_UNAVAILABLE,
                       "Redis has lost the queue; it is being recovered.");
    } else {
        (void)queue_not_found(request, response, queue);
    }
}
