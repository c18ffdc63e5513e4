/*
 * codes — invite and priority codes: their syntax, and loading them into Redis. Redis and
 * PostgreSQL store only hashes of codes. A member's code is passed to line_enter(), which counts
 * its uses.
 */
#ifndef SLUICE_ADMISSION_CODES_H
#define SLUICE_ADMISSION_CODES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/arena.h"
#include "lib/base/digest.h"
#include "lib/base/str.h"
#include "lib/store/redis.h"

enum {
    CODE_TEXT_MAX = 64,       /* longest accepted code */
    CODE_TEXT_MIN = 4,        /* shortest */
    CODE_GENERATED_TEXT = 19, /* 16 letters in groups of four */
    CODES_PER_CALL = 500
};

enum code_kind { CODE_INVITE, CODE_PRIORITY };

/** A code as loaded into Redis. Text is borrowed. */
struct code_entry {
    struct str hash;
    struct str kind;
    int64_t left;    /* uses, ≥ 0 */
    int64_t ends_ms; /* since 1970; 0: never */
};

/** One member's use of one code. Text is borrowed. */
struct code_use {
    struct str hash;
    struct str member;
    int64_t at_ms; /* since 1970, by Redis TIME */
};

/** Parses "invite" or "priority". */
bool code_kind_parse(struct str word, enum code_kind *kind);

/** The name of a kind. */
const char *code_kind_word(enum code_kind kind);

/** Loads at most CODES_PER_CALL codes and as many uses into Redis; existing ones stay unchanged.
 *  `*added` gets how many codes were new. Returns false if Redis did not answer. */
bool codes_load(struct redis *redis, struct arena *arena, struct str queue,
                const struct code_entry *codes, size_t code_count, const struct code_use *uses,
                size_t use_count, int64_t *added);

/** The number of codes that Redis has of `queue`; -1 if it did not answer. */
int64_t codes_known(struct redis *redis, struct arena *arena, struct str queue);

/** The entries at the front of the list of uses that PostgreSQL has not stored. */
struct code_uses {
    const struct code_use *uses; /* at most CODES_PER_CALL: up to the first unreadable entry */
    size_t count;
    struct str first; /* the first entry as text, for code_uses_acknowledge() */
    /* The first entry is not a use, so that `count` is 0: log it, then acknowledge it alone. */
    bool unreadable;
};

/** Reads them into the arena. Returns false if Redis did not answer. */
bool code_uses_pending(struct redis *redis, struct arena *arena, struct str queue,
                       struct code_uses *pending);

/** Removes the first `count` entries, if the list still begins with `first`. Returns false if Redis
 *  did not answer. */
bool code_uses_acknowledge(struct redis *redis, struct arena *arena, struct str queue,
                           struct str first, size_t count);

/** Generates a code of 80 random bits, like "7KQP-XM4D-TR2W-9HCV": letters and digits of which no
 *  two look alike. */
void code_generate(char out[CODE_GENERATED_TEXT + 1]);

/** The hash under which `code` is stored, in the arena: that of the code in uppercase without
 *  spaces and hyphens, so that spelling does not matter. Empty for an empty code. */
struct str code_hash(struct arena *arena, struct str code);

/** True for a code that may be issued: CODE_TEXT_MIN to CODE_TEXT_MAX letters, digits,
 *  hyphens and spaces, at least CODE_TEXT_MIN of them letters or digits. */
bool code_is_sound(struct str code);

#endif
