#include "fcgi-app/queue/who_stands.h"

#include "fcgi-app/gate/gate_cache.h"
#include "fcgi-app/http/caller.h"
#include "fcgi-app/http/problem.h"
#include "fcgi-app/http/request_log.h"
#include "fcgi-app/queue/ticket_cookie.h"
#include "lib/base/clock.h"
#include "lib/base/identifier.h"
#include "lib/identity/queue_ticket.h"
#include "lib/identity/visitor.h"

struct asking {
    const struct services *services;
    const struct request *request;
    struct str queue;
    struct caller caller; /* by JWT or visitor cookie */
    bool is_known;        /* caller is filled */
    const char *why_not;  /* a sentence, where it is not */
    struct queue_ticket ticket;
    bool has_ticket; /* ticket is verified and fits */
};

/* Only a login stands against a ticket; a visitor cookie beside it may be of another day. */
static bool ticket_fits(const struct asking *asking, const struct queue_ticket *ticket)
{
    return !asking->is_known || asking->caller.is_visitor ||
           str_equal(asking->caller.id, ticket->subject);
}

/* Fills the ticket where `text` is one that fits. Returns NULL then, else what is wrong with it. */
static const char *take_ticket(struct asking *asking, struct str text)
{
    enum queue_ticket_outcome outcome =
        queue_ticket_verify(asking->services->ticket_keys, text, asking->queue, clock_wall_ms(),
                            asking->request->arena, &asking->ticket);

    if (outcome != QUEUE_TICKET_VALID) {
        return queue_ticket_reason(outcome);
    }
    if (!ticket_fits(asking, &asking->ticket)) {
        return "the queue ticket is another member's";
    }
    asking->has_ticket = true;
    return NULL;
}

/* Returns false, and answers, for a ticket that was sent on purpose and is not good, or that was all there
 * is to go by (`ticket_alone`). */
static bool read_ticket(struct asking *asking, bool ticket_alone, struct response *response)
{
    const struct request *request = asking->request;
    bool by_header = request->queue_ticket.n > 0;
    struct str text = by_header ? request->queue_ticket
                                : ticket_cookie_read(asking->services, request, asking->queue);
    const char *fault = text.n == 0 ? NULL : take_ticket(asking, text);

    if (fault == NULL || (!by_header && !ticket_alone)) {
        return true;
    }
    problem_answer(request, response, PROBLEM_TICKET_INVALID, "The ticket is refused: %s.", fault);
    return false;
}

static struct line_caller *speak_for(const struct asking *asking, struct str id)
{
    struct line_caller *caller = arena_alloc(asking->request->arena, sizeof(*caller));

    *caller =
        (struct line_caller){.queue = asking->queue, .member = id, .by_visitor = visitor_id_is(id)};
    if (asking->has_ticket && str_equal(asking->ticket.subject, id)) {
        caller->has_ticket = true;
        caller->seq = asking->ticket.seq;
        caller->generation = asking->ticket.generation;
        caller->epoch = asking->ticket.epoch;
        caller->incarnation = asking->ticket.incarnation;
        caller->lane = asking->ticket.lane;
    }
    request_log_member(id);
    return caller;
}

/* The waiting page speaks for whoever the site says is logged in, else for the visitor. */
static bool identify_by_site(const struct services *services, const struct request *request,
                             struct caller *caller)
{
    const struct gate_knowledge *known = gate_cache_find(request->parameters[0]);

    /* A login of the site's says nothing in a queue for visitors: whoever logs in keeps the place. */
    if (request->site_member.n == 0 || (known != NULL && known->view.for_visitors)) {
        return caller_identify_visitor(services, request, caller);
    }
    *caller = (struct caller){.id = request->site_member};
    return identifier_is_member(request->site_member);
}

static struct asking ask(const struct services *services, const struct request *request)
{
    struct asking asking = {
        .services = services, .request = request, .queue = request->parameters[0]};

    if (request->from_room) {
        asking.why_not = "Nobody is known by a cookie or a login of the site.";
        asking.is_known = identify_by_site(services, request, &asking.caller);
    } else {
        asking.is_known = caller_identify(services, request, &asking.caller, &asking.why_not);
    }
    return asking;
}

struct line_caller *who_stands(const struct services *services, const struct request *request,
                               struct response *response)
{
    struct asking asking = ask(services, request);

    if (!read_ticket(&asking, !asking.is_known, response)) {
        return NULL;
    }
    if (asking.has_ticket) {
        return speak_for(&asking, asking.ticket.subject);
    }
    if (!asking.is_known) {
        problem_answer(request, response, PROBLEM_UNAUTHENTICATED, "%s", asking.why_not);
        return NULL;
    }
    return speak_for(&asking, asking.caller.id);
}

struct line_caller *who_enters(const struct services *services, const struct request *request,
                               struct response *response)
{
    struct asking asking = ask(services, request);

    if (request->authorization.n > 0 && !asking.is_known) {
        problem_answer(request, response, PROBLEM_UNAUTHENTICATED, "%s", asking.why_not);
        return NULL;
    }
    if (!read_ticket(&asking, false, response)) {
        return NULL;
    }
    if (!asking.is_known || asking.caller.is_visitor) {
        if (asking.has_ticket && visitor_id_is(asking.ticket.subject)) {
            return speak_for(&asking, asking.ticket.subject);
        }
        if (request->queue_ticket.n > 0) {
            problem_answer(request, response, PROBLEM_UNAUTHENTICATED,
                           "A member enters with the login; the ticket alone is not enough.");
            return NULL;
        }
    }
    if (!asking.is_known && request->from_room) {
        problem_answer(request, response, PROBLEM_COOKIES_REQUIRED,
                       "The browser brought no cookie back: allow cookies for this site.");
        return NULL;
    }
    if (asking.is_known) {
        return speak_for(&asking, asking.caller.id);
    }
    caller_new_visitor(services, request, response, &asking.caller);
    struct line_caller *newcomer = speak_for(&asking, asking.caller.id);
    newcomer->is_unproven = true;
    return newcomer;
}
