#include "fcgi-app/operator/queues/queue_answer.h"

#include "fcgi-app/http/problem.h"
#include "lib/admission/lottery/lottery.h"
#include "lib/base/log.h"
#include "lib/base/test_pause.h"

/* How often a change is tried that concurrent changes of the same queue overtake. */
enum { QUEUE_ATTEMPTS = 5 };

bool queue_not_found(const struct request *request, struct response *response, struct str id)
{
    problem_answer(request, response, PROBLEM_NOT_FOUND, "There is no queue %.*s.", STR_ARG(id));
    return false;
}

bool queue_change_publish(const struct services *services, const struct request *request,
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

static void answer_overtaken(const struct request *request, struct response *response)
{
    problem_answer(request, response, PROBLEM_ORDERS_UNAVAILABLE,
                   "Others keep changing the queue at the same time; nothing was changed. Send the "
                   "same request again.");
}

bool queue_change_make(const struct services *services, const struct request *request,
                       struct response *response, const struct operator_call *call,
                       queue_attempt *attempt, void *wanted, enum queue_change *change,
                       struct queue_row *row)
{
    *change = QUEUE_STALE;
    for (int i = 0; i < QUEUE_ATTEMPTS && *change == QUEUE_STALE; i++) {
        if (!attempt(services, request, response, call, wanted, change, row)) {
            return false;
        }
    }
    if (*change == QUEUE_STALE) {
        answer_overtaken(request, response);
        return false;
    }
    return queue_change_publish(services, request, response, *change, row);
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

void queue_answer(struct response *response, int status, const struct queue_row *row)
{
    json_object *answer = queue_json(row);

    response_json_object(response, status, answer);
    (void)json_object_put(answer);
}

bool queue_list_is_real(const struct services *services, const struct request *request,
                        struct response *response, struct str queue, size_t count)
{
    struct queue_row row;
    bool found = count > 0;

    if (!found && !operator_store_answered(
                      services, request, response,
                      queue_store_get(services->postgres, request->arena, queue, &found, &row))) {
        return false;
    }
    return found || queue_not_found(request, response, queue);
}

void queue_answer_unknown(const struct services *services, const struct request *request,
                          struct response *response, struct str queue)
{
    struct queue_row row;
    bool found = false;

    if (!operator_store_answered(
            services, request, response,
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
