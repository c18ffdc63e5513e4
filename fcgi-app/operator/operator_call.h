/*
 * operator_call — shared by all routes of operators: reading the request, the answer of PostgreSQL
 * to a change, the log. A function that returns false has answered with a problem.
 */
#ifndef SLUICE_OPERATOR_OPERATOR_CALL_H
#define SLUICE_OPERATOR_OPERATOR_CALL_H

#include <stdbool.h>
#include <stdint.h>

#include <json-c/json.h>

#include "fcgi-app/http/request.h"
#include "fcgi-app/http/response.h"
#include "fcgi-app/pool/services.h"
#include "lib/database/audit/audit_store.h"
#include "lib/store/postgres.h"

/** A checked request of an operator about one object. */
struct operator_call {
    struct str id; /* the first path parameter, a valid slug; empty if there is none */
    struct change_author author;
};

/** Admits operators, and viewers only if the route just reads (`reads`). */
bool operator_begin(const struct services *services, const struct request *request,
                    struct response *response, bool reads, struct operator_call *call);

/** True for POSTGRES_OK. Otherwise answers with what may have become of the change. */
bool operator_store_answered(const struct services *services, const struct request *request,
                             struct response *response, enum postgres_outcome outcome);

/** The body as a JSON object; NULL once a problem was answered. */
json_object *operator_body(const struct request *request, struct response *response);

/** Logs a change. */
void operator_log_change(const char *event, const struct operator_call *call, const char *action);

/** A time in wire format, a new object. */
json_object *time_json(int64_t ms);

/** Text as a new JSON string. */
json_object *text_json(struct str text);

#endif
