/*
 * etag — entity tags (RFC 9110, section 8.8.3): whether the client has what it asks for already.
 */
#ifndef SLUICE_HTTP_ETAG_H
#define SLUICE_HTTP_ETAG_H

#include <stdbool.h>

#include "fcgi-app/http/request.h"
#include "fcgi-app/http/response.h"
#include "lib/base/str.h"

/** Whether `header`, an If-None-Match, names `etag` (with its quotes) or is `*`. The weak
 *  comparison: nginx makes a tag weak where it compresses. */
bool etag_matches(struct str header, struct str etag);

/** Sets the ETag of the response. Returns true where the request has it already: the response is
 *  304 then, without a body, and complete. */
bool etag_answer(const struct request *request, struct response *response, struct str etag);

#endif
