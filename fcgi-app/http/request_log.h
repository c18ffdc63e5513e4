/*
 * request_log — one line a request: event "request", at info for errors (problem_class() 5xx), else
 * at debug. Members appear as a hash. At most 100 info lines a second are written, so that an
 * outage under load does not flood the log; the next line says how many were dropped.
 */
#ifndef SLUICE_HTTP_REQUEST_LOG_H
#define SLUICE_HTTP_REQUEST_LOG_H

#include <stdint.h>

#include "fcgi-app/http/request.h"
#include "fcgi-app/http/response.h"
#include "lib/base/log.h"
#include "lib/base/str.h"

/** Lines below `level` are not even formatted. */
void request_log_start(enum log_level level);

/** Remembers the sender of the current request, borrowed. */
void request_log_member(struct str id);

/** The last request_log_member() since the last call, empty if there was none. */
struct str request_log_take_member(void);

/** Writes the line. `route` is the route's path with its {…}, "" where none matched; `member`
 *  may be empty; `started_ms` and `now_ms` are monotonic. */
void request_log(const struct request *request, const struct response *response, const char *route,
                 struct str member, int64_t started_ms, int64_t now_ms);

#endif
