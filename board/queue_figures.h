/*
 * queue_figures — reads the statistics of every queue from Redis about once a second, and exports
 * them in the metrics of this host. The board's step does it in pieces, between its own work.
 */
#ifndef SLUICE_BOARD_QUEUE_FIGURES_H
#define SLUICE_BOARD_QUEUE_FIGURES_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/arena.h"
#include "lib/base/str.h"
#include "lib/store/redis.h"

struct queue_figures;

/** Never NULL. */
struct queue_figures *queue_figures_new(void);

/** Removes all queues from the metrics. */
void queue_figures_free(struct queue_figures *figures);

/** Whether a second has passed since the last round began, by `now_ms` (monotonic). */
bool queue_figures_are_due(const struct queue_figures *figures, int64_t now_ms);

/** Begins a round: every queue is to be read once, then the round ended. */
void queue_figures_begin(struct queue_figures *figures, int64_t now_ms);

/** Reads one queue. Returns false if Redis did not answer: the round must not be ended, and the
 *  exported values stay. */
bool queue_figures_read(struct queue_figures *figures, struct redis *redis, struct arena *arena,
                        struct str queue);

/** Exports what this round has read. */
void queue_figures_end(struct queue_figures *figures);

#endif
