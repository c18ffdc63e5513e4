/*
 * ticket_cookie — the cookie that carries a queue ticket for browsers. Somebody may stand in
 * several queues at once, so each queue has one of its own, `sluice_ticket-<queue>`. On plain HTTP
 * the API's own name `sluice_ticket` goes with it, with the queue's path.
 */
#ifndef SLUICE_QUEUE_TICKET_COOKIE_H
#define SLUICE_QUEUE_TICKET_COOKIE_H

#include "fcgi-app/http/request.h"
#include "fcgi-app/http/response.h"
#include "fcgi-app/pool/services.h"

/** The ticket in the request's cookie for `queue`, unverified; empty where there is none. A cookie
 *  `sluice_ticket` is taken under TLS too: a ticket proves itself. */
struct str ticket_cookie_read(const struct services *services, const struct request *request,
                              struct str queue);

/** Sets the cookie, for the life of a ticket but at most two hours: tickets of many queues would
 *  fill the browser's headers. The place is found by the visitor cookie or the login without it. */
void ticket_cookie_set(const struct services *services, const struct request *request,
                       struct response *response, struct str queue, struct str ticket);

/** Takes the cookie away. */
void ticket_cookie_clear(const struct services *services, const struct request *request,
                         struct response *response, struct str queue);

#endif
