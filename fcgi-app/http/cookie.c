#include "fcgi-app/http/cookie.h"

enum { LOOKS_MAX = 4 };

bool cookie_is_secure(const struct services *services, const struct request *request)
{
    return request->https || services->settings->cookie_secure;
}

static const char *prefix_of(const struct services *services, const struct request *request)
{
    return cookie_is_secure(services, request) ? "__Host-" : "";
}

static struct str full_name(const struct services *services, const struct request *request,
                            const char *name)
{
    return str_of(arena_join(request->arena, str_of(prefix_of(services, request)), str_of(name)));
}

struct str cookie_read(const struct services *services, const struct request *request,
                       const char *name)
{
    if (request->cookies.n == 0) {
        return str_sized(NULL, 0);
    }
    return request_cookie(request, full_name(services, request, name));
}

bool cookie_find(const struct services *services, const struct request *request, const char *name,
                 cookie_judge *judge, void *context)
{
    struct str full = full_name(services, request, name);
    struct str rest = request->cookies, value;

    for (int looks = 0; looks < LOOKS_MAX && request_next_cookie(&rest, full, &value); looks++) {
        if (judge(value, context)) {
            return true;
        }
    }
    return false;
}

bool cookie_next_name(const struct services *services, const struct request *request,
                      struct str *rest, struct str beginning, struct str *remainder)
{
    struct str prefix = str_of(prefix_of(services, request));

    while (rest->n > 0) {
        struct str pair, name, value;
        (void)str_split(*rest, ';', &pair, rest);
        if (!str_split(str_trim(pair), '=', &name, &value) || !str_starts(name, prefix)) {
            continue;
        }
        name = str_sized(name.p + prefix.n, name.n - prefix.n);
        if (str_starts(name, beginning)) {
            *remainder = str_sized(name.p + beginning.n, name.n - beginning.n);
            return true;
        }
    }
    return false;
}

static const char *same_site(const struct services *services, const struct request *request)
{
    if (!cookie_is_secure(services, request)) {
        return "SameSite=Lax";
    }
    return str_equal(str_of(services->settings->cookie_same_site), STR("none"))
               ? "Secure; SameSite=None; Partitioned"
               : "Secure; SameSite=Lax";
}

void cookie_set(const struct services *services, const struct request *request,
                struct response *response, const char *name, struct str value, int64_t max_age_s)
{
    const char *line = arena_format(request->arena, "%s%s=%.*s; Path=/; Max-Age=%lld; HttpOnly; %s",
                                    prefix_of(services, request), name, STR_ARG(value),
                                    (long long)max_age_s, same_site(services, request));

    response_header(response, "Set-Cookie", str_of(line));
}
