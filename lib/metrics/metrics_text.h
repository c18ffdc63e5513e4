/*
 * metrics_text — the metrics of a host in Prometheus' text format (version 0.0.4).
 */
#ifndef SLUICE_METRICS_METRICS_TEXT_H
#define SLUICE_METRICS_METRICS_TEXT_H

#include "lib/base/buffer.h"

/** Appends all of them, from memory alone: Redis and PostgreSQL are not queried. Request rows that
 *  were never counted are omitted. */
void metrics_format(struct buffer *out);

#endif
