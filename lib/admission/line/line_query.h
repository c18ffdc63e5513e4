/*
 * line_query — batches positions and entries of a queue's main line. A batch of positions is one
 * transaction of plain reads, which costs Redis a fraction of position.lua; a batch of entries is
 * one call of enter_together.lua. Only the ordinary case is decided here: for a query that stays
 * undecided call line_position() or line_enter(), whose fast paths these are.
 */
#ifndef SLUICE_ADMISSION_LINE_QUERY_H
#define SLUICE_ADMISSION_LINE_QUERY_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/admission/line/line.h"

enum { LINE_QUERIES_MAX = 64 }; /* per batch, so that Redis is never blocked for long */

enum line_query_state {
    LINE_QUERY_NEW,       /* not sent yet */
    LINE_QUERY_DECIDED,   /* outcome and position are filled */
    LINE_QUERY_UNDECIDED, /* nothing was done: the script has to be called */
    LINE_QUERY_LOST,      /* no reply: an entry may have happened */
    LINE_QUERY_ASKED      /* the script was called instead: set by the caller */
};

enum line_query_kind { LINE_QUERY_POSITION, LINE_QUERY_ENTRY };

struct line_query {
    const struct line_caller *caller;
    enum line_query_kind kind;
    enum line_query_state state;
    enum outcome outcome;          /* OK for a position; ENTERED or ALREADY for an entry */
    struct line_position position; /* its text is borrowed from the reply */
};

/** Creates a query in the arena; `caller` is borrowed. */
struct line_query *line_query_new(struct arena *arena, const struct line_caller *caller,
                                  enum line_query_kind kind);

/** The outcome, once the query is decided, lost or asked; in the last case `reply` is the script's,
 *  and the position is read from it. */
enum outcome line_query_outcome(struct line_query *query, const redisReply *reply);

/** Whether two queries may share a batch: same queue and kind of query (for entries, also of
 *  caller). */
bool line_queries_match(const struct line_query *one, const struct line_query *other);

/** The command for a batch of `count` (1 to LINE_QUERIES_MAX) matching queries, which must live as
 *  long as it. */
struct redis_command *line_queries_command(struct arena *arena, struct line_query *const *queries,
                                           size_t count);

/** Reads the batch's reply (NULL for none) into all of its queries. Returns false if the queue
 *  is not an ordinary one now, so that batches about it are useless for a while. */
bool line_queries_read(const redisReply *reply, struct line_query *const *queries, size_t count);

#endif
