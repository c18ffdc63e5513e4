/*
 * metrics_text — the numbers of a host in Prometheus' text form (version 0.0.4).
 */
#ifndef SLUICE_METRICS_METRICS_TEXT_H
#define SLUICE_METRICS_METRICS_TEXT_H

#include "lib/base/buffer.h"

/** Appends all of them. Looks at memory alone: neither Redis nor PostgreSQL is asked. Rows of
 *  requests that were never counted are left out. */
void metrics_format(struct buffer *out);

#endif
