/*
 * lottery — the publicly verifiable draw among those who entered before the opening.
 *
 * A random secret is chosen when a queue becomes a lottery, and its SHA-256 (the commitment) is
 * published at that time. Every entry is added to a list with a running hash. At the opening the
 * list closes, and seed = HMAC-SHA-256(secret, "queue epoch listHash ranges"), which was not
 * predictable before. The numbers of the ranges are renumbered from 0; a Feistel network over a
 * square of at least as many points, its round keys SHA-1(seed ":" round), permutes them.
 * lua/include/draw.lua computes the same places.
 */
#ifndef SLUICE_ADMISSION_LOTTERY_H
#define SLUICE_ADMISSION_LOTTERY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/arena.h"
#include "lib/base/str.h"

enum {
    LOTTERY_SEED_TEXT = 64,       /* hex */
    LOTTERY_COMMITMENT_TEXT = 64, /* hex */
    LOTTERY_LIST_HASH_TEXT = 40,  /* hex */
    LOTTERY_ROUNDS = 8,
    LOTTERY_ROUND_WORDS = 4
};

/** Most numbers in one draw: the square's side stays below 2^16. */
#define LOTTERY_COUNT_MAX ((int64_t)1 << 32)

/** Numbers from..to, preceded by `before` others in the draw. */
struct lottery_range {
    int64_t from;
    int64_t to;
    int64_t before;
};

/** A draw, ready for look-ups. Lives in the arena that it was made in. */
struct lottery {
    const struct lottery_range *ranges; /* ascending */
    size_t range_count;
    int64_t count; /* places: 0..count-1 */
    int64_t side;
    int64_t keys[LOTTERY_ROUNDS][LOTTERY_ROUND_WORDS];
};

/** The commitment to `secret`: its SHA-256 in hex. */
void lottery_commitment(struct str secret, char out[LOTTERY_COMMITMENT_TEXT + 1]);

/** The seed of a draw, in hex. `ranges` as for lottery_read(). */
void lottery_seed(struct arena *arena, struct str secret, struct str queue, int64_t epoch,
                  struct str list_hash, struct str ranges, char out[LOTTERY_SEED_TEXT + 1]);

/** Prepares the draw of `seed` (hex) over `ranges` ("1-500,900-950": ascending, disjoint, numbers
 *  1..2^41). Returns NULL for malformed ranges or more than LOTTERY_COUNT_MAX numbers. */
const struct lottery *lottery_read(struct arena *arena, struct str seed, struct str ranges);

/** The place, 0..count-1, of `number` in the draw; -1 for a number that was not in it. */
int64_t lottery_place(const struct lottery *lottery, int64_t number);

/** The number at `place` (0..count-1). */
int64_t lottery_number(const struct lottery *lottery, int64_t place);

/** Adds an entrant's line ("number member") to the list's running hash; `hash` is "" before the
 *  first. */
void lottery_list_add(struct arena *arena, struct str line, char hash[LOTTERY_LIST_HASH_TEXT + 1]);

#endif
