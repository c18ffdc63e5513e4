/*
 * http_client — a blocking client of third-party servers: one request at a time, a small response.
 * TLS with the peer verified, or plain HTTP to this machine alone; bounded time and size; no
 * redirects. The outcome distinguishes a request that certainly never reached the server from one
 * that may have.
 */
#ifndef SLUICE_HTTP_CLIENT_HTTP_CLIENT_H
#define SLUICE_HTTP_CLIENT_HTTP_CLIENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/buffer.h"
#include "lib/base/str.h"

enum {
    HTTP_CLIENT_ERROR = 512,
    HTTP_CLIENT_BODY_MAX = 64 * 1024, /* of a request */
    HTTP_CLIENT_HEADERS_MAX = 8
};

struct http_client;

struct http_client_options {
    /* https://…, or http:// to 127.0.0.1, [::1] or localhost; without user and password */
    const char *url;
    int64_t connect_timeout_ms; /* ≥ 1 */
    int64_t timeout_ms;         /* ≥ 1, bounds the whole exchange */
    size_t answer_max;          /* bytes, head and body together */
    /* Each request uses a new connection: that the server has closed a kept one shows only when
     * sending, and the same request would then be sent twice. */
    bool fresh;
    /* Ignores the proxies that the environment names; they are never used for this machine. */
    bool direct;
};

/** Creates a client; it connects when first used. Returns NULL, with one sentence in `error`, if
 *  the URL is not allowed. */
struct http_client *http_client_open(const struct http_client_options *options,
                                     char error[HTTP_CLIENT_ERROR]);

/** NULL is allowed. */
void http_client_close(struct http_client *client);

/** True if the client's URL is on this machine. */
bool http_client_is_local(const struct http_client *client);

/** One request header. A value that is not printable ASCII is refused. */
struct http_header {
    const char *name;
    struct str value;
};

struct http_request {
    const char *method;                /* "GET" or "POST" */
    struct str path;                   /* appended to the client's url unchanged; may be empty */
    const struct http_header *headers; /* at most HTTP_CLIENT_HEADERS_MAX */
    size_t header_count;
    struct str body; /* of a POST; at most HTTP_CLIENT_BODY_MAX */
};

enum http_outcome {
    HTTP_ANSWERED,  /* a complete response within the bounds */
    HTTP_NOT_SENT,  /* certainly nothing reached the server */
    HTTP_MAYBE_SENT /* no complete response; the request may or may not have been executed */
};

struct http_answer {
    enum http_outcome outcome;
    long status;     /* for HTTP_ANSWERED, else 0 */
    const char *why; /* else the reason; borrowed until the next call */
};

/** Sends the request and appends the response's body to `body`, whose maximum must be at least
 *  answer_max. Internal copies of the headers are wiped after use; the body is the caller's. */
struct http_answer http_client_send(struct http_client *client, const struct http_request *request,
                                    struct buffer *body);

/** One field of a form. */
struct http_field {
    const char *name; /* letters, digits, '_', '-' */
    struct str value;
};

/** Appends the fields as application/x-www-form-urlencoded. */
void http_form_write(struct buffer *out, const struct http_field *fields, size_t count);

/** Appends `text` percent-encoded, as one path segment or query value: all but unreserved
 *  characters become %XX. */
void http_percent_write(struct buffer *out, struct str text);

#endif
