/*
 * arena — memory with the lifetime of one request, released in one piece.
 * Input lengths are bounded before anything is allocated, so running out of memory means a broken
 * machine or a defect: an allocation succeeds or the process aborts (and its supervisor restarts
 * it). Not thread-safe.
 */
#ifndef SLUICE_BASE_ARENA_H
#define SLUICE_BASE_ARENA_H

#include <stddef.h>
#include <stdint.h>

#include "lib/base/str.h"

struct arena;

/** Returns a new, empty arena, never NULL. Free it with arena_free(). */
struct arena *arena_new(void);

/** Returns `size` zeroed bytes, aligned for any type, valid until the next arena_reset() or
 *  arena_free(). Never NULL. */
void *arena_alloc(struct arena *arena, size_t size);

/** Returns a NUL-terminated copy of `text`. */
char *arena_copy(struct arena *arena, struct str text);

/** Returns the concatenation of both texts, NUL-terminated. */
char *arena_join(struct arena *arena, struct str first, struct str second);

/** Returns `value` in decimal. */
const char *arena_int(struct arena *arena, int64_t value);

/** printf() into the arena. */
char *arena_format(struct arena *arena, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/** Registers `release(object)` to be called at the next reset or free, in reverse order of
 *  registration: for objects of other libraries. */
void arena_on_reset(struct arena *arena, void (*release)(void *), void *object);

/** Releases everything allocated so far; the first block is kept for the next request. */
void arena_reset(struct arena *arena);

/** Releases everything, the arena included. NULL is allowed. */
void arena_free(struct arena *arena);

#endif
