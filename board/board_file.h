/*
 * board_file — the files that nginx serves: DIRECTORY/{queue}.json, replaced in one piece.
 *
 * nginx's ETag is made of a file's second of modification and its size, so that two versions within
 * one second must differ in size: each is padded such that its size tells the moment within the
 * second.
 */
#ifndef SLUICE_BOARD_BOARD_FILE_H
#define SLUICE_BOARD_BOARD_FILE_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/arena.h"
#include "lib/base/buffer.h"
#include "lib/base/str.h"

/** Replaces the file of `queue` (a slug) with `document`, to which it appends up to 63 newlines.
 *  `wall_ms` (ms since 1970) becomes its time of modification: versions for moments at least 16
 *  ms apart have different ETags. `writer` (without slashes) tells apart processes that write
 *  into one directory. Everyone may read the file. Returns false, with errno, where the old file
 *  is still there. */
bool board_file_write(struct arena *arena, const char *directory, const char *writer,
                      const char *queue, struct buffer *document, int64_t wall_ms);

/** Takes the file of `queue` away; true also where there was none. Returns false, with errno,
 *  where it is still there. */
bool board_file_remove(struct arena *arena, const char *directory, const char *queue);

/** Calls `visit(context, queue)` for each queue that has a file, and takes away what a writer
 *  that was killed left half written. Does nothing where the directory cannot be read. */
void board_file_list(struct arena *arena, const char *directory,
                     void (*visit)(void *context, struct str queue), void *context);

#endif
