/*
 * clock — wall time for people and tokens, monotonic time for timeouts, RFC 3339 for the wire.
 * The order, rate and deadlines of the admission protocol never use these clocks: they use Redis
 * TIME.
 */
#ifndef SLUICE_BASE_CLOCK_H
#define SLUICE_BASE_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/str.h"

enum { RFC3339_TEXT = 24 };

/** The last time of the format, the end of the year 9999. */
#define RFC3339_LAST_MS INT64_C(253402300799999)

/** Milliseconds since 1970-01-01T00:00:00Z by this machine's clock. */
int64_t clock_wall_ms(void);

/** Milliseconds of a clock that never jumps; only differences are meaningful. */
int64_t clock_monotonic_ms(void);

/** The same clock in microseconds; all processes of a host share it. */
int64_t clock_monotonic_us(void);

/** Writes "2026-01-31T12:00:00.000Z", NUL-terminated. `ms` in [0, RFC3339_LAST_MS]. */
void rfc3339_format(int64_t ms, char out[RFC3339_TEXT + 1]);

/** Parses an RFC 3339 date-time with a zone ('Z' or ±hh:mm) and up to nine fractional digits
 *  (truncated to milliseconds), UTC years 1970 to 9998, so that every parsed time can be formatted
 *  and parsed again. Returns false for anything else. */
bool rfc3339_parse(struct str text, int64_t *ms);

#endif
