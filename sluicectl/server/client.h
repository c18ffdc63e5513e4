/*
 * client — the operator API by HTTP: one request, one JSON answer, with time-outs and without
 * following redirects, so that the key is sent only to the given address. A redirect is no answer.
 */
#ifndef SLUICE_SLUICECTL_CLIENT_H
#define SLUICE_SLUICECTL_CLIENT_H

#include <stdbool.h>

#include <json-c/json.h>

#include "sluicectl/invocation.h"

struct client_answer {
    long status;       /* of HTTP */
    json_object *body; /* NULL for an empty one; lives in the invocation's arena */
    int64_t date_ms;   /* the server's clock, ms since 1970, to the second; 0: unknown */
    /* Without an answer: */
    enum exit_code failure;
    const char *why; /* sentences, in the invocation's arena */
};

/** As client_request(), without a message: `answer` has the reason. */
bool client_try(const struct invocation *invocation, const char *method, const char *path,
                json_object *body, struct client_answer *answer);

/** Sends a request, with the admin key if the path is an operator's; `body` (NULL: none) is sent as
 *  JSON. Returns false, with a message, if no answer came that could be Sluice's. */
bool client_request(const struct invocation *invocation, const char *method, const char *path,
                    json_object *body, struct client_answer *answer);

/** As client_request(); also false, with a message, for a refusal. With --json the problem is
 *  printed unchanged. */
bool client_call(const struct invocation *invocation, const char *method, const char *path,
                 json_object *body, struct client_answer *answer);

/** Prints a refusal. Returns EXIT_FAILED, or EXIT_FORBIDDEN or EXIT_UNAVAILABLE if the key or a
 *  temporary condition is the cause. */
enum exit_code client_refused(const struct invocation *invocation,
                              const struct client_answer *answer);

#endif
