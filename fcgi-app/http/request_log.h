/*
 * request_log — one line a request: event "request", at info for answers from 500 on, else at
 * debug. Members appear as a hash. Of the lines at info at most 100 a second are written, so that
 * an outage under load does not turn into a flood; the next line says how many were left out.
 */
#ifndef SLUICE_HTTP_REQUEST_LOG_H
#define SLUICE_HTTP_REQUEST_LOG_H

#include <stdint.h>

#include "fcgi-app/http/request.h"
#include "fcgi-app/http/response.h"
#include "lib/base/log.h"
#include "lib/base/str.h"

/** Lines below `level` are not even prepared. */
void request_log_start(enum log_level level);

/** Remembers who sends the request at hand, borrowed. */
void request_log_member(struct str id);

/** What request_log_member() was told since the last call, empty for nothing. */
struct str request_log_take_member(void);

/** Writes the line. `route` is the route's path with its {…}, "" where none matched; `member`
 *  may be empty; `started_ms` and `now_ms` are monotonic. */
void request_log(const struct request *request, const struct response *response, const char *route,
                 struct str member, int64_t started_ms, int64_t now_ms);

#endif
