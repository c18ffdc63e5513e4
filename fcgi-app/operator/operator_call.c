#include "fcgi-app/operator/operator_call.h"

#include <string.h>

#include "fcgi-app/http/caller.h"
#include "fcgi-app/http/problem.h"
#include "lib/base/clock.h"
#include "lib/base/log.h"

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

bool operator_store_answered(const struct services *services, const struct request *request,
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

void operator_log_change(const char *event, const struct operator_call *call, const char *action)
{
    log_event(LOG_LEVEL_INFO, event,
              LOG_FIELDS(LOG_STR("target", call->id), LOG_TEXT("action", action),
                         LOG_TEXT("actor", call->author.actor)));
}
