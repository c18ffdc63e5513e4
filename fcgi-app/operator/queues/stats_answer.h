/*
 * stats_answer — a queue's statistics as operators get them: for one queue, and for all of them in
 * the overview.
 */
#ifndef SLUICE_OPERATOR_STATS_ANSWER_H
#define SLUICE_OPERATOR_STATS_ANSWER_H

#include <stddef.h>
#include <stdint.h>

#include <json-c/json.h>

#include "fcgi-app/http/request.h"
#include "fcgi-app/pool/services.h"
#include "lib/admission/queues/queue_stats.h"

/** Reads the statistics of `queue` and at least the last `samples` (0..QUEUE_SERIES_MAX) seconds.
 *  OK fills `stats`; NOT_FOUND; ADMISSION_UNAVAILABLE. */
enum outcome stats_ask(const struct services *services, const struct request *request,
                       struct str queue, int64_t samples, struct queue_stats *stats);

/** The statistics as a new object, with the last `samples` seconds as `series`. */
json_object *stats_json(struct str queue, const struct queue_stats *stats, size_t samples);

/** Milliseconds as seconds, rounded to tenths; NULL if unknown, i.e. below 0. */
json_object *seconds_json(int64_t ms);

/** One sample as a new object; null for unknown values. */
json_object *sample_json(const struct queue_sample *sample);

#endif
