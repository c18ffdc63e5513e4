#include "fcgi-app/router.h"

#include "fcgi-app/http/problem.h"
#include "fcgi-app/machine/readyz_line.h"
#include "lib/base/identifier.h"

enum { SEGMENT_MAX = 64 };

enum {
    IN_QUEUE = 1U << POOL_QUEUE,
    IN_ORDER = 1U << POOL_ORDER,
    IN_OPERATOR = 1U << POOL_OPERATOR,
    IN_CATALOG = 1U << POOL_CATALOG,
    IN_PAYMENT = 1U << POOL_PAYMENT,
    IN_ANY = IN_QUEUE | IN_ORDER | IN_OPERATOR | IN_CATALOG | IN_PAYMENT
};

static const struct route ROUTES[] = {
#define LINE_ROUTE(verb, pattern, name, summary)                                                   \
    {.pools = IN_QUEUE,                                                                            \
     .method = METHOD_##verb,                                                                      \
     .path = (pattern),                                                                            \
     .begin = name##_begin,                                                                        \
     .finish = name##_finish},
#define ROUTE(pool, verb, pattern, name, summary)                                                  \
    {.pools = IN_##pool, .method = METHOD_##verb, .path = (pattern), .handler = (name)},
#define TRANSACTION_ROUTE(verb, pattern, name, summary)                                            \
    {.pools = IN_ORDER,                                                                            \
     .method = METHOD_##verb,                                                                      \
     .path = (pattern),                                                                            \
     .transaction_begin = name##_begin,                                                            \
     .transaction_end = name##_end},
#include "fcgi-app/routes.tbl"
#undef TRANSACTION_ROUTE
#undef ROUTE
#undef LINE_ROUTE
};

/* readyz has a second form in the queue pool, which calls Redis asynchronously. */
static const struct route READYZ_OF_QUEUE_POOL = {
    .pools = IN_QUEUE,
    .method = METHOD_GET,
    .path = "/readyz",
    .begin = readyz_line_begin,
    .finish = readyz_line_finish,
};

/* After those of the table: 0 stands for none, the last number for the route above. */
_Static_assert(sizeof(ROUTES) / sizeof(ROUTES[0]) + 2 <= ROUTES_MAX, "every route has a number");

size_t router_number(const struct route *route)
{
    if (route == NULL) {
        return 0;
    }
    return route == &READYZ_OF_QUEUE_POOL ? sizeof(ROUTES) / sizeof(ROUTES[0]) + 1
                                          : (size_t)(route - ROUTES) + 1;
}

static bool parameter_fits(struct str name, struct str value)
{
    if (str_equal(name, STR("{queue}")) || str_equal(name, STR("{sku}")) ||
        str_equal(name, STR("{event}")) || str_equal(name, STR("{concert}")) ||
        str_equal(name, STR("{show}"))) {
        return identifier_is_slug(value);
    }
    return value.n >= 1 && value.n <= SEGMENT_MAX;
}

/* Compares segment by segment and keeps the values of {…}. */
static bool path_matches(struct str pattern, struct str path,
                         struct str parameters[PATH_PARAMETERS])
{
    size_t filled = 0;
    bool more_pattern, more_path;

    do {
        struct str expected, segment;
        more_pattern = str_split(pattern, '/', &expected, &pattern);
        more_path = str_split(path, '/', &segment, &path);
        if (more_pattern != more_path) {
            return false;
        }
        if (!str_starts(expected, STR("{"))) {
            if (!str_equal(expected, segment)) {
                return false;
            }
        } else if (filled == PATH_PARAMETERS || !parameter_fits(expected, segment)) {
            return false;
        } else {
            parameters[filled++] = segment;
        }
    } while (more_path);
    return true;
}

static void answer_method_not_allowed(const struct request *request, struct response *response,
                                      unsigned int methods)
{
    static const char *const NAMES[] = {
        [METHOD_GET] = "GET, HEAD", [METHOD_POST] = "POST",     [METHOD_PUT] = "PUT",
        [METHOD_PATCH] = "PATCH",   [METHOD_DELETE] = "DELETE",
    };
    struct buffer allowed;

    buffer_init(&allowed, 128);
    for (size_t i = 0; i < sizeof(NAMES) / sizeof(NAMES[0]); i++) {
        if ((methods & 1U << i) != 0 && NAMES[i] != NULL) {
            buffer_format(&allowed, "%s%s", allowed.length == 0 ? "" : ", ", NAMES[i]);
        }
    }
    struct str list = buffer_text(&allowed);
    problem_answer(request, response, PROBLEM_METHOD_NOT_ALLOWED, "Allowed here: %.*s.",
                   STR_ARG(list));
    response_header(response, "Allow", list);
    buffer_free(&allowed);
}

const struct route *router_find(enum pool pool, struct request *request, struct response *response)
{
    enum method method = request->method == METHOD_HEAD ? METHOD_GET : request->method;
    unsigned int other_methods = 0;

    for (size_t i = 0; i < sizeof(ROUTES) / sizeof(ROUTES[0]); i++) {
        const struct route *route = &ROUTES[i];
        if ((route->pools & 1U << pool) == 0 ||
            !path_matches(str_of(route->path), request->path, request->parameters)) {
            continue;
        }
        if (route->method == method) {
            return pool == POOL_QUEUE && route->handler == readyz ? &READYZ_OF_QUEUE_POOL : route;
        }
        other_methods |= 1U << route->method;
    }
    if (other_methods != 0) {
        answer_method_not_allowed(request, response, other_methods);
    } else {
        problem_answer(request, response, PROBLEM_NOT_FOUND, "There is nothing at this address.");
    }
    return NULL;
}
