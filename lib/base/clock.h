/*
 * clock — wall time for people and tokens, monotonic time for deadlines, RFC 3339 for the wire.
 * Order, rate and deadlines of the admission protocol never come from here: they come from Redis
 * TIME.
 */
#ifndef SLUICE_BASE_CLOCK_H
#define SLUICE_BASE_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/str.h"

enum { RFC3339_TEXT = 24 };

/** Milliseconds since 1970-01-01T00:00:00Z by this machine's clock. */
int64_t clock_wall_ms(void);

/** Milliseconds on a clock that never jumps; its zero means nothing. */
int64_t clock_monotonic_ms(void);

/** The same in microseconds: one clock for all processes of a machine. */
int64_t clock_monotonic_us(void);

/** Writes "2026-01-31T12:00:00.000Z" and a NUL. `ms` in [0, 253402300799999]. */
void rfc3339_format(int64_t ms, char out[RFC3339_TEXT + 1]);

/** Reads an RFC 3339 date-time with zone ('Z' or ±hh:mm), up to nanoseconds (cut to milliseconds),
 *  of the UTC years 1970 to 9998: whatever is read can be written and read again.
 *  Returns false for anything else. */
bool rfc3339_parse(struct str text, int64_t *ms);

#endif
