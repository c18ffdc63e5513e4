/*
 * line — a place in a queue's line: enter, position, leave, and the queue's public state.
 * Each is one script, so one round trip. Commands are built here and sent by the caller (pipelined
 * in the queue pool); replies are read here.
 */
#ifndef SLUICE_ADMISSION_LINE_H
#define SLUICE_ADMISSION_LINE_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/admission/outcome.h"
#include "lib/base/arena.h"
#include "lib/base/str.h"
#include "lib/store/redis_command.h"

/** The caller of an operation, and the queue. All text is borrowed. */
struct line_caller {
    struct str queue;
    struct str member; /* member or visitor id */
    /* Known by the visitor cookie alone: only a queue of identity visitor accepts it. */
    bool by_visitor;
    bool is_unproven; /* a visitor created by this very request, who may not keep cookies */
    bool has_ticket;  /* the fields below are those of a verified ticket of this queue and member */
    int64_t seq;      /* place number, ≥ 1 */
    int64_t generation;  /* session generation, 0..4095 */
    int64_t epoch;       /* ≥ 1 */
    int64_t incarnation; /* ≥ 1 */
    struct str lane;     /* main, lottery, priority or invite; empty is main */
    struct str code; /* an invite or priority code as it was typed, for line_enter(); empty: none */
    struct str proof; /* what names the proof of work that was done for line_enter(); empty: none */
};

enum line_status { LINE_NOT_ENTERED, LINE_WAITING, LINE_READY };

/** The place of a member. Text is borrowed from the reply. */
struct line_position {
    struct str queue_state; /* PRE_OPEN, OPEN, … as in the API */
    enum line_status status;
    int64_t rank;           /* 0-based; -1 unless WAITING, and before the lottery is drawn */
    int64_t waiting;        /* members in line */
    struct str entry_token; /* empty unless READY */
    int64_t token_ends_ms;  /* wall time by Redis, ms since 1970; 0 unless READY */
    bool ordering;          /* an order is running on the token */
    int64_t rate_milli;     /* admissions expected per 1000 seconds */
    int64_t seq;
    int64_t generation;
    int64_t epoch;
    int64_t incarnation;
    int64_t now_ms;        /* Redis TIME */
    bool on_hold;          /* activation is hold: nobody is admitted */
    struct str poll_tiers; /* the queue's pollTiers as JSON, empty for the default */
    struct str lane;       /* main, lottery, priority or invite; empty without a place */
    bool exact_only;       /* the rank cannot be derived from the board */
};

/** The public state of a queue. Text is borrowed from the reply. */
struct line_state {
    struct str queue_state;
    int64_t waiting;
    int64_t head_seq;
    int64_t last_seq;
    int64_t admitted_milli; /* admissions per 1000 seconds, a moving average over about 5 s */
    int64_t epoch;
    int64_t incarnation;
    int64_t now_ms;
    struct str message;
    int64_t opens_at_ms;  /* -1: not set */
    int64_t closes_at_ms; /* -1: not set */
    const redisReply
        *departures; /* range number, count, … : range r is the numbers 1024 r … 1024 r + 1023 */
    struct str activation; /* off, watch, on or hold */
    struct str mode;       /* fifo or lottery */
    /* Of the numbers from head_seq to uncounted_to, how many are not in line and in no departures
     * of a range that lies wholly between; 0 and 0: none. */
    int64_t uncounted_to;
    int64_t uncounted;
};

/** How a member enters who may have a place already. */
enum line_entry {
    LINE_TAKE_OVER, /* the place moves to this screen */
    LINE_STAY,      /* a place that another screen took over stays there: SESSION_REVOKED */
    LINE_AT_ONCE    /* only if the queue admits without waiting: NOT_THERE otherwise */
};

/* Commands live in `arena`; the text of the caller must live as long. */

/** Enters the queue, or gets the place that the caller already has: see line_read_position(). */
struct redis_command *line_enter(struct arena *arena, const struct line_caller *caller,
                                 enum line_entry entry);

/** Reads the caller's place; for a READY member this counts as picking the token up. See
 *  line_read_position(). */
struct redis_command *line_position(struct arena *arena, const struct line_caller *caller);

/** Gives up the caller's place in line or unused entry token: LEFT, NOT_THERE, UNAUTHENTICATED,
 *  ORDER_IN_PROGRESS (the place stays), SESSION_REVOKED, NOT_FOUND. */
struct redis_command *line_leave(struct arena *arena, const struct line_caller *caller);

/** Reads the public state of a queue: see line_read_state(). */
struct redis_command *line_state(struct arena *arena, struct str queue);

/** Appends a new entry token and its admission id, for a script that may admit a member. */
void line_add_new_token(struct arena *arena, struct redis_command *command);

/** Reads the reply to enter or position. `position` is filled for OK, ENTERED and ALREADY. */
enum outcome line_read_position(const redisReply *reply, struct line_position *position);

/** Reads the reply to state. `state` is filled for OK. */
enum outcome line_read_state(const redisReply *reply, struct line_state *state);

/** Reads the reply to leave. `seq` is the number given up, for LEFT. */
enum outcome line_read_left(const redisReply *reply, int64_t *seq);

/** True if SOLD_OUT means that the event has ended. */
bool line_refusal_has_ended(const redisReply *reply);

/** True if NOT_FOUND means that Redis has no settings of the queue: it was never created, or
 *  Redis lost its data. False for a queue that was deleted. */
bool line_settings_missing(const redisReply *reply);

/** Requests whether Redis has every queue: reconcile records that once it has restored all of them
 *  (redis_memory_complete() in lib/store/redis_primary.h). Before that, a missing queue may be
 *  lost. */
struct redis_command *line_memory_ask(struct arena *arena);

/** True for a reply to it that says yes; false for every other reply, of whatever command. */
bool line_memory_is_there(const redisReply *reply);

#endif
