#include "fcgi-app/queue/ticket_cookie.h"

#include "fcgi-app/http/cookie.h"

enum { COOKIE_LIFE_MAX_S = 2 * 3600 };

static const char *name_of(const struct request *request, struct str queue)
{
    return arena_join(request->arena, STR("sluice_ticket-"), queue);
}

struct str ticket_cookie_read(const struct services *services, const struct request *request,
                              struct str queue)
{
    struct str ticket = cookie_read(services, request, name_of(request, queue));

    return ticket.n > 0 ? ticket : request_cookie(request, STR("sluice_ticket"));
}

static void write_cookie(const struct services *services, const struct request *request,
                         struct response *response, struct str queue, struct str ticket,
                         int64_t max_age_s)
{
    cookie_set(services, request, response, name_of(request, queue), ticket, max_age_s);
    if (!cookie_is_secure(services, request)) {
        const char *line = arena_format(
            request->arena,
            "sluice_ticket=%.*s; Path=/v1/queues/%.*s/; Max-Age=%lld; HttpOnly; SameSite=Lax",
            STR_ARG(ticket), STR_ARG(queue), (long long)max_age_s);
        response_header(response, "Set-Cookie", str_of(line));
    }
}

void ticket_cookie_set(const struct services *services, const struct request *request,
                       struct response *response, struct str queue, struct str ticket)
{
    int64_t life_s = services->settings->queue_ticket_ttl_seconds;

    write_cookie(services, request, response, queue, ticket,
                 life_s < COOKIE_LIFE_MAX_S ? life_s : COOKIE_LIFE_MAX_S);
}

void ticket_cookie_clear(const struct services *services, const struct request *request,
                         struct response *response, struct str queue)
{
    write_cookie(services, request, response, queue, str_sized(NULL, 0), 0);
}
