/*
 * ticket_cookie — the cookie that carries a queue ticket for browsers. A visitor may wait in
 * several queues at once, so each queue has its own, `sluice_ticket-<queue>`. On plain HTTP the
 * API's `sluice_ticket` is set as well, with the queue's path.
 */
#ifndef SLUICE_QUEUE_TICKET_COOKIE_H
#define SLUICE_QUEUE_TICKET_COOKIE_H

#include "fcgi-app/http/request.h"
#include "fcgi-app/http/response.h"
#include "fcgi-app/pool/services.h"
#include "lib/admission/line/line.h"

/** The ticket in the request's cookie for `queue`, unverified; empty if there is none. A cookie
 *  `sluice_ticket` is accepted under TLS too, as a ticket is signed. */
struct str ticket_cookie_read(const struct services *services, const struct request *request,
                              struct str queue);

/** Sets the cookie for the life of a ticket while its owner waits: after a loss of Redis' data only
 *  the ticket proves the place. Once it is the owner's turn (`status`) two hours are enough, as the
 *  ticket of a turn that has ended would be seated after a loss, too. As tickets of many queues
 *  would fill the browser's headers, it keeps those of eight; the ones set first make room, and
 *  there the visitor cookie or the login finds the place. */
void ticket_cookie_set(const struct services *services, const struct request *request,
                       struct response *response, struct str queue, struct str ticket,
                       enum line_status status);

/** Sets the ticket of the request's own cookie again: it is the owner's turn now. Does nothing
 *  without that cookie. */
void ticket_cookie_shorten(const struct services *services, const struct request *request,
                           struct response *response, struct str queue);

/** Deletes the cookie. */
void ticket_cookie_clear(const struct services *services, const struct request *request,
                         struct response *response, struct str queue);

#endif
