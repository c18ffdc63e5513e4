/*
 * lottery — the draw among those who entered before the opening, so that anybody can check it.
 *
 * A secret is drawn by chance when a queue becomes a lottery, and its SHA-256 (the commitment) is
 * public from then on. Every entry is put on a list whose hash goes along. At the opening the list
 * closes, and seed = HMAC-SHA-256(secret, "queue epoch listHash ranges"), which nobody could know
 * before. Numbers of the ranges count from 0 on; a Feistel network over a square of at least as
 * many points, its round keys SHA-1(seed ":" round), shuffles them. lua/include/draw.lua computes
 * the same places.
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

/** Most numbers that one draw takes: the square's side stays below 2^16. */
#define LOTTERY_COUNT_MAX ((int64_t)1 << 32)

/** Numbers from..to, of which `before` others come first in the draw. */
struct lottery_range {
    int64_t from;
    int64_t to;
    int64_t before;
};

/** A draw, ready to be asked. Lives in the arena that it was made in. */
struct lottery {
    const struct lottery_range *ranges; /* rising */
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

/** Makes the draw of `seed` (hex) over `ranges` ("1-500,900-950": rising, apart, numbers
 *  1..2^41). Returns NULL for ranges of another form or of more than LOTTERY_COUNT_MAX numbers. */
const struct lottery *lottery_read(struct arena *arena, struct str seed, struct str ranges);

/** The place, 0..count-1, that `number` has drawn; -1 for a number that was not in the draw. */
int64_t lottery_place(const struct lottery *lottery, int64_t number);

/** The number that has drawn `place` (0..count-1). */
int64_t lottery_number(const struct lottery *lottery, int64_t place);

/** Adds an entrant's line ("number member") to the list's hash; `hash` holds "" before the
 *  first. */
void lottery_list_add(struct arena *arena, struct str line, char hash[LOTTERY_LIST_HASH_TEXT + 1]);

#endif
