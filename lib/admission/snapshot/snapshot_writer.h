/*
 * snapshot_writer — changes one queue's slot in the shared memory, as its only writer. Internal to
 * lib/admission/snapshot/snapshot_keeper.
 */
#ifndef SLUICE_ADMISSION_SNAPSHOT_WRITER_H
#define SLUICE_ADMISSION_SNAPSHOT_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/admission/snapshot/snapshot_file.h"
#include "lib/admission/snapshot/snapshot_view.h"
#include "lib/base/str.h"

struct snapshot_writer {
    char queue[SNAPSHOT_NAME];
    size_t slot_number;
    struct snapshot_file *file;
    struct snapshot_slot *slot;
    int fd;
    int64_t epoch; /* that the bits belong to; 0: none */
    int64_t incarnation;
    int64_t front;
};

/** Takes a free slot for `queue`, which gives no answers yet. Returns false if there is none, or
 *  the name is too long. */
bool snapshot_writer_open(struct snapshot_writer *writer, struct snapshot_file *file, int fd,
                          struct str queue);

/** Frees a slot. */
void snapshot_writer_close(struct snapshot_file *file, size_t slot_number);

/** Milliseconds since a reader last used it; 0 for a slot that was just taken. */
int64_t snapshot_writer_unwanted_ms(const struct snapshot_writer *writer, int64_t now_ms);

/** The last number of `view` that fits. */
int64_t snapshot_writer_reach(const struct snapshot_view *view);

/** Clears all bits, to load those of `view`. No answers are given until snapshot_writer_show(). */
void snapshot_writer_begin(struct snapshot_writer *writer, const struct snapshot_view *view);

/** Loads the marks of a range, as snapshot_marks_command() returns them. */
void snapshot_writer_range(struct snapshot_writer *writer, int64_t range, struct str marks);

/** Whether the bits belong to the same line as `view`. */
bool snapshot_writer_fits(const struct snapshot_writer *writer, const struct snapshot_view *view);

/** Applies the changes of `view`, which was requested at `asked_ms` (monotonic), and publishes it
 *  to readers. Returns false if the number of waiting members does not match the bits: then no
 *  answers are given from it. */
bool snapshot_writer_show(struct snapshot_writer *writer, const struct snapshot_view *view,
                          int64_t asked_ms);

#endif
