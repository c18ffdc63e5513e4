/*
 * stats_answer — the numbers of a queue as operators get them: one queue's, and all queues' in the
 * overview.
 */
#ifndef SLUICE_OPERATOR_STATS_ANSWER_H
#define SLUICE_OPERATOR_STATS_ANSWER_H

#include <stddef.h>
#include <stdint.h>

#include <json-c/json.h>

#include "fcgi-app/http/request.h"
#include "fcgi-app/pool/services.h"
#include "lib/admission/queue_publication.h"

/** Reads the numbers of `queue` and at least the last `samples` (0..QUEUE_SERIES_MAX) seconds.
 *  OK fills `stats`; NOT_FOUND; ADMISSION_UNAVAILABLE. */
enum outcome stats_ask(const struct services *services, const struct request *request,
                       struct str queue, int64_t samples, struct queue_stats *stats);

/** The numbers as a new object, with the last `samples` seconds as `series`. */
json_object *stats_json(struct str queue, const struct queue_stats *stats, size_t samples);

/** Milliseconds as seconds, rounded to tenths; NULL for what is not known, which is below 0. */
json_object *seconds_json(int64_t ms);

/** One moment of it as a new object; null for what is not known. */
json_object *sample_json(const struct queue_sample *sample);

#endif
