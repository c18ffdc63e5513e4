/*
 * queue_answer — what the operators' routes about queues share: reading the request, publishing a
 * change, and the answer. A function that returns false has answered with a problem.
 */
#ifndef SLUICE_OPERATOR_QUEUE_ANSWER_H
#define SLUICE_OPERATOR_QUEUE_ANSWER_H

#include <stdbool.h>
#include <stdint.h>

#include <json-c/json.h>

#include "fcgi-app/http/request.h"
#include "fcgi-app/http/response.h"
#include "fcgi-app/pool/services.h"
#include "lib/admission/queue_settings.h"
#include "lib/orders/queue_store.h"

/** A checked request of an operator about one thing. */
struct operator_call {
    struct str id; /* what stands first in the path, a valid slug; empty without */
    struct change_author author;
};

/** Lets operators through, viewers only where a route just reads (`reads`). */
bool operator_begin(const struct services *services, const struct request *request,
                    struct response *response, bool reads, struct operator_call *call);

/** Answers that there is no such queue. Returns false. */
bool queue_not_found(const struct request *request, struct response *response, struct str id);

/** Answers for a queue that Redis does not know: it was never made, or Redis has lost it. */
void queue_answer_unknown(const struct services *services, const struct request *request,
                          struct response *response, struct str queue);

/** True for POSTGRES_OK. Otherwise says what may have become of the change. */
bool store_answered(const struct services *services, const struct request *request,
                    struct response *response, enum postgres_outcome outcome);

/** The body as a JSON object; NULL once a problem was answered. */
json_object *operator_body(const struct request *request, struct response *response);

/** Brings a stored change to Redis. Where that fails the answer says that it is stored and comes
 *  into force later. */
bool publish_change(const struct services *services, const struct request *request,
                    struct response *response, enum queue_change change,
                    const struct queue_row *row);

/** A queue as operators see it, to be released with json_object_put(). */
json_object *queue_json(const struct queue_row *row);

/** Answers with a queue. */
void answer_queue(struct response *response, int status, const struct queue_row *row);

/** Writes a change into the log. */
void log_change(const char *event, const struct operator_call *call, const char *action);

/** A time of the wire, a new object. */
json_object *time_json(int64_t ms);

/** Text as a new JSON string. */
json_object *text_json(struct str text);

#endif
