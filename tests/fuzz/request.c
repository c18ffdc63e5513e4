/*
 * Requests as nginx hands them over, up to the route. Lines NAME=value, an empty line, and what
 * stands behind it is the body. libfcgi's stream is played here.
 */
#include "fcgi-app/http/request.h"

#include <stdlib.h>
#include <string.h>

#include "fcgi-app/gate/page_address.h"
#include "fcgi-app/router.h"
#include "lib/base/identifier.h"
#include "lib/identity/jwt.h"
#include "tests/fuzz/fuzz.h"

enum { PARAMETERS_MAX = 32, POOLS = 5 };

static struct str unread; /* of the body */

int FCGX_GetStr(char *str, int n, FCGX_Stream *stream)
{
    size_t count = (size_t)n < unread.n ? (size_t)n : unread.n;

    (void)stream;
    if (count > 0) {
        memcpy(str, unread.p, count);
    }
    unread = str_sized(count > 0 ? unread.p + count : unread.p, unread.n - count);
    return (int)count;
}

int FCGX_GetChar(FCGX_Stream *stream)
{
    char c;

    return FCGX_GetStr(&c, 1, stream) == 1 ? (unsigned char)c : -1;
}

int FCGX_GetError(FCGX_Stream *stream)
{
    (void)stream;
    return 0;
}

/* The environment of the request, each line in memory of its own. */
static void read_lines(struct arena *arena, struct str *rest, char *envp[PARAMETERS_MAX + 1])
{
    size_t count = 0;

    while (rest->n > 0 && count < PARAMETERS_MAX) {
        struct str line;
        (void)str_split(*rest, '\n', &line, rest);
        if (line.n == 0) {
            break;
        }
        envp[count++] = arena_copy(arena, line);
    }
    envp[count] = NULL;
}

static void is_within_bounds(const struct request *request)
{
    struct str query;

    REQUIRE(request->path.n >= 1 && request->path.p[0] == '/');
    REQUIRE(request->request_id.n >= 1 && request->request_id.n <= 64);
    REQUIRE(request->traceparent.n == 0 || request->traceparent.n == 55);
    REQUIRE(request->body.n <= BODY_MAX);
    REQUIRE(request->waited_ms >= 0 && request->waited_ms <= 60000);
    REQUIRE(memchr(request->path.p, '\0', request->path.n) == NULL);
    if (request_query(request, STR("limit"), &query)) {
        REQUIRE(query.n <= request->query.n);
    }
    struct str bearer = request_bearer(request);
    REQUIRE(str_equal(str_trim(bearer), bearer));
    struct str address = page_address(request);
    REQUIRE(address.n >= 1 && address.p[0] == '/');
    REQUIRE(address.n == 1 || (address.p[1] != '/' && address.p[1] != '\\'));
    for (size_t i = 0; i < address.n; i++) {
        REQUIRE((unsigned char)address.p[i] >= 0x20 && address.p[i] != 0x7f);
    }
}

/* The path says the same as the route's, with the parameters in their places. */
static void fits(const struct route *route, const struct request *request)
{
    struct str pattern = str_of(route->path);
    struct str path = request->path;
    size_t taken = 0;
    bool more = true;

    while (more) {
        struct str expected;
        struct str segment;
        more = str_split(pattern, '/', &expected, &pattern);
        REQUIRE(str_split(path, '/', &segment, &path) == more);
        if (str_starts(expected, STR("{"))) {
            REQUIRE(str_equal(request->parameters[taken++], segment));
            REQUIRE(segment.n >= 1 && segment.n <= 64);
            REQUIRE(!str_equal(expected, STR("{queue}")) || identifier_is_slug(segment));
        } else {
            REQUIRE(str_equal(expected, segment));
        }
    }
}

/* A problem is JSON, and its head cannot be split. */
static void is_whole_answer(struct response *response)
{
    json_object *problem = jwt_json_object(buffer_text(&response->body), JWT_DEPTH_MAX);

    REQUIRE(response->status == 404 || response->status == 405);
    REQUIRE(problem != NULL);
    REQUIRE(json_object_get_int(json_object_object_get(problem, "status")) == response->status);
    (void)json_object_put(problem);
    struct str headers = buffer_text(&response->headers);
    for (size_t i = 0; i < headers.n; i++) {
        REQUIRE(headers.p[i] != '\r' || (i + 1 < headers.n && headers.p[i + 1] == '\n'));
        REQUIRE(headers.p[i] != '\n' || (i > 0 && headers.p[i - 1] == '\r'));
    }
}

static void goes_somewhere(struct request *request)
{
    static struct response response;

    if (response.body.maximum == 0) {
        response_init(&response);
    }
    for (int pool = 0; pool < POOLS; pool++) {
        response_clear(&response);
        const struct route *route = router_find((enum pool)pool, request, &response);
        if (route != NULL) {
            REQUIRE((route->pools & 1U << pool) != 0);
            REQUIRE(router_number(route) > 0 && router_number(route) < ROUTES_MAX);
            fits(route, request);
        } else {
            is_whole_answer(&response);
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena *arena = fuzz_arena();
    char *envp[PARAMETERS_MAX + 1];
    FCGX_Request fcgi = {.envp = envp};
    struct request request;
    bool too_large;
    const char *why;

    unread = fuzz_text(data, size);
    read_lines(arena, &unread, envp);
    if (request_read(&fcgi, arena, BODY_MAX, &request, &too_large)) {
        is_within_bounds(&request);
        (void)request_json(&request, &why);
        goes_somewhere(&request);
    }
    return 0;
}
