/*
 * hash — FNV-1a with 64 bits, for hash tables and layout identifiers. It does not resist chosen
 * collisions: a table that it indexes must stay correct, and bounded, with any input.
 */
#ifndef SLUICE_BASE_HASH_H
#define SLUICE_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

#include "lib/base/str.h"

/** The hash of no bytes. */
#define HASH_EMPTY UINT64_C(0xcbf29ce484222325)

/** The hash of what `hash` stands for, followed by the `n` bytes at `bytes`. */
static inline uint64_t hash_add(uint64_t hash, const void *bytes, size_t n)
{
    const unsigned char *next = bytes;

    for (size_t i = 0; i < n; i++) {
        hash = (hash ^ next[i]) * UINT64_C(0x100000001b3);
    }
    return hash;
}

/** The hash of a text. */
static inline uint64_t hash_text(struct str text)
{
    return hash_add(HASH_EMPTY, text.p, text.n);
}

#endif
