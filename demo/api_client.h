/*
 * api_client — many concurrent HTTP requests to one Sluice, in one thread, over kept connections.
 */
#ifndef SLUICE_DEMO_API_CLIENT_H
#define SLUICE_DEMO_API_CLIENT_H

#include <stdbool.h>
#include <stdint.h>

#include <json-c/json.h>

struct api_client;

/** A request. All text is copied; headers that are NULL are not sent. */
struct api_request {
    const char *method;
    const char *path;
    const char *body; /* JSON, or NULL */
    const char *bearer;
    const char *queue_ticket;
    const char *entry_token;
    const char *idempotency_key;
};

/** An answer, borrowed during the call. */
struct api_reply {
    long status;            /* 0: no answer came */
    json_object *body;      /* NULL if there is none or it is no JSON */
    const char *code;       /* of a problem+json, else "" */
    int64_t retry_after_ms; /* -1 without Retry-After */
};

/** Called once for each request, unless the client is freed before. It may send new requests. */
typedef void api_done(void *context, const struct api_reply *reply);

/** A client of the server at `url`; never NULL. Exits the process if libcurl is not available. */
struct api_client *api_client_new(const char *url);

/** Drops requests in flight. */
void api_client_free(struct api_client *client);

/** Sends a request without waiting; api_client_step() calls `done(context, …)` later. */
void api_send(struct api_client *client, const struct api_request *request, api_done *done,
              void *context);

/** Handles what has arrived, waiting at most `wait_ms` for something. Returns true once `stop_fd`
 *  is readable. */
bool api_client_step(struct api_client *client, int64_t wait_ms, int stop_fd);

/** A member of the answer as text ("" if it is missing, null or not a string), borrowed from it. */
const char *api_text(const struct api_reply *reply, const char *name);

/** A member of the answer as a number, `otherwise` if it is missing, null or not a number. */
double api_number(const struct api_reply *reply, const char *name, double otherwise);

#endif
