/*
 * http_client — asks somebody else's server one thing at a time and takes a small answer. TLS with
 * the peer verified, or plain HTTP to this machine alone; a bound on time and size; no redirects.
 * The outcome keeps apart what certainly never reached the server and what may have.
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
    const char *
        url; /* https://…, or http:// to 127.0.0.1, [::1] or localhost; without user and password */
    int64_t connect_timeout_ms; /* ≥ 1 */
    int64_t timeout_ms;         /* ≥ 1, bounds the whole exchange */
    size_t answer_max;          /* bytes, head and body together */
    bool
        fresh; /* each request on a connection of its own: a kept one that the server has closed meanwhile is
                    noticed only by sending, and then the same is sent once more */
    bool
        direct; /* never by way of a proxy that the environment names; to this machine it never is */
};

/** Prepares. Connects when first needed. Returns NULL, with one sentence in `error`, where the
 *  address may not be used. */
struct http_client *http_client_open(const struct http_client_options *options,
                                     char error[HTTP_CLIENT_ERROR]);

/** NULL is allowed. */
void http_client_close(struct http_client *client);

/** True where the client's address is one of this machine. */
bool http_client_is_local(const struct http_client *client);

/** One line of a request's head. What is not printable ASCII is refused. */
struct http_header {
    const char *name;
    struct str value;
};

struct http_request {
    const char *method;                /* "GET" or "POST" */
    struct str path;                   /* put behind the client's url as it is; may be empty */
    const struct http_header *headers; /* at most HTTP_CLIENT_HEADERS_MAX */
    size_t header_count;
    struct str body; /* of a POST; at most HTTP_CLIENT_BODY_MAX */
};

enum http_outcome {
    HTTP_ANSWERED,  /* a whole answer, within the bounds */
    HTTP_NOT_SENT,  /* certainly none of it went to the server */
    HTTP_MAYBE_SENT /* no whole answer; it may have been done or not */
};

struct http_answer {
    enum http_outcome outcome;
    long status;     /* for HTTP_ANSWERED, else 0 */
    const char *why; /* else: why not; borrowed until the next call */
};

/** Sends the request and puts the answer's body into `body`, which is to hold answer_max. Its
 *  copies of the headers are overwritten after use; the body is the caller's. */
struct http_answer http_client_send(struct http_client *client, const struct http_request *request,
                                    struct buffer *body);

/** One field of a form. */
struct http_field {
    const char *name; /* letters, digits, '_', '-' */
    struct str value;
};

/** Appends the fields as application/x-www-form-urlencoded. */
void http_form_write(struct buffer *out, const struct http_field *fields, size_t count);

/** Appends `text` so that it is one segment of a path, or one value of a query: all but
 *  unreserved characters become %XX. */
void http_percent_write(struct buffer *out, struct str text);

#endif
