/*
 * visit — one request at the gate: what nginx reports of it, and whose it is.
 *
 * nginx passes, besides the cookies: SLUICE_QUEUE (the location's $sluice_queue),
 * SLUICE_METHOD, SLUICE_PATH (decoded and normalised), SLUICE_MEMBER (the member logged in on the
 * site, set inside nginx only), REMOTE_ADDR, and the headers that show the kind of client.
 */
#ifndef SLUICE_GATE_VISIT_H
#define SLUICE_GATE_VISIT_H

#include <stdbool.h>

#include "fcgi-app/gate/client_kind.h"
#include "fcgi-app/gate/gate_cache.h"
#include "fcgi-app/http/request.h"
#include "fcgi-app/http/response.h"
#include "fcgi-app/pool/services.h"
#include "lib/admission/gate/gate.h"
#include "lib/admission/gate/gate_bypass.h"
#include "lib/admission/line/line.h"
#include "lib/identity/gate_pass.h"
#include "lib/identity/queue_ticket.h"

/** Lives in the request's arena. */
struct visit {
    struct str queue;
    struct str origin; /* header Origin */
    struct gate_bypass_facts facts;
    enum client_kind kind;
    bool is_get;
    bool is_safe;           /* may be repeated without harm: GET, HEAD, OPTIONS */
    struct str site_member; /* the member logged in on the site, as nginx reports */

    struct str id;     /* member or visitor id; empty: unknown */
    bool is_new;       /* a visitor id created for this request */
    bool lacks_cookie; /* a visitor known by pass or ticket alone */
    struct gate_pass pass;
    /* Correctly signed, of this queue and of `id`; whether it is still in force is judged
     * elsewhere. */
    bool has_pass;
    struct queue_ticket ticket;
    bool has_ticket; /* the same of the queue ticket */

    const struct gate_knowledge *known; /* the queue's entry of the gate cache, or NULL */
    int64_t now_ms;                     /* monotonic */
    int stage;                          /* of the route */
};

/** Reads the request, while it begins. NULL if nginx names no queue, i.e. is misconfigured. */
struct visit *visit_read(const struct request *request);

/** Identifies the owner, once `visit->known` is set. In a queue for members that is the member the
 *  site names. In one for visitors the site's login is ignored; the pass takes precedence over the
 *  ticket, and that over the visitor cookie, which may be older. */
void visit_identify(const struct services *services, const struct request *request,
                    struct visit *visit);

/** Uses only the pass, which mostly suffices: true if it belongs to an admitted visitor who is the
 *  owner of this request. Then `id`, `pass` and `has_pass` are as visit_identify() sets them;
 *  ticket and visitor cookie are not read. Otherwise visit_identify() is to be called. */
bool visit_identify_by_pass(const struct services *services, const struct request *request,
                            struct visit *visit);

/** Creates a visitor id if the owner is unknown. `cookie` sets it as a cookie too. */
void visit_make_visitor(const struct services *services, const struct request *request,
                        struct response *response, struct visit *visit, bool cookie);

/** Sets the visitor cookie if it is missing. */
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
