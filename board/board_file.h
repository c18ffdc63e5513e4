/*
 * board_file — the files that nginx serves: DIRECTORY/{queue}.json, replaced atomically.
 *
 * nginx builds the ETag from a file's modification time in seconds and its size, so two versions
 * within one second must differ in size: each is padded such that its size encodes the moment
 * within the second.
 */
#ifndef SLUICE_BOARD_BOARD_FILE_H
#define SLUICE_BOARD_BOARD_FILE_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/arena.h"
#include "lib/base/buffer.h"
#include "lib/base/str.h"

/** Replaces the file of `queue` (a slug) by `document`, to which it appends up to 63 newlines.
 *  `wall_ms` (ms since 1970) becomes its modification time: versions at least 16 ms apart have
 *  different ETags. `writer` (without slashes) distinguishes processes that write into one
 *  directory. The file is world-readable. Returns false, with errno, if the old file is still
 *  there. */
bool board_file_write(struct arena *arena, const char *directory, const char *writer,
                      const char *queue, struct buffer *document, int64_t wall_ms);

/** Removes the file of `queue`; true also if there was none. Returns false, with errno, if it is
 *  still there. */
bool board_file_remove(struct arena *arena, const char *directory, const char *queue);

/** Calls `visit(context, queue)` for each queue that has a file, and removes temporary files of
 *  writers that were killed. Does nothing if the directory cannot be read. */
void board_file_list(struct arena *arena, const char *directory,
                     void (*visit)(void *context, struct str queue), void *context);

#endif
