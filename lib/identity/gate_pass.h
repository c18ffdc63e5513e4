/*
 * gate_pass — the signed cookie that lets a browser through the gate.
 *
 * The value is, in one line,
 *
 *     v1.<kid>.<kind>.<queue>.<epoch>.<incarnation>.<seq>.<generation>.<renewed, ms>.<ends, ms>
 *     .<admission>.<subject>.<mac>
 *
 * Only the subject may contain a '.', and it stands between fields that cannot: a value can be
 * parsed in one way only, and numbers have one spelling only. The MAC covers everything before it.
 * A value has at most 327 characters, all allowed in a cookie without quotes.
 *
 * A pass states what was true when it was signed. Whether its place has ended or the queue has a
 * newer epoch is for the caller to check: the times are Redis', and so is the epoch in force.
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
    GATE_PASS_WATCHED = 'w' /* counted only: does not admit */
};

/** The fields. Text is borrowed: from the caller when made, from the value when verified. A watched
 *  pass may have no admission and 0 for epoch, incarnation and seq. */
struct gate_pass {
    struct str queue;     /* slug */
    struct str subject;   /* member id or visitor id */
    struct str admission; /* base64url of SHA-256, 43 characters */
    int64_t epoch;        /* 1..2^31 */
    int64_t incarnation;  /* 1..2^31 */
    int64_t seq;          /* place number, 1..2^41; 0: the place of an unpaid order */
    int64_t generation;   /* session generation, 0..4095 */
    int64_t renewed_ms;   /* Redis time of the last renewal, ms since 1970 up to the year 9999 */
    int64_t ends_ms;      /* Redis time at which the place ends, likewise */
    char kind;            /* one of enum gate_pass_kind */
};

enum gate_pass_outcome {
    GATE_PASS_VALID,
    GATE_PASS_ABSENT,      /* the value is empty */
    GATE_PASS_MALFORMED,   /* wrong syntax, or correctly signed with a field out of its range */
    GATE_PASS_UNKNOWN_KEY, /* no such key in the ring (any more) */
    GATE_PASS_FORGED,
    GATE_PASS_OTHER_QUEUE
};

/** Writes the value, signed by the ring's first key, NUL-terminated. Returns its length; 0 if a
 *  field is out of its range: a defect of the caller. */
size_t gate_pass_make(struct key_set *keys, const struct gate_pass *pass,
                      char out[GATE_PASS_TEXT + 1]);

/** Verifies `value` for `queue` with any key of the ring. `pass` is filled only for
 *  GATE_PASS_VALID, and its text lives as long as `value`. */
enum gate_pass_outcome gate_pass_verify(struct key_set *keys, struct str value, struct str queue,
                                        struct gate_pass *pass);

/** A description for people, e.g. "the gate pass is signed by an unknown key". */
const char *gate_pass_reason(enum gate_pass_outcome outcome);

#endif
