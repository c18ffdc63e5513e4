/*
 * snapshot_book — one queue's place in the shared memory, as its only writer sees it. Of
 * lib/admission/snapshot_keeper alone.
 */
#ifndef SLUICE_ADMISSION_SNAPSHOT_BOOK_H
#define SLUICE_ADMISSION_SNAPSHOT_BOOK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/admission/snapshot_file.h"
#include "lib/admission/snapshot_view.h"
#include "lib/base/str.h"

struct snapshot_book {
    char queue[SNAPSHOT_NAME];
    size_t place_number;
    struct snapshot_file *file;
    struct snapshot_place *place;
    int fd;
    int64_t epoch; /* that the bits are of; 0: none */
    int64_t incarnation;
    int64_t front;
};

/** Takes a free place for `queue`, with nothing to answer from. Returns false where there is
 *  none, or the name is too long. */
bool snapshot_book_open(struct snapshot_book *book, struct snapshot_file *file, int fd,
                        struct str queue);

/** Frees a place. */
void snapshot_book_close(struct snapshot_file *file, size_t place_number);

/** Milliseconds since somebody last looked; 0 for a place that was just taken. */
int64_t snapshot_book_unwanted_ms(const struct snapshot_book *book, int64_t now_ms);

/** The last number of `view` that there is room for. */
int64_t snapshot_book_reach(const struct snapshot_view *view);

/** Forgets all bits, to learn those of `view` anew. Nothing is answered from them until they are
 *  shown. */
void snapshot_book_begin(struct snapshot_book *book, const struct snapshot_view *view);

/** The marks of a range, as snapshot_marks_command() brings them. */
void snapshot_book_range(struct snapshot_book *book, int64_t range, struct str marks);

/** Whether the bits are of the line that `view` speaks of. */
bool snapshot_book_fits(const struct snapshot_book *book, const struct snapshot_view *view);

/** Applies the changes of `view`, which was asked for at `asked_ms` (monotonic), and shows it.
 *  Returns false where those who stand there are not as many as they should be: then nothing is
 *  answered from it. */
bool snapshot_book_show(struct snapshot_book *book, const struct snapshot_view *view,
                        int64_t asked_ms);

#endif
