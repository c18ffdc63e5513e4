/*
 * api_client — many HTTP requests to one Sluice at once, in one thread, over kept connections.
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

/** An answer, borrowed for the length of the call. */
struct api_reply {
    long status;            /* 0: no answer came */
    json_object *body;      /* NULL where there is none or it is no JSON */
    const char *code;       /* of a problem+json, else "" */
    int64_t retry_after_ms; /* -1 without Retry-After */
};

/** Called once for each request, unless the client is freed before. New requests may be sent
 *  from it. */
typedef void api_done(void *context, const struct api_reply *reply);

/** A client of the server at `url`; never NULL. Ends the process where libcurl cannot be had. */
struct api_client *api_client_new(const char *url);

/** Drops what is still under way. */
void api_client_free(struct api_client *client);

/** Sends a request and returns at once; `done(context, …)` follows out of api_client_step(). */
void api_send(struct api_client *client, const struct api_request *request, api_done *done,
              void *context);

/** Handles what has come in, waiting at most `wait_ms` for something to come. Returns true once
 *  `stop_fd` can be read. */
bool api_client_step(struct api_client *client, int64_t wait_ms, int stop_fd);

/** A member of the answer as text ("" where it is missing, null or not a string), borrowed from
 *  it. */
const char *api_text(const struct api_reply *reply, const char *name);

/** A member of the answer as a number, `otherwise` where it is missing, null or not a number. */
double api_number(const struct api_reply *reply, const char *name, double otherwise);

#endif
