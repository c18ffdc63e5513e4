/*
 * line_look — many questions about one queue's main line, put to Redis together. Positions are plain reads in one
 * transaction, which cost Redis a fraction of position.lua; entries are one call of enter_together.lua. What is not the
 * ordinary case stays undecided: then line_position() or line_enter() is to be asked, of which these are the short ways.
 */
#ifndef SLUICE_ADMISSION_LINE_LOOK_H
#define SLUICE_ADMISSION_LINE_LOOK_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/admission/line.h"

enum { LINE_LOOKS_MAX = 64 }; /* asked together: Redis is never blocked for long */

enum line_look_state {
    LINE_LOOK_NEW,       /* not asked yet */
    LINE_LOOK_DECIDED,   /* outcome and position are filled */
    LINE_LOOK_UNDECIDED, /* nothing was done: the script has to be asked */
    LINE_LOOK_LOST,      /* no reply: an entry may have happened */
    LINE_LOOK_ASKED      /* the script was asked instead: set by the caller */
};

enum line_look_kind { LINE_LOOK_POSITION, LINE_LOOK_ENTRY };

struct line_look {
    const struct line_caller *caller;
    enum line_look_kind kind;
    enum line_look_state state;
    enum outcome outcome;          /* OK for a position; ENTERED or ALREADY for an entry */
    struct line_position position; /* its text is borrowed from the reply */
};

/** A new one, in the arena; `caller` is borrowed. */
struct line_look *line_look_new(struct arena *arena, const struct line_caller *caller,
                                enum line_look_kind kind);

/** How it ended, once it is decided, lost or asked: in the last case `reply` is the script's, and the position is read
 *  from it. */
enum outcome line_look_outcome(struct line_look *look, const redisReply *reply);

/** Whether two may be asked together: the same queue, and the same kind of question (and of caller, for
 *  entries). */
bool line_looks_match(const struct line_look *one, const struct line_look *other);

/** The command that asks for all `count` of them, 1 to LINE_LOOKS_MAX, that match. They must live as long as it. */
struct redis_command *line_looks_command(struct arena *arena, struct line_look *const *looks,
                                         size_t count);

/** Reads the reply to it, NULL for none, into all of them. Returns false where the queue is no ordinary one now,
 *  so that asking together is of no use for a while. */
bool line_looks_read(const redisReply *reply, struct line_look *const *looks, size_t count);

#endif
