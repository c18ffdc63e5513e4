/*
 * arena — memory that lives as long as one request and is given back in one piece.
 * Lengths of input are bounded before anything is allocated, so running out of memory means a
 * broken machine or a defect: allocation succeeds or the process ends (and is started again by its
 * supervisor).
 */
#ifndef SLUICE_BASE_ARENA_H
#define SLUICE_BASE_ARENA_H

#include <stddef.h>
#include <stdint.h>

#include "lib/base/str.h"

struct arena;

/** A new, empty arena; never NULL. Free it with arena_free(). */
struct arena *arena_new(void);

/** `size` zeroed bytes, aligned for any type, valid until the next arena_reset() or
 *  arena_free(). */
void *arena_alloc(struct arena *arena, size_t size);

/** A copy of `text` with a NUL behind it. */
char *arena_copy(struct arena *arena, struct str text);

/** Both texts, one behind the other, with a NUL behind them. */
char *arena_join(struct arena *arena, struct str first, struct str second);

/** `value` in decimal. */
const char *arena_int(struct arena *arena, int64_t value);

/** printf into the arena. */
char *arena_format(struct arena *arena, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/** Calls `release(object)` at the next reset or free, last registered first: for objects of
 *  other libraries. */
void arena_on_reset(struct arena *arena, void (*release)(void *), void *object);

/** Gives everything back and keeps the first block for the next request. */
void arena_reset(struct arena *arena);

/** Gives everything back. NULL is allowed. */
void arena_free(struct arena *arena);

#endif
