/*
 * identify_caller — who asks about a place in line, from the queue ticket, the member JWT and the
 * visitor cookie.
 *
 * A ticket in X-Queue-Ticket must be good, of this queue and of the member whom a valid JWT names.
 * One in the cookie counts only where it fits: the browser sends it unasked. A fitting ticket
 * suffices, and stands also where the JWT beside it has expired.
 */
#ifndef SLUICE_QUEUE_IDENTIFY_CALLER_H
#define SLUICE_QUEUE_IDENTIFY_CALLER_H

#include <stdbool.h>

#include "fcgi-app/http/request.h"
#include "fcgi-app/http/response.h"
#include "fcgi-app/pool/services.h"
#include "lib/admission/line.h"

/** For position and leave. The queue is the route's first parameter. Returns NULL where
 *  `response` is complete already: TICKET_INVALID or UNAUTHENTICATED. The caller lives in the
 *  request's arena. */
struct line_caller *identify_caller(const struct services *services, const struct request *request,
                                    struct response *response);

/** For enter: a ticket alone speaks for a visitor, not for a member; whoever brings nothing at
 *  all becomes a new visitor, whose cookie is added to `response`; from the waiting page it is
 *  COOKIES_REQUIRED instead. */
struct line_caller *identify_entrant(const struct services *services, const struct request *request,
                                     struct response *response);

#endif
