/*
 * request — one HTTP request as nginx passes it by FastCGI, validated and split into its parts.
 * Everything in it lives in the request's arena.
 */
#ifndef SLUICE_HTTP_REQUEST_H
#define SLUICE_HTTP_REQUEST_H

#include <stdbool.h>
#include <stdint.h>

#include <fcgiapp.h>
#include <json-c/json.h>

#include "lib/base/arena.h"
#include "lib/base/str.h"

enum method {
    METHOD_GET,
    METHOD_HEAD,
    METHOD_POST,
    METHOD_PUT,
    METHOD_PATCH,
    METHOD_DELETE,
    METHOD_OTHER
};

enum { PATH_PARAMETERS = 3, BODY_MAX = 64 * 1024, OPERATOR_BODY_MAX = 16 * 1024 * 1024 };

struct request {
    struct arena *arena;
    enum method method;
    struct str path;  /* percent-decoded, without the query; always begins with '/' */
    struct str query; /* as sent, without '?' */
    struct str parameters[PATH_PARAMETERS]; /* the values of {…} in the route's path, in order */
    struct str body;
    struct str request_id;    /* from nginx; generated if it is missing */
    struct str traceparent;   /* empty unless valid (W3C Trace Context) */
    struct str authorization; /* header values as sent, empty if missing */
    struct str queue_ticket;
    struct str entry_token;
    struct str idempotency_key;
    struct str cookies;
    struct str accept_language;
    struct str if_none_match;
    /* SLUICE_MEMBER: the member logged in on the site behind the gate, from nginx. */
    struct str site_member;
    /* How long it waited for the pool since nginx sent it, by nginx' clock; 0: unknown. */
    int64_t waited_ms;
    int64_t arrived_ms; /* when that was, monotonic */
    bool https;
    bool from_room; /* SLUICE_ROOM: sent by the waiting page, under /_sluice/ */
    /* NAME=value, NULL-terminated; not in the arena, for request_parameters(). */
    char **raw_parameters;
};

/** A FastCGI parameter that only some routes read, and its destination. */
struct request_parameter {
    struct str name;
    struct str *into; /* left alone if the parameter is missing or empty */
    size_t maximum;   /* bytes */
};

/** Copies the wanted parameters into the request's arena; of several with one name the first
 *  counts. To be called only while the request begins. Returns false if one is too long, which is
 *  then left out. */
bool request_parameters(const struct request *request, const struct request_parameter *wanted,
                        size_t count);

/** Reads the parameters and the body of an accepted FastCGI request. Returns false if the request
 *  exceeds its bounds: `*too_large` distinguishes a body over `body_max` from other faults. */
bool request_read(FCGX_Request *fcgi, struct arena *arena, size_t body_max, struct request *request,
                  bool *too_large);

/** The value of the cookie `name`, empty if it is missing. Of several the first counts. */
struct str request_cookie(const struct request *request, struct str name);

/** The next value of the cookie `name` in `*rest`, which starts as request->cookies and is
 *  advanced. Returns false if there is none. */
bool request_next_cookie(struct str *rest, struct str name, struct str *value);

/** The token of "Authorization: Bearer …" (the scheme in any case), else empty. */
struct str request_bearer(const struct request *request);

/** The percent-decoded value of the query parameter `name`, undecoded if it is badly encoded;
 *  returns false if it is missing. */
bool request_query(const struct request *request, struct str name, struct str *value);

/** The body as a JSON object, released with the arena. Strict: UTF-8, depth ≤ 16, nothing after it.
 *  Returns NULL if it is invalid; `*why` then says so in one sentence. An empty body gives an empty
 *  object. */
json_object *request_json(const struct request *request, const char **why);

#endif
