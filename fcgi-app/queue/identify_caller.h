/*
 * identify_caller — identifies the caller of a route about a place in line, by the queue ticket,
 * the member JWT and the visitor cookie.
 *
 * A ticket in X-Queue-Ticket must be valid, of this queue and of the member named by a valid JWT.
 * One in the cookie is ignored if it does not match: the browser sends it unasked. A matching
 * ticket suffices, also if the JWT beside it has expired.
 */
#ifndef SLUICE_QUEUE_IDENTIFY_CALLER_H
#define SLUICE_QUEUE_IDENTIFY_CALLER_H

#include <stdbool.h>

#include "fcgi-app/http/request.h"
#include "fcgi-app/http/response.h"
#include "fcgi-app/pool/services.h"
#include "lib/admission/line/line.h"

/** For position and leave. The queue is the route's first parameter. Returns NULL if `response` is
 *  already complete: TICKET_INVALID or UNAUTHENTICATED. The caller lives in the request's arena. */
struct line_caller *identify_caller(const struct services *services, const struct request *request,
                                    struct response *response);

/** For enter: a ticket alone identifies a visitor, not a member; a request without any identity
 *  becomes a new visitor, whose cookie is added to `response`, or gets COOKIES_REQUIRED if it comes
 *  from the waiting page. */
struct line_caller *identify_entrant(const struct services *services, const struct request *request,
                                     struct response *response);

#endif
