/*
 * line_state_json — a queue's public state as JSON: the response of GET /v1/queues/{queue}, and its
 * board.
 */
#ifndef SLUICE_ADMISSION_LINE_STATE_JSON_H
#define SLUICE_ADMISSION_LINE_STATE_JSON_H

#include "lib/admission/line/line.h"
#include "lib/base/arena.h"
#include "lib/base/buffer.h"
#include "lib/base/str.h"

/** Appends {"queue", "state", "waiting", "headSeq", "lastSeq", "departures": [{"from", "to",
 *  "count"}], "admittedPerSecond", "epoch", "incarnation", "serverTime", "message", "opensAt",
 *  "closesAt", "activation", "mode"} to `out`. `queue` is a slug. Departures are in order and start
 *  at the head: how many of those numbers left. After a recovery one more has the numbers from the
 *  head on that were skipped or lost. Times before 1970 are null, so that
 *  `state->now_ms` of -1 gives the same text for the same state. `arena` is for temporary use. */
void line_state_json(struct buffer *out, struct arena *arena, struct str queue,
                     const struct line_state *state);

#endif
