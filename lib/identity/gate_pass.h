/*
 * gate_pass — the signed cookie that lets a browser through the gate.
 *
 * The value is, in one line,
 *
 *     v1.<kid>.<kind>.<queue>.<epoch>.<incarnation>.<seq>.<generation>.<renewed, ms>.<ends, ms>
 *     .<admission>.<subject>.<mac>
 *
 * Only the subject may hold a '.', and it stands between fields that hold none: so a value can be
 * read in one way only, and numbers have one spelling only. The MAC covers all that is before it.
 * A value has at most 327 characters, all of them fit for a cookie without quotes.
 *
 * A pass says what was true when it was signed. That its place has ended, or that the queue has a
 * newer epoch, is for the caller to judge: the times are Redis's, and so is the epoch in force.
 */
#ifndef SLUICE_IDENTITY_GATE_PASS_H
#define SLUICE_IDENTITY_GATE_PASS_H

#include <stddef.h>
#include <stdint.h>

#include "lib/base/str.h"
#include "lib/identity/key_set.h"

enum { GATE_PASS_TEXT = 327 /* longest value */ };

enum gate_pass_kind {
    GATE_PASS_ADMITTED = 'a',
    GATE_PASS_WATCHED = 'w' /* counted only: admits to nothing */
};

/** The fields. Text is borrowed: by make from the caller, after verify from the value. A watched
 *  pass may have no admission and 0 for epoch, incarnation and seq. */
struct gate_pass {
    struct str queue;     /* slug */
    struct str subject;   /* member id or visitor id */
    struct str admission; /* base64url of SHA-256, 43 characters */
    int64_t epoch;        /* 1..2^31 */
    int64_t incarnation;  /* 1..2^31 */
    int64_t seq;          /* place number, 1..2^41; 0: the place is an unpaid order's */
    int64_t generation;   /* session generation, 0..4095 */
    int64_t renewed_ms;   /* Redis time of the last renewal, ms since 1970 up to the year 9999 */
    int64_t ends_ms;      /* Redis time at which the place ends, likewise */
    char kind;            /* one of enum gate_pass_kind */
};

enum gate_pass_outcome {
    GATE_PASS_VALID,
    GATE_PASS_ABSENT,      /* the value is empty */
    GATE_PASS_MALFORMED,   /* not of this form, or rightly signed with a field out of its range */
    GATE_PASS_UNKNOWN_KEY, /* the ring has no such key (any more) */
    GATE_PASS_FORGED,
    GATE_PASS_OTHER_QUEUE
};

/** Writes the value, signed by the ring's first key, and a NUL to `out`. Returns its length; 0
 *  where a field is out of its range, which is a defect of the caller's. */
size_t gate_pass_make(struct key_set *keys, const struct gate_pass *pass,
                      char out[GATE_PASS_TEXT + 1]);

/** Checks `value` for `queue`, by any key of the ring. `pass` is filled only for GATE_PASS_VALID,
 *  and its text lives as long as `value`. */
enum gate_pass_outcome gate_pass_verify(struct key_set *keys, struct str value, struct str queue,
                                        struct gate_pass *pass);

/** What to tell a person, e.g. "the gate pass is signed by an unknown key". */
const char *gate_pass_reason(enum gate_pass_outcome outcome);

#endif
