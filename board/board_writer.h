/*
 * board_writer — keeps the board of every queue current: a pass over all queues each
 * board_interval_ms, in steps short enough to end on time.
 *
 * A file that cannot be confirmed for 2 s is removed: nginx then falls back to the queue pool,
 * which reports the cause. Two writers in one directory do no harm, as each only replaces complete
 * files.
 */
#ifndef SLUICE_BOARD_BOARD_WRITER_H
#define SLUICE_BOARD_BOARD_WRITER_H

#include <stdint.h>

#include "lib/settings/settings.h"

struct board_writer;

/** A writer into settings->board_directory. It adopts the files that are there. `settings` is
 *  borrowed. Never NULL. */
struct board_writer *board_writer_new(const struct settings *settings);

/** Does a part of what is due, within a second, and returns for how many milliseconds nothing will
 *  be due. */
int64_t board_writer_step(struct board_writer *writer);

/** Removes every file. */
void board_writer_clear(struct board_writer *writer);

/** Releases everything, leaving the files. */
void board_writer_free(struct board_writer *writer);

#endif
