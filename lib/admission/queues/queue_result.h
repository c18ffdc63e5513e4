/*
 * queue_result — what a queue has done so far: its totals, and the times of its first and last
 * admission.
 */
#ifndef SLUICE_ADMISSION_QUEUE_RESULT_H
#define SLUICE_ADMISSION_QUEUE_RESULT_H

#include <stdint.h>

#include "lib/admission/outcome.h"
#include "lib/base/arena.h"
#include "lib/base/str.h"
#include "lib/store/redis_command.h"

/** The totals of a queue. Times are ms since 1970, 0 if not reached. Text is borrowed. */
struct queue_result {
    struct str queue_state;
    int64_t entered;
    int64_t admitted;
    int64_t consumed;
    int64_t left;
    int64_t expired;
    int64_t last_served_seq;
    int64_t first_admitted_ms;
    int64_t last_admitted_ms;
    int64_t last_wait_ms;
    int64_t longest_wait_ms;
    int64_t sold_out_ms;
    int64_t opens_at_ms;  /* -1: not set */
    int64_t closes_at_ms; /* -1: not set */
    int64_t epoch;
    int64_t now_ms;
};

/** Requests the totals of a queue. */
struct redis_command *queue_result_ask(struct arena *arena, struct str queue);

/** OK fills `result`; NOT_FOUND, ADMISSION_UNAVAILABLE. */
enum outcome queue_result_read(const redisReply *reply, struct queue_result *result);

#endif
