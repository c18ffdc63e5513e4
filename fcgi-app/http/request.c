#include "fcgi-app/http/request.h"

#include <stdint.h>
#include <string.h>
#include <strings.h>

#include "fcgi-app/http/percent.h"
#include "lib/base/clock.h"
#include "lib/base/random.h"

enum {
    URI_MAX = 8 * 1024,
    HEADER_MAX = 8 * 1024,
    COOKIES_MAX = 32 * 1024,
    REQUEST_ID_MAX = 64,
    WAITED_MOST_MS = 20000 /* nginx has long timed out then, so the clocks disagree */
};

enum { TRACEPARENT_LENGTH = 55 };

/* Values read before they are checked. */
struct raw_parameters {
    struct str method;
    struct str uri;
    struct str content_length;
    struct str https;
    struct str request_id;
    struct str traceparent;
    struct str room;
    struct str at;
};

/* Names of one length differ mostly in their last character, which is compared first. */
static bool is_named(struct str name, struct str wanted)
{
    return name.n == wanted.n && name.n > 0 && name.p[name.n - 1] == wanted.p[name.n - 1] &&
           memcmp(name.p, wanted.p, name.n) == 0;
}

bool request_parameters(const struct request *request, const struct request_parameter *wanted,
                        size_t count)
{
    bool fits = true; /* the rest is read anyway: the answer needs the request's id */

    for (char **line = request->raw_parameters; line != NULL && *line != NULL; line++) {
        struct str name, value;
        if (!str_split(str_of(*line), '=', &name, &value)) {
            continue;
        }
        for (size_t i = 0; i < count; i++) {
            if (!is_named(name, wanted[i].name)) {
                continue;
            }
            if (value.n > wanted[i].maximum) {
                fits = false;
            } else if (wanted[i].into->n == 0 && value.n > 0) {
                *wanted[i].into = str_sized(arena_copy(request->arena, value), value.n);
            }
            break;
        }
    }
    return fits;
}

static bool read_parameters(struct request *request, struct raw_parameters *raw)
{
    const struct request_parameter wanted[] = {
        {STR("REQUEST_METHOD"), &raw->method, HEADER_MAX},
        {STR("REQUEST_URI"), &raw->uri, URI_MAX},
        {STR("CONTENT_LENGTH"), &raw->content_length, 32},
        {STR("HTTPS"), &raw->https, 16},
        {STR("REQUEST_ID"), &raw->request_id, HEADER_MAX},
        /* An invalid trace is ignored, up to the length that nginx accepts. */
        {STR("HTTP_TRACEPARENT"), &raw->traceparent, COOKIES_MAX},
        {STR("HTTP_AUTHORIZATION"), &request->authorization, HEADER_MAX + 16},
        {STR("HTTP_X_QUEUE_TICKET"), &request->queue_ticket, HEADER_MAX},
        {STR("HTTP_X_ENTRY_TOKEN"), &request->entry_token, HEADER_MAX},
        {STR("HTTP_IDEMPOTENCY_KEY"), &request->idempotency_key, HEADER_MAX},
        {STR("HTTP_COOKIE"), &request->cookies, COOKIES_MAX},
        {STR("HTTP_ACCEPT_LANGUAGE"), &request->accept_language, COOKIES_MAX},
        {STR("HTTP_IF_NONE_MATCH"), &request->if_none_match, HEADER_MAX},
        {STR("SLUICE_MEMBER"), &request->site_member, HEADER_MAX},
        {STR("SLUICE_ROOM"), &raw->room, 16},
        {STR("REQUEST_AT"), &raw->at, 32},
    };

    return request_parameters(request, wanted, sizeof(wanted) / sizeof(wanted[0]));
}

/* How long ago nginx sent it, by its $msec ("1700000000.123"); 0 if the clocks disagree. */
static int64_t waited_ms(struct str at)
{
    struct str seconds;
    struct str fraction;
    int64_t whole = 0;
    int64_t ms = 0;

    if (!str_split(at, '.', &seconds, &fraction) || fraction.n != 3 ||
        !str_to_int64(seconds, 0, INT32_MAX * INT64_C(100), &whole) ||
        !str_to_int64(fraction, 0, 999, &ms)) {
        return 0;
    }
    int64_t waited = clock_wall_ms() - whole * 1000 - ms;
    return waited > 0 && waited <= WAITED_MOST_MS ? waited : 0;
}

static enum method method_of(struct str name)
{
    static const struct {
        struct str name;
        enum method method;
    } methods[] = {
        {{"GET", 3}, METHOD_GET},   {{"POST", 4}, METHOD_POST}, {{"DELETE", 6}, METHOD_DELETE},
        {{"HEAD", 4}, METHOD_HEAD}, {{"PUT", 3}, METHOD_PUT},   {{"PATCH", 5}, METHOD_PATCH},
    };

    for (size_t i = 0; i < sizeof(methods) / sizeof(methods[0]); i++) {
        if (str_equal(name, methods[i].name)) {
            return methods[i].method;
        }
    }
    return METHOD_OTHER;
}

static bool request_id_is_fit(struct str id)
{
    for (size_t i = 0; i < id.n; i++) {
        char c = id.p[i];
        if (!((c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ||
              c == '-')) {
            return false;
        }
    }
    return id.n >= 1 && id.n <= REQUEST_ID_MAX;
}

static struct str make_request_id(struct arena *arena)
{
    unsigned char bytes[16];

    random_bytes(bytes, sizeof(bytes));
    char *text = arena_alloc(arena, 2 * sizeof(bytes) + 1);
    for (size_t i = 0; i < sizeof(bytes); i++) {
        text[2 * i] = "0123456789abcdef"[bytes[i] >> 4];
        text[2 * i + 1] = "0123456789abcdef"[bytes[i] & 15];
    }
    return str_sized(text, 2 * sizeof(bytes));
}

/* `n` lower-case hex digits at `p`, not all zero unless `zero_is_fit`. */
static bool is_hex(const char *p, size_t n, bool zero_is_fit)
{
    bool zero = true;

    for (size_t i = 0; i < n; i++) {
        if (!((p[i] >= '0' && p[i] <= '9') || (p[i] >= 'a' && p[i] <= 'f'))) {
            return false;
        }
        zero = zero && p[i] == '0';
    }
    return zero_is_fit || !zero;
}

static bool traceparent_is_fit(struct str t)
{
    return t.n == TRACEPARENT_LENGTH && t.p[2] == '-' && t.p[35] == '-' && t.p[52] == '-' &&
           is_hex(t.p, 2, true) && !str_starts(t, STR("ff")) && is_hex(t.p + 3, 32, false) &&
           is_hex(t.p + 36, 16, false) && is_hex(t.p + 53, 2, true);
}

/* Reads exactly the announced bytes and the end after them, so that a kept connection is clean. */
static bool read_body(FCGX_Request *fcgi, struct request *request, struct str content_length,
                      size_t body_max, bool *too_large)
{
    int64_t length = 0;

    if (content_length.n > 0 && !str_to_int64(content_length, 0, INT64_MAX, &length)) {
        return false;
    }
    if ((uint64_t)length > body_max) {
        *too_large = true;
        return false;
    }
    if (length > 0) {
        char *body = arena_alloc(request->arena, (size_t)length + 1);
        if (FCGX_GetStr(body, (int)length, fcgi->in) != (int)length) {
            return false;
        }
        request->body = str_sized(body, (size_t)length);
    }
    return FCGX_GetChar(fcgi->in) == -1 && FCGX_GetError(fcgi->in) == 0;
}

bool request_read(FCGX_Request *fcgi, struct arena *arena, size_t body_max, struct request *request,
                  bool *too_large)
{
    struct raw_parameters raw = {0};

    *request = (struct request){.arena = arena, .path = STR("/"), .raw_parameters = fcgi->envp};
    *too_large = false;
    bool within_bounds = read_parameters(request, &raw);
    request->method = method_of(raw.method);
    request->https = str_equal(raw.https, STR("on"));
    request->from_room = str_equal(raw.room, STR("1"));
    request->waited_ms = waited_ms(raw.at);
    request->request_id =
        request_id_is_fit(raw.request_id) ? raw.request_id : make_request_id(arena);
    if (traceparent_is_fit(raw.traceparent)) {
        request->traceparent = raw.traceparent;
    }
    if (!within_bounds || !read_body(fcgi, request, raw.content_length, body_max, too_large)) {
        return false;
    }
    struct str path;
    (void)str_split(raw.uri, '?', &path, &request->query);
    return path.n > 0 && path.p[0] == '/' && percent_decode(arena, path, true, &request->path);
}

bool request_next_cookie(struct str *rest, struct str name, struct str *value)
{
    while (rest->n > 0) {
        struct str pair, found;
        (void)str_split(*rest, ';', &pair, rest);
        if (str_split(str_trim(pair), '=', &found, value) && str_equal(found, name)) {
            return true;
        }
    }
    return false;
}

struct str request_cookie(const struct request *request, struct str name)
{
    struct str rest = request->cookies, value;

    return request_next_cookie(&rest, name, &value) ? value : str_sized(NULL, 0);
}

struct str request_bearer(const struct request *request)
{
    struct str scheme, token;

    if (str_split(request->authorization, ' ', &scheme, &token) && scheme.n == strlen("Bearer") &&
        strncasecmp(scheme.p, "Bearer", scheme.n) == 0) {
        return str_trim(token);
    }
    return str_sized(NULL, 0);
}

bool request_query(const struct request *request, struct str name, struct str *value)
{
    struct str rest = request->query;

    while (rest.n > 0) {
        struct str pair, found, encoded;
        (void)str_split(rest, '&', &pair, &rest);
        (void)str_split(pair, '=', &found, &encoded);
        if (str_equal(found, name)) {
            /* A badly encoded value is valid for no route, but it was given. */
            if (!percent_decode(request->arena, encoded, false, value)) {
                *value = encoded;
            }
            return true;
        }
    }
    return false;
}
