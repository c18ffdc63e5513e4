/*
 * queue_ticket — the signed JWT that proves a waiting visitor's number, so that the number survives
 * a loss of Redis' data. Its typ is queue-ticket+jwt, its algorithm HS256, its header names the
 * ring's key. Every poll carries one, so it is parsed, after its signature was verified, by a
 * scanner for exactly the form that is signed here. A change of the form must keep the old one
 * readable for queue_ticket_ttl_seconds.
 */
#ifndef SLUICE_IDENTITY_QUEUE_TICKET_H
#define SLUICE_IDENTITY_QUEUE_TICKET_H

#include <stddef.h>
#include <stdint.h>

#include "lib/base/arena.h"
#include "lib/base/str.h"
#include "lib/identity/key_set.h"

enum {
    QUEUE_TICKET_TEXT = 768, /* longest ticket */
    QUEUE_TICKET_LANE_MAX = 32,
    QUEUE_TICKET_GENERATION_MAX = 4095
};

#define QUEUE_TICKET_LANE_DEFAULT "main"
#define QUEUE_TICKET_SEQ_MAX      ((int64_t)1 << 41)
#define QUEUE_TICKET_EPOCH_MAX    ((int64_t)1 << 31)

/** The claims. Text is borrowed when signing and lives in the arena after verifying. */
struct queue_ticket {
    struct str subject;   /* member id or visitor id */
    struct str queue;     /* slug */
    struct str lane;      /* slug of at most 32 characters */
    int64_t epoch;        /* 1..2^31 */
    int64_t seq;          /* place number, 1..2^41 */
    int64_t generation;   /* session generation (claim queueSessionId), 0..4095 */
    int64_t incarnation;  /* 1..2^31 (claim inc) */
    int64_t issued_at_s;  /* seconds since 1970 (iat) */
    int64_t expires_at_s; /* seconds since 1970 (exp) */
};

enum queue_ticket_outcome {
    QUEUE_TICKET_VALID,
    QUEUE_TICKET_MALFORMED,
    QUEUE_TICKET_UNKNOWN_KEY,
    QUEUE_TICKET_BAD_SIGNATURE,
    QUEUE_TICKET_OTHER_QUEUE,
    QUEUE_TICKET_EXPIRED
};

/** Writes the ticket, NUL-terminated. Returns its length; 0 if a claim is out of its range: a
 *  defect of the caller. */
size_t queue_ticket_sign(struct key_set *keys, const struct queue_ticket *ticket,
                         char out[QUEUE_TICKET_TEXT + 1]);

/** Verifies `token` for `queue` at `now_ms` (wall time, ms since 1970). `ticket` is filled only for
 *  QUEUE_TICKET_VALID; its text lives in `arena`. */
enum queue_ticket_outcome queue_ticket_verify(struct key_set *keys, struct str token,
                                              struct str queue, int64_t now_ms, struct arena *arena,
                                              struct queue_ticket *ticket);

/** A description for people, e.g. "the queue ticket has expired". */
const char *queue_ticket_reason(enum queue_ticket_outcome outcome);

#endif
