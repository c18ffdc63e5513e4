#include "fcgi-app/queue/ticket_cookie.h"

static bool is_secure(const struct services *services, const struct request *request)
{
    return request->https || services->settings->cookie_secure;
}

static struct str host_name(const struct request *request, struct str queue)
{
    return str_of(arena_format(request->arena, "__Host-sluice_ticket-%.*s", STR_ARG(queue)));
}

struct str ticket_cookie_read(const struct services *services, const struct request *request,
                              struct str queue)
{
    struct str ticket = {0};

    if (request->cookies.n > 0 && is_secure(services, request)) {
        ticket = request_cookie(request, host_name(request, queue));
    }
    return ticket.n > 0 ? ticket : request_cookie(request, STR("sluice_ticket"));
}

static void write_cookie(const struct services *services, const struct request *request,
                         struct response *response, struct str queue, struct str ticket,
                         int64_t max_age_s)
{
    const char *line;

    if (is_secure(services, request)) {
        line = arena_format(
            request->arena, "%.*s=%.*s; Path=/; Max-Age=%lld; HttpOnly; SameSite=Lax; Secure",
            STR_ARG(host_name(request, queue)), STR_ARG(ticket), (long long)max_age_s);
    } else {
        line = arena_format(
            request->arena,
            "sluice_ticket=%.*s; Path=/v1/queues/%.*s/; Max-Age=%lld; HttpOnly; SameSite=Lax",
            STR_ARG(ticket), STR_ARG(queue), (long long)max_age_s);
    }
    response_header(response, "Set-Cookie", str_of(line));
}

void ticket_cookie_set(const struct services *services, const struct request *request,
                       struct response *response, struct str queue, struct str ticket)
{
    write_cookie(services, request, response, queue, ticket,
                 services->settings->queue_ticket_ttl_seconds);
}

void ticket_cookie_clear(const struct services *services, const struct request *request,
                         struct response *response, struct str queue)
{
    write_cookie(services, request, response, queue, str_sized(NULL, 0), 0);
}
