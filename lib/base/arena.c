#include "lib/base/arena.h"

#include <stdalign.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK_SIZE = 16 * 1024 };

struct block {
    struct block *next;
    size_t size;
    size_t used;
    alignas(max_align_t) char bytes[];
};

struct cleanup {
    struct cleanup *next;
    void (*release)(void *);
    void *object;
};

struct arena {
    struct block *newest; /* the first block is at the end of the list */
    struct cleanup *cleanups;
};

static void *alloc_or_die(size_t size)
{
    void *memory = malloc(size);

    if (memory == NULL) {
        (void)fputs("out of memory\n", stderr);
        abort();
    }
    return memory;
}

static struct block *block_new(size_t size, struct block *next)
{
    struct block *block = alloc_or_die(sizeof(*block) + size);

    block->next = next;
    block->size = size;
    block->used = 0;
    return block;
}

struct arena *arena_new(void)
{
    struct arena *arena = alloc_or_die(sizeof(*arena));

    arena->newest = block_new(BLOCK_SIZE, NULL);
    arena->cleanups = NULL;
    return arena;
}

/* Rounded up so that the next allocation in the block is aligned. */
static size_t padded(size_t size)
{
    const size_t unit = alignof(max_align_t);

    return (size + unit - 1) / unit * unit;
}

void *arena_alloc(struct arena *arena, size_t size)
{
    if (size > SIZE_MAX - BLOCK_SIZE) {
        abort();
    }
    size = padded(size);
    if (size > arena->newest->size - arena->newest->used) {
        arena->newest = block_new(size > BLOCK_SIZE ? size : BLOCK_SIZE, arena->newest);
    }
    char *memory = arena->newest->bytes + arena->newest->used;
    arena->newest->used += size;
    return memset(memory, 0, size);
}

char *arena_copy(struct arena *arena, struct str text)
{
    char *copy = arena_alloc(arena, text.n + 1);

    if (text.n > 0) {
        memcpy(copy, text.p, text.n);
    }
    return copy;
}

char *arena_join(struct arena *arena, struct str first, struct str second)
{
    if (second.n > SIZE_MAX - BLOCK_SIZE || first.n > SIZE_MAX - BLOCK_SIZE - second.n) {
        abort();
    }
    char *both = arena_alloc(arena, first.n + second.n + 1);
    if (first.n > 0) {
        memcpy(both, first.p, first.n);
    }
    if (second.n > 0) {
        memcpy(both + first.n, second.p, second.n);
    }
    return both;
}

const char *arena_int(struct arena *arena, int64_t value)
{
    char *text = arena_alloc(arena, STR_INT64_TEXT + 1);

    (void)str_from_int64(value, text);
    return text;
}

char *arena_format(struct arena *arena, const char *format, ...)
{
    struct block *block = arena->newest;
    size_t room = block->size - block->used; /* formatted in place first: twice would cost twice */
    va_list arguments;

    va_start(arguments, format);
    int length = vsnprintf(block->bytes + block->used, room, format, arguments);
    va_end(arguments);
    if (length < 0) {
        abort();
    }
    if ((size_t)length < room) {
        char *there = block->bytes + block->used;
        block->used += padded((size_t)length + 1); /* fits: block sizes are multiples of the unit */
        return there;
    }
    char *text = arena_alloc(arena, (size_t)length + 1);
    va_start(arguments, format);
    (void)vsnprintf(text, (size_t)length + 1, format, arguments);
    va_end(arguments);
    return text;
}

void arena_on_reset(struct arena *arena, void (*release)(void *), void *object)
{
    struct cleanup *cleanup = arena_alloc(arena, sizeof(*cleanup));

    *cleanup = (struct cleanup){.next = arena->cleanups, .release = release, .object = object};
    arena->cleanups = cleanup;
}

void arena_reset(struct arena *arena)
{
    for (struct cleanup *c = arena->cleanups; c != NULL; c = c->next) {
        c->release(c->object);
    }
    arena->cleanups = NULL;
    while (arena->newest->next != NULL) {
        struct block *older = arena->newest->next;
        free(arena->newest);
        arena->newest = older;
    }
    arena->newest->used = 0;
}

void arena_free(struct arena *arena)
{
    if (arena == NULL) {
        return;
    }
    arena_reset(arena);
    free(arena->newest);
    free(arena);
}
