/*
 * visit — one request that came to the gate: what nginx tells of it, and whose it is.
 *
 * nginx hands over, besides the cookies: SLUICE_QUEUE (the location's $sluice_queue),
 * SLUICE_METHOD, SLUICE_PATH (decoded and normalised), SLUICE_MEMBER (who is logged in on the site,
 * set inside nginx only), REMOTE_ADDR, and the headers that tell what kind of client it is.
 */
#ifndef SLUICE_GATE_VISIT_H
#define SLUICE_GATE_VISIT_H

#include <stdbool.h>

#include "fcgi-app/gate/client_kind.h"
#include "fcgi-app/gate/gate_cache.h"
#include "fcgi-app/http/request.h"
#include "fcgi-app/http/response.h"
#include "fcgi-app/pool/services.h"
#include "lib/admission/gate.h"
#include "lib/admission/gate_bypass.h"
#include "lib/admission/line.h"
#include "lib/identity/gate_pass.h"
#include "lib/identity/queue_ticket.h"

/** Lives in the request's arena. */
struct visit {
    struct str queue;
    struct str origin; /* header Origin */
    struct gate_bypass_facts facts;
    enum client_kind kind;
    bool is_get;
    bool is_safe;           /* asking again does no harm: GET, HEAD, OPTIONS */
    struct str site_member; /* who is logged in on the site, by nginx's word */

    struct str id;     /* member or visitor id; empty: nobody that we know */
    bool is_new;       /* a visitor id that this request was given */
    bool lacks_cookie; /* a visitor known by pass or ticket alone */
    struct gate_pass pass;
    bool
        has_pass; /* rightly signed, of this queue and of `id`; whether it still counts is judged elsewhere */
    struct queue_ticket ticket;
    bool has_ticket; /* the same of the queue ticket */

    const struct gate_knowledge *known; /* of the queue; NULL: nothing */
    int64_t now_ms;                     /* monotonic */
    int stage;                          /* of the route */
};

/** Reads the request, while it is being begun. NULL where nginx names no queue: it is not
 *  configured rightly. */
struct visit *visit_read(const struct request *request);

/** Finds out whose it is, once `visit->known` is there. In a queue for members that is whom the
 *  site names. In one for visitors a login of the site's says nothing; the pass goes before the
 *  ticket, and that before the visitor cookie, which may be of another day. */
void visit_identify(const struct services *services, const struct request *request,
                    struct visit *visit);

/** Only what the pass tells, which is mostly enough: true where it is one of somebody let in,
 *  and of whoever this is. Then `id`, `pass` and `has_pass` are what visit_identify() finds; of
 *  ticket and visitor cookie nothing is known. Otherwise visit_identify() is to be called. */
bool visit_identify_by_pass(const struct services *services, const struct request *request,
                            struct visit *visit);

/** Gives whoever is unknown a visitor id. `cookie` sets it as a cookie too. */
void visit_make_visitor(const struct services *services, const struct request *request,
                        struct response *response, struct visit *visit, bool cookie);

/** Sets the visitor cookie where it is missing. */
void visit_keep_visitor(const struct services *services, const struct request *request,
                        struct response *response, const struct visit *visit);

/** The caller of a place in line, in the arena. `visit->id` is not empty. */
struct line_caller *visit_line_caller(const struct visit *visit, const struct request *request);

/** The caller of the active set. `visit->id` is not empty. */
struct gate_caller visit_gate_caller(const struct visit *visit);

/** Sets the pass cookie for `admission`. */
void visit_set_pass(const struct services *services, const struct request *request,
                    struct response *response, const struct visit *visit,
                    const struct gate_admission *admission, enum gate_pass_kind kind);

#endif
