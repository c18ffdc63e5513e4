/*
 * gate — admission in front of a whole site: the state of a queue that a host caches to check
 * requests locally for a moment, and passes. Commands are built here and sent by the caller; replies
 * are read here.
 */
#ifndef SLUICE_ADMISSION_GATE_H
#define SLUICE_ADMISSION_GATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/admission/outcome.h"
#include "lib/base/arena.h"
#include "lib/base/str.h"
#include "lib/store/redis_command.h"

/** The settings and state that the gate needs. Text is borrowed from the reply. */
struct gate_view {
    int64_t version; /* of the settings */
    struct str activation;
    bool admit_when_idle;
    bool for_visitors; /* identity is visitor */
    struct str bypass; /* JSON, empty for none */
    int64_t epoch;
    int64_t incarnation;
    int64_t renew_ms; /* how long after its renewal a pass is valid without a new check */
    struct str queue_state;
    int64_t waiting;
    int64_t rate_milli; /* admissions expected per 1000 seconds */
    int64_t now_ms;     /* Redis TIME */
    struct str message;
    int64_t opens_at_ms;  /* -1: not set */
    int64_t closes_at_ms; /* -1: not set */
    int64_t pickup_seconds;
    int64_t entry_ttl_seconds;
    struct str mode;
};

/** Who asks to pass. All text is borrowed; the fields after `has_pass` count only with it. */
struct gate_caller {
    struct str queue;
    struct str member; /* member or visitor id */
    bool has_pass;
    struct str admission;
    int64_t seq;
    int64_t generation;
    int64_t epoch;
    int64_t incarnation;
    struct str lane; /* of the ticket for `seq`; empty: not known */
};

/** A place in the active set, as returned by the script. Text is borrowed from the reply. */
struct gate_admission {
    struct str admission;
    int64_t seq;
    int64_t generation;
    int64_t epoch;
    int64_t incarnation;
    int64_t now_ms;  /* Redis TIME */
    int64_t ends_ms; /* end of the visit, by Redis TIME */
};

/** Requests the view of a queue. */
struct redis_command *gate_look(struct arena *arena, struct str queue);

/** OK fills `view`; NOT_FOUND, ADMISSION_UNAVAILABLE. */
enum outcome gate_read_view(const redisReply *reply, struct gate_view *view);

/** The recently ended admissions in `reply`: their number, and the one at `index`. */
size_t gate_view_ended_count(const redisReply *reply);
struct str gate_view_ended(const redisReply *reply, size_t index);

/** Renews the pass, or issues the first one to a READY member. */
struct redis_command *gate_check(struct arena *arena, const struct gate_caller *caller);

/** ADMITTED fills `admission`; WAIT, HELD, UNAUTHENTICATED, NOT_FOUND, ADMISSION_UNAVAILABLE. */
enum outcome gate_read_check(const redisReply *reply, struct gate_admission *admission);

/** Counts a visit while the gate only watches (activation watch). */
struct redis_command *gate_watch(struct arena *arena, struct str queue, struct str member);

/** WATCHED fills now_ms and ends_ms; NOT_FOUND, ADMISSION_UNAVAILABLE. */
enum outcome gate_read_watch(const redisReply *reply, struct gate_admission *admission);

#endif
