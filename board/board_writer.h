/*
 * board_writer — keeps the board of every queue true: a pass over all queues each
 * board_interval_ms, in steps that are short enough to end on time.
 *
 * A file that cannot be confirmed for 2 s is taken away: nginx then asks the queue pool, which says
 * what is the matter. Two writers at one directory do no harm, for each only replaces whole files.
 */
#ifndef SLUICE_BOARD_BOARD_WRITER_H
#define SLUICE_BOARD_BOARD_WRITER_H

#include <stdint.h>

#include "lib/settings/settings.h"

struct board_writer;

/** A writer into settings->board_directory. It takes over the files that lie there. `settings` is
 *  borrowed. Never NULL. */
struct board_writer *board_writer_new(const struct settings *settings);

/** Does a part of what is due, within a second, and returns for how many milliseconds nothing will
 *  be. */
int64_t board_writer_step(struct board_writer *writer);

/** Takes every file away. */
void board_writer_clear(struct board_writer *writer);

void board_writer_free(struct board_writer *writer);

#endif
