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
#include "lib/orders/queues/queue_store.h"

/** Answers that there is no such queue. Returns false. */
bool queue_not_found(const struct request *request, struct response *response, struct str id);

/** How often a change is tried that concurrent changes of the same queue overtake. */
enum { QUEUE_ATTEMPTS = 5 };

/** Answers after the last attempt. */
void queue_answer_overtaken(const struct request *request, struct response *response);

/** Answers for a queue missing in Redis: it was never created, or Redis has lost it. */
void queue_answer_unknown(const struct services *services, const struct request *request,
                          struct response *response, struct str queue);

/** Publishes a stored change to Redis. If that fails, the answer says that the change is stored and
 *  takes effect later. */
bool queue_change_publish(const struct services *services, const struct request *request,
                          struct response *response, enum queue_change change,
                          const struct queue_row *row);

/** A queue as operators see it, to be released with json_object_put(). */
json_object *queue_json(const struct queue_row *row);

/** Answers with a queue. */
void queue_answer(struct response *response, int status, const struct queue_row *row);

#endif
