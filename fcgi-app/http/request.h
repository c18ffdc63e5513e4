/*
 * request — one HTTP request as nginx hands it over by FastCGI, checked and cut to pieces.
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
    struct str parameters[PATH_PARAMETERS]; /* what stands for {…} in the route's path, in order */
    struct str body;
    struct str request_id;    /* from nginx; made here where it is missing */
    struct str traceparent;   /* empty unless valid (W3C Trace Context) */
    struct str authorization; /* header values as sent, empty where missing */
    struct str queue_ticket;
    struct str entry_token;
    struct str idempotency_key;
    struct str cookies;
    struct str accept_language;
    struct str if_none_match;
    struct str
        site_member; /* SLUICE_MEMBER: who is logged in on the site behind the gate, by nginx's word */
    int64_t
        waited_ms; /* in front of the pool since nginx has sent it, by its clock; 0 where it does not say */
    int64_t arrived_ms; /* when that was, monotonic */
    bool https;
    bool from_room; /* SLUICE_ROOM: the waiting page asks, under /_sluice/ */
    char **
        raw_parameters; /* NAME=value, NULL at the end; not in the arena, for request_parameters() */
};

/** A FastCGI parameter that only some routes read, and where it goes. */
struct request_parameter {
    struct str name;
    struct str *into; /* left alone where the parameter is missing or empty */
    size_t maximum;   /* bytes */
};

/** Copies the wanted parameters into the request's arena; of several of one name the first
 *  counts. Only while the request is being begun. Returns false where one is too long, which is
 *  then left out. */
bool request_parameters(const struct request *request, const struct request_parameter *wanted,
                        size_t count);

/** Reads the parameters and the body of an accepted FastCGI request. Returns false where the
 *  request is beyond its bounds: `*too_large` tells a body over `body_max` from other faults. */
bool request_read(FCGX_Request *fcgi, struct arena *arena, size_t body_max, struct request *request,
                  bool *too_large);

/** The value of the cookie `name`, empty where it is missing. Of several the first counts. */
struct str request_cookie(const struct request *request, struct str name);

/** The next value of the cookie `name` in `*rest`, which begins as request->cookies and gets
 *  what is behind it. Returns false where there is none. */
bool request_next_cookie(struct str *rest, struct str name, struct str *value);

/** The token of "Authorization: Bearer …" (the scheme in any case), empty where it is something
 *  else. */
struct str request_bearer(const struct request *request);

/** The percent-decoded value of the query parameter `name`, as it was sent where it is badly
 *  encoded; returns false where it is missing. */
bool request_query(const struct request *request, struct str name, struct str *value);

/** The body as a JSON object, released with the arena. Strict: UTF-8, depth ≤ 16, nothing behind
 *  it. Returns NULL where it is none; `*why` then says so in one sentence. An empty body gives
 *  an empty object. */
json_object *request_json(const struct request *request, const char **why);

#endif
