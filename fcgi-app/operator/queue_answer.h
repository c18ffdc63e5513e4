/*
 * queue_answer — shared by the operators' routes about queues: reading the request, publishing a
 * change, answering. A function that returns false has answered with a problem.
 */
#ifndef SLUICE_OPERATOR_QUEUE_ANSWER_H
#define SLUICE_OPERATOR_QUEUE_ANSWER_H

#include <stdbool.h>
#include <stdint.h>

#include <json-c/json.h>

#include "fcgi-app/http/request.h"
#include "fcgi-app/http/response.h"
#include "fcgi-app/pool/services.h"
#include "lib/admission/queues/queue_settings.h"
#include "lib/orders/queues/queue_store.h"

/** A checked request of an operator about one object. */
struct operator_call {
    struct str id; /* the first path parameter, a valid slug; empty if there is none */
    struct change_author author;
};

/** Admits operators, and viewers only if the route just reads (`reads`). */
bool operator_begin(const struct services *services, const struct request *request,
                    struct response *response, bool reads, struct operator_call *call);

/** Answers that there is no such queue. Returns false. */
bool queue_not_found(const struct request *request, struct response *response, struct str id);

/** How often a change is tried that concurrent changes of the same queue overtake. */
enum { QUEUE_ATTEMPTS = 5 };

/** Answers after the last attempt. */
void queue_answer_overtaken(const struct request *request, struct response *response);

/** Answers for a queue missing in Redis: it was never created, or Redis has lost it. */
void queue_answer_unknown(const struct services *services, const struct request *request,
                          struct response *response, struct str queue);

/** True for POSTGRES_OK. Otherwise answers with what may have become of the change. */
bool store_answered(const struct services *services, const struct request *request,
                    struct response *response, enum postgres_outcome outcome);

/** The body as a JSON object; NULL once a problem was answered. */
json_object *operator_body(const struct request *request, struct response *response);

/** Publishes a stored change to Redis. If that fails, the answer says that the change is stored and
 *  takes effect later. */
bool publish_change(const struct services *services, const struct request *request,
                    struct response *response, enum queue_change change,
                    const struct queue_row *row);

/** A queue as operators see it, to be released with json_object_put(). */
json_object *queue_json(const struct queue_row *row);

/** Answers with a queue. */
void answer_queue(struct response *response, int status, const struct queue_row *row);

/** Logs a change. */
void log_change(const char *event, const struct operator_call *call, const char *action);

/** A time in wire format, a new object. */
json_object *time_json(int64_t ms);

/** Text as a new JSON string. */
json_object *text_json(struct str text);

#endif
