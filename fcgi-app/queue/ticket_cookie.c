#include "fcgi-app/queue/ticket_cookie.h"

#include "fcgi-app/http/cookie.h"
#include "lib/base/identifier.h"

enum { TICKETS_MAX = 8, LIFE_AT_TURN_S = 2 * 3600 };

#define NAME_BEGINNING "sluice_ticket-"

static const char *name_of(const struct request *request, struct str queue)
{
    return arena_join(request->arena, STR(NAME_BEGINNING), queue);
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

/* The queue of the next ticket cookie in `*rest` that is not of `queue`. */
static bool next_other(const struct services *services, const struct request *request,
                       struct str queue, struct str *rest, struct str *other)
{
    while (cookie_next_name(services, request, rest, STR(NAME_BEGINNING), other)) {
        if (identifier_is_slug(*other) && !str_equal(*other, queue)) {
            return true;
        }
    }
    return false;
}

/* Browsers send the cookies that were set first in front. */
static void make_room(const struct services *services, const struct request *request,
                      struct response *response, struct str queue)
{
    struct str rest = request->cookies, other;
    int surplus = 1 - TICKETS_MAX;

    while (next_other(services, request, queue, &rest, &other)) {
        surplus++;
    }
    surplus = surplus < TICKETS_MAX ? surplus : TICKETS_MAX;
    rest = request->cookies;
    for (; surplus > 0 && next_other(services, request, queue, &rest, &other); surplus--) {
        cookie_set(services, request, response, name_of(request, other), str_sized(NULL, 0), 0);
    }
}

void ticket_cookie_set(const struct services *services, const struct request *request,
                       struct response *response, struct str queue, struct str ticket,
                       enum line_status status)
{
    int64_t life_s = services->settings->queue_ticket_ttl_seconds;

    if (status == LINE_READY && life_s > LIFE_AT_TURN_S) {
        life_s = LIFE_AT_TURN_S;
    }
    write_cookie(services, request, response, queue, ticket, life_s);
    make_room(services, request, response, queue);
}

void ticket_cookie_shorten(const struct services *services, const struct request *request,
                           struct response *response, struct str queue)
{
    struct str ticket = ticket_cookie_read(services, request, queue);

    if (ticket.n > 0) {
        ticket_cookie_set(services, request, response, queue, ticket, LINE_READY);
    }
}

void ticket_cookie_clear(const struct services *services, const struct request *request,
                         struct response *response, struct str queue)
{
    write_cookie(services, request, response, queue, str_sized(NULL, 0), 0);
}
