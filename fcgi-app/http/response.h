/*
 * response — the answer to one request, collected and then sent in one piece.
 */
#ifndef SLUICE_HTTP_RESPONSE_H
#define SLUICE_HTTP_RESPONSE_H

#include <stdbool.h>
#include <stdint.h>

#include <fcgiapp.h>
#include <json-c/json.h>

#include "lib/base/buffer.h"
#include "lib/base/str.h"
#include "lib/store/redis_command.h"

enum { RESPONSE_MAX = 32 * 1024 * 1024 };

struct line_query;
struct problem_row;

struct response {
    int status;            /* 200 unless set */
    struct buffer headers; /* complete lines, each with its CRLF */
    struct buffer body;
    const char *content_type;  /* NULL: no body */
    const char *cache_control; /* "no-store" unless set */
    /* What the answer reports, also as a page; NULL: no problem. Set by problem.h. */
    const struct problem_row *problem;
    struct redis_command
        *follow_up; /* queue pool: finish needs this reply too and is called once more with it */
    struct line_query
        *query; /* queue pool: begin sets this instead of returning a command, see line_handler.h */
};

/** An empty response of status 200. Memory is kept between requests by response_clear(). */
void response_init(struct response *response);
void response_clear(struct response *response);
void response_free(struct response *response);

/** Adds a header line. A value with control characters is dropped: no header can be split. */
void response_header(struct response *response, const char *name, struct str value);

/** Marks the body as JSON and sets the status; the caller writes it into response->body. */
void response_json(struct response *response, int status);

/** Writes `object` as the JSON body. The caller keeps ownership. */
void response_json_object(struct response *response, int status, json_object *object);

/** Appends the complete answer in CGI format, with X-Request-Id; `head` omits the body. `out` must
 *  hold RESPONSE_MAX bytes. */
void response_format(const struct response *response, struct str request_id, bool head,
                     struct buffer *out);

/** Passes it to libfcgi. */
void response_send(const struct response *response, struct str request_id, bool head,
                   FCGX_Request *fcgi);

#endif
