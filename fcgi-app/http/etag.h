/*
 * etag — entity tags (RFC 9110, section 8.8.3): whether the client's copy is current.
 */
#ifndef SLUICE_HTTP_ETAG_H
#define SLUICE_HTTP_ETAG_H

#include <stdbool.h>

#include "fcgi-app/http/request.h"
#include "fcgi-app/http/response.h"
#include "lib/base/str.h"

/** Whether `header`, an If-None-Match, names `etag` (with its quotes) or is `*`. By weak
 *  comparison: nginx makes a tag weak when it compresses. */
bool etag_matches(struct str header, struct str etag);

/** Sets the ETag of the response. Returns true if the client's copy is current: the response is
 *  then a complete 304, without a body. */
bool etag_answer(const struct request *request, struct response *response, struct str etag);

#endif
