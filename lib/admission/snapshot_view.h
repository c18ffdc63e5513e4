/*
 * snapshot_view — what lua/snapshot.lua and lua/snapshot_marks.lua say of a queue. Of
 * lib/admission/snapshot_keeper alone.
 */
#ifndef SLUICE_ADMISSION_SNAPSHOT_VIEW_H
#define SLUICE_ADMISSION_SNAPSHOT_VIEW_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/admission/outcome.h"
#include "lib/base/arena.h"
#include "lib/base/str.h"
#include "lib/store/redis_command.h"

enum {
    SNAPSHOT_RANGE = 1024,        /* numbers whose marks stand together */
    SNAPSHOT_RANGE_BYTES = 256,   /* two bits a number */
    SNAPSHOT_RANGES_AT_ONCE = 256 /* a call */
};

enum snapshot_mark {
    SNAPSHOT_UNMARKED,
    SNAPSHOT_GONE, /* does not stand in the main line */
    SNAPSHOT_ASK   /* stands there, and only Redis can tell how */
};

/** The reply; text is borrowed from it. */
struct snapshot_view {
    struct str queue_state;
    int64_t waiting;
    int64_t in_main; /* of those, in the main line */
    int64_t last;
    int64_t front;
    int64_t at_front;    /* stand in the main line up to number `front` */
    int64_t before_main; /* go before everybody in the main line */
    int64_t rate_milli;
    int64_t epoch;
    int64_t incarnation;
    int64_t now_ms;
    bool on_hold;
    struct str poll_tiers;
    bool for_visitors;
    int64_t near;
    bool exact_only;
    int64_t change; /* number of the last change of marks */
    bool missing;   /* changes are missing: the marks are to be read anew */
    const redisReply *reply;
    size_t first_change; /* element of the reply; those to its end are changes */
};

/** `known`: number of the last change that is known, -1: none. */
struct redis_command *snapshot_view_command(struct arena *arena, struct str queue, int64_t known);

/** `view` is filled for OK. Anything that makes no sense is ADMISSION_UNAVAILABLE. */
enum outcome snapshot_view_read(const redisReply *reply, struct snapshot_view *view);

/** Takes a change to pieces. Returns false for one that is none. */
bool snapshot_view_change(const struct snapshot_view *view, size_t element, int64_t *number,
                          enum snapshot_mark *mark);

/** The marks of `count` ranges from `first` on; the reply's elements 1, 2, … are text of
 *  SNAPSHOT_RANGE_BYTES or empty. */
struct redis_command *snapshot_marks_command(struct arena *arena, struct str queue, int64_t first,
                                             int64_t count);

/** The mark of the `i`th number of a range. */
enum snapshot_mark snapshot_mark_of(struct str marks, size_t i);

#endif
