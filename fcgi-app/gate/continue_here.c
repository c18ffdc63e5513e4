/*
 * POST /_sluice/continue/{queue} — the button "continue here" without scripts: the place, or a new
 * one, moves to this screen.
 *
 * Reply     303 back to the page of this host that the Referer names, also if there is no place:
 *           that page says why. Sets the ticket cookie.
 * Errors    none: the page says what is wrong
 * Touches   lua/line/enter.lua
 */
#include "fcgi-app/gate/page_address.h"
#include "fcgi-app/pool/line_handler.h"
#include "fcgi-app/queue/identify_caller.h"
#include "fcgi-app/queue/ticket_cookie.h"
#include "fcgi-app/queue/ticket_issue.h"

struct redirect {
    struct line_caller *caller;
    struct str address;
};

static void redirect_to(struct response *response, struct str address)
{
    response->status = 303;
    response_header(response, "Location", address);
}

struct redis_command *continue_here_begin(const struct services *services,
                                          const struct request *request, struct response *response,
                                          void **memory)
{
    struct redirect *redirect = arena_alloc(request->arena, sizeof(*redirect));

    *redirect = (struct redirect){.address = page_address(request),
                                  .caller = identify_entrant(services, request, response)};
    *memory = redirect;
    if (redirect->caller == NULL) {
        response_clear(response);
        redirect_to(response, redirect->address);
        return NULL;
    }
    return line_enter(request->arena, redirect->caller, LINE_TAKE_OVER);
}

void continue_here_finish(const struct services *services, const struct request *request,
                          const redisReply *reply, void *memory, struct response *response)
{
    const struct redirect *redirect = memory;
    struct line_position position;
    enum outcome outcome = line_read_position(reply, &position);

    if (outcome == OUTCOME_ENTERED || outcome == OUTCOME_ALREADY) {
        struct str ticket = ticket_issue(services, request, redirect->caller, &position);
        if (ticket.n > 0) {
            ticket_cookie_set(services, request, response, redirect->caller->queue, ticket,
                              position.status);
        }
    }
    redirect_to(response, redirect->address);
}
