/*
 * POST /_sluice/continue/{queue} — the button "continue here" where there are no scripts: the place, or a new one, is
 * shown on this screen from now on.
 *
 * Reply    303 back to the page of this host that the Referer names, also where the place could not be had: that
 *          page tells why. Sets the ticket cookie.
 * Touches  lua/enter.lua
 */
#include "fcgi-app/gate/page_address.h"
#include "fcgi-app/pool/line_handler.h"
#include "fcgi-app/queue/ticket_cookie.h"
#include "fcgi-app/queue/ticket_issue.h"
#include "fcgi-app/queue/who_stands.h"

struct way_back {
    struct line_caller *caller;
    struct str address;
};

static void go_back(struct response *response, struct str address)
{
    response->status = 303;
    response_header(response, "Location", address);
}

struct redis_command *continue_here_begin(const struct services *services,
                                          const struct request *request, struct response *response,
                                          void **memory)
{
    struct way_back *way = arena_alloc(request->arena, sizeof(*way));

    *way = (struct way_back){.address = page_address(request),
                             .caller = who_enters(services, request, response)};
    *memory = way;
    if (way->caller == NULL) {
        response_clear(response);
        go_back(response, way->address);
        return NULL;
    }
    return line_enter(request->arena, way->caller, LINE_TAKE_OVER);
}

void continue_here_finish(const struct services *services, const struct request *request,
                          const redisReply *reply, void *memory, struct response *response)
{
    const struct way_back *way = memory;
    struct line_position position;
    enum outcome outcome = line_read_position(reply, &position);

    if (outcome == OUTCOME_ENTERED || outcome == OUTCOME_ALREADY) {
        struct str ticket = ticket_issue(services, request, way->caller, &position);
        if (ticket.n > 0) {
            ticket_cookie_set(services, request, response, way->caller->queue, ticket);
        }
    }
    go_back(response, way->address);
}
