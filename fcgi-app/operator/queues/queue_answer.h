/*
 * queue_answer — shared by the operators' routes about queues: publishing a change, answering. A
 * function that returns false has answered with a problem.
 */
#ifndef SLUICE_OPERATOR_QUEUE_ANSWER_H
#define SLUICE_OPERATOR_QUEUE_ANSWER_H

#include <stdbool.h>

#include <json-c/json.h>

#include "fcgi-app/operator/operator_call.h"
#include "lib/admission/queues/queue_settings.h"
#include "lib/database/queues/queue_store.h"

/** Answers that there is no such queue. Returns false. */
bool queue_not_found(const struct request *request, struct response *response, struct str id);

/** For a list of a queue's things that has `count` of them: whether to answer with it. An empty one
 *  may be that of a queue that does not exist, which is answered so. Returns false then. */
bool queue_list_is_real(const struct services *services, const struct request *request,
                        struct response *response, struct str queue, size_t count);

/** Answers for a queue missing in Redis: it was never created, or Redis has lost it. */
void queue_answer_unknown(const struct services *services, const struct request *request,
                          struct response *response, struct str queue);

/** Publishes a stored change to Redis. If that fails, the answer says that the change is stored and
 *  takes effect later. */
bool queue_change_publish(const struct services *services, const struct request *request,
                          struct response *response, enum queue_change change,
                          const struct queue_row *row);

/** Reads the queue, checks and stores a change once, as `wanted` says. `*change` is QUEUE_STALE
 *  after a concurrent change. */
typedef bool queue_attempt(const struct services *services, const struct request *request,
                           struct response *response, const struct operator_call *call,
                           void *wanted, enum queue_change *change, struct queue_row *row);

/** Repeats `attempt` while concurrent changes of the same queue overtake it, a few times, and
 *  publishes what it stored. */
bool queue_change_make(const struct services *services, const struct request *request,
                       struct response *response, const struct operator_call *call,
                       queue_attempt *attempt, void *wanted, enum queue_change *change,
                       struct queue_row *row);

/** A queue as operators see it, to be released with json_object_put(). */
json_object *queue_json(const struct queue_row *row);

/** Answers with a queue. */
void queue_answer(struct response *response, int status, const struct queue_row *row);

#endif
