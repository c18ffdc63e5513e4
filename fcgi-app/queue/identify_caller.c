#include "fcgi-app/queue/identify_caller.h"

#include "fcgi-app/gate/gate_cache.h"
#include "fcgi-app/http/caller.h"
#include "fcgi-app/http/problem.h"
#include "fcgi-app/http/request_log.h"
#include "fcgi-app/queue/ticket_cookie.h"
#include "lib/base/clock.h"
#include "lib/base/identifier.h"
#include "lib/identity/queue_ticket.h"
#include "lib/identity/visitor.h"

struct identification {
    const struct services *services;
    const struct request *request;
    struct str queue;
    struct caller caller; /* by JWT or visitor cookie */
    bool is_known;        /* caller is filled */
    const char *why_not;  /* a sentence, if it is not */
    struct queue_ticket ticket;
    bool has_ticket; /* ticket is verified and matches */
};

/* Only a login contradicts a ticket; a visitor cookie beside it may be older. */
static bool ticket_fits(const struct identification *identification,
                        const struct queue_ticket *ticket)
{
    return !identification->is_known || identification->caller.is_visitor ||
           str_equal(identification->caller.id, ticket->subject);
}

/* Fills the ticket if `text` is one that matches. Returns NULL then, else what is wrong with it. */
static const char *take_ticket(struct identification *identification, struct str text)
{
    enum queue_ticket_outcome outcome = queue_ticket_verify(
        identification->services->ticket_keys, text, identification->queue, clock_wall_ms(),
        identification->request->arena, &identification->ticket);

    if (outcome != QUEUE_TICKET_VALID) {
        return queue_ticket_reason(outcome);
    }
    if (!ticket_fits(identification, &identification->ticket)) {
        return "the queue ticket is another member's";
    }
    identification->has_ticket = true;
    return NULL;
}

/* Returns false, and answers, for an invalid ticket that was sent on purpose, or that is the only
 * identification (`ticket_alone`). */
static bool read_ticket(struct identification *identification, bool ticket_alone,
                        struct response *response)
{
    const struct request *request = identification->request;
    bool by_header = request->queue_ticket.n > 0;
    struct str text =
        by_header ? request->queue_ticket
                  : ticket_cookie_read(identification->services, request, identification->queue);
    const char *fault = text.n == 0 ? NULL : take_ticket(identification, text);

    if (fault == NULL || (!by_header && !ticket_alone)) {
        return true;
    }
    problem_answer(request, response, PROBLEM_TICKET_INVALID, "The ticket is refused: %s.", fault);
    return false;
}

static struct line_caller *new_line_caller(const struct identification *identification,
                                           struct str id)
{
    struct line_caller *caller = arena_alloc(identification->request->arena, sizeof(*caller));

    *caller = (struct line_caller){
        .queue = identification->queue, .member = id, .by_visitor = visitor_id_is(id)};
    if (identification->has_ticket && str_equal(identification->ticket.subject, id)) {
        caller->has_ticket = true;
        caller->seq = identification->ticket.seq;
        caller->generation = identification->ticket.generation;
        caller->epoch = identification->ticket.epoch;
        caller->incarnation = identification->ticket.incarnation;
        caller->lane = identification->ticket.lane;
    }
    request_log_member(id);
    return caller;
}

/* The waiting page acts for the member that the site names, else for the visitor. */
static bool identify_by_site(const struct services *services, const struct request *request,
                             struct caller *caller)
{
    const struct gate_knowledge *known = gate_cache_find(request->parameters[0]);

    /* A login on the site is ignored in a queue for visitors: a visitor who logs in keeps the
     * place. */
    if (request->site_member.n == 0 || (known != NULL && known->view.for_visitors)) {
        return caller_identify_visitor(services, request, caller);
    }
    *caller = (struct caller){.id = request->site_member};
    return identifier_is_member(request->site_member);
}

static struct identification identify(const struct services *services,
                                      const struct request *request)
{
    struct identification identification = {
        .services = services, .request = request, .queue = request->parameters[0]};

    if (request->from_room) {
        identification.why_not =
            "The request has neither a visitor cookie nor a login of the site.";
        identification.is_known = identify_by_site(services, request, &identification.caller);
    } else {
        identification.is_known =
            caller_identify(services, request, &identification.caller, &identification.why_not);
    }
    return identification;
}

struct line_caller *identify_caller(const struct services *services, const struct request *request,
                                    struct response *response)
{
    struct identification identification = identify(services, request);

    if (!read_ticket(&identification, !identification.is_known, response)) {
        return NULL;
    }
    if (identification.has_ticket) {
        return new_line_caller(&identification, identification.ticket.subject);
    }
    if (!identification.is_known) {
        problem_answer(request, response, PROBLEM_UNAUTHENTICATED, "%s", identification.why_not);
        return NULL;
    }
    return new_line_caller(&identification, identification.caller.id);
}

struct line_caller *identify_entrant(const struct services *services, const struct request *request,
                                     struct response *response)
{
    struct identification identification = identify(services, request);

    if (request->authorization.n > 0 && !identification.is_known) {
        problem_answer(request, response, PROBLEM_UNAUTHENTICATED, "%s", identification.why_not);
        return NULL;
    }
    if (!read_ticket(&identification, false, response)) {
        return NULL;
    }
    if (!identification.is_known || identification.caller.is_visitor) {
        if (identification.has_ticket && visitor_id_is(identification.ticket.subject)) {
            return new_line_caller(&identification, identification.ticket.subject);
        }
        if (request->queue_ticket.n > 0) {
            problem_answer(request, response, PROBLEM_UNAUTHENTICATED,
                           "A member enters with the login; the ticket alone is not enough.");
            return NULL;
        }
    }
    if (!identification.is_known && request->from_room) {
        problem_answer(request, response, PROBLEM_COOKIES_REQUIRED,
                       "The browser did not send the cookie back. Allow cookies for this site.");
        return NULL;
    }
    if (identification.is_known) {
        return new_line_caller(&identification, identification.caller.id);
    }
    caller_new_visitor(services, request, response, &identification.caller);
    struct line_caller *newcomer = new_line_caller(&identification, identification.caller.id);
    newcomer->is_unproven = true;
    return newcomer;
}
