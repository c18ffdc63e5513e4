/*
 * snapshot_view — the replies of lua/snapshot/snapshot.lua and lua/snapshot/snapshot_marks.lua.
 * Internal to lib/admission/snapshot/snapshot_keeper.
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
    SNAPSHOT_RANGE = 1024,        /* numbers whose marks are stored together */
    SNAPSHOT_RANGE_BYTES = 256,   /* two bits per number */
    SNAPSHOT_RANGES_AT_ONCE = 256 /* per call */
};

enum snapshot_mark {
    SNAPSHOT_UNMARKED,
    SNAPSHOT_GONE, /* not in the main line */
    SNAPSHOT_ASK   /* in the main line, but only Redis can give its position */
};

/** The reply; text is borrowed from it. */
struct snapshot_view {
    struct str queue_state;
    int64_t waiting;
    int64_t in_main; /* of those, in the main line */
    int64_t last;
    int64_t front;
    int64_t at_front;    /* in the main line up to number `front` */
    int64_t before_main; /* ahead of everybody in the main line */
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
    bool missing;   /* changes were lost: the marks must be reloaded */
    const redisReply *reply;
    size_t first_change; /* index in the reply; from there to its end are changes */
};

/** `known`: number of the last change that the caller has applied, -1: none. */
struct redis_command *snapshot_view_command(struct arena *arena, struct str queue, int64_t known);

/** `view` is filled for OK. An invalid reply is ADMISSION_UNAVAILABLE. */
enum outcome snapshot_view_read(const redisReply *reply, struct snapshot_view *view);

/** Parses a change. Returns false for a malformed one. */
bool snapshot_view_change(const struct snapshot_view *view, size_t element, int64_t *number,
                          enum snapshot_mark *mark);

/** Requests the marks of `count` ranges starting with `first`; the reply's elements 1, 2, … are
 *  text of SNAPSHOT_RANGE_BYTES or empty. */
struct redis_command *snapshot_marks_command(struct arena *arena, struct str queue, int64_t first,
                                             int64_t count);

/** The mark of the `i`th number of a range. */
enum snapshot_mark snapshot_mark_of(struct str marks, size_t i);

#endif
