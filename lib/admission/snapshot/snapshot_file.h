/*
 * snapshot_file — the memory in which one program of a host keeps the snapshots that the others
 * answer from, and its layout. Internal to lib/admission/snapshot/snapshot; see docs/decisions/0052.
 *
 * One slot per queue. It has bits for SNAPSHOT_NUMBERS numbers, a number's bit at the number modulo
 * that: numbers behind the front make room for new ones. There are no locks: the version is odd
 * while the writer changes the slot.
 */
#ifndef SLUICE_ADMISSION_SNAPSHOT_FILE_H
#define SLUICE_ADMISSION_SNAPSHOT_FILE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "lib/base/str.h"

enum {
    SNAPSHOT_QUEUES = 32,
    SNAPSHOT_NUMBERS = 1 << 23, /* behind the front */
    SNAPSHOT_WORD = 64,         /* numbers per word */
    SNAPSHOT_BLOCK = 512,       /* numbers per entry of gone_before */
    SNAPSHOT_WORDS = SNAPSHOT_NUMBERS / SNAPSHOT_WORD,
    SNAPSHOT_BLOCKS = SNAPSHOT_NUMBERS / SNAPSHOT_BLOCK,
    SNAPSHOT_NAME = 64,   /* bytes of a queue's name, zero-padded */
    SNAPSHOT_TIERS = 1024 /* most bytes of pollTiers */
};

/** The state of the queue, all of one moment. */
struct snapshot_head {
    char queue[SNAPSHOT_NAME];
    int64_t asked_ms; /* monotonic, before Redis was called; 0: no answers can be given */
    int64_t redis_ms; /* Redis TIME of that moment */
    int64_t state;    /* enum snapshot_state */
    int64_t waiting;  /* in all lanes */
    int64_t front;    /* numbers up to this one are not distinguished */
    int64_t last;     /* the last known number */
    int64_t before;   /* how many are ahead of number front + 1 */
    int64_t near;     /* ranks below this are not answered from a snapshot */
    int64_t rate_milli;
    int64_t epoch;
    int64_t incarnation;
    int64_t on_hold;
    int64_t for_visitors;
    int64_t exact_only;
    int64_t tiers_length;
};

enum { SNAPSHOT_HEAD_WORDS = sizeof(struct snapshot_head) / sizeof(int64_t) };
enum { SNAPSHOT_TIER_WORDS = SNAPSHOT_TIERS / sizeof(int64_t) };
_Static_assert(sizeof(struct snapshot_head) % sizeof(int64_t) == 0, "copied word by word");

struct snapshot_slot {
    _Alignas(64) _Atomic int64_t version; /* odd while being written */
    _Atomic int64_t head[SNAPSHOT_HEAD_WORDS];
    _Atomic int64_t tiers[SNAPSHOT_TIER_WORDS];
    _Alignas(64) _Atomic int64_t wanted_ms; /* monotonic: last use by a reader; readers write it */
    /* Per block: how many numbers above the front and below the block's first number are gone. */
    _Alignas(64) _Atomic uint32_t gone_before[SNAPSHOT_BLOCKS];
    _Alignas(4096) _Atomic uint64_t gone[SNAPSHOT_WORDS];
    _Atomic uint64_t ask[SNAPSHOT_WORDS]; /* only Redis may answer; readers set bits too */
};

struct snapshot_file {
    uint64_t layout;
    _Alignas(64) _Atomic uint64_t
        names[SNAPSHOT_QUEUES]; /* snapshot_name_hash() of each slot's queue, 0: free */
    struct snapshot_slot slots[SNAPSHOT_QUEUES];
};

/** Maps the file `path`, created if missing or of another release. With `fd`, `*fd` stays open.
 *  Returns NULL, with errno set, if that fails. */
struct snapshot_file *snapshot_file_map(const char *path, int *fd);

/** NULL is allowed. */
void snapshot_file_unmap(struct snapshot_file *file);

/** Makes this process the host's only writer, for as long as `fd` is open. False: another one
 *  is. */
bool snapshot_file_own(int fd);

/** A hash of a queue's name, never 0. */
uint64_t snapshot_name_hash(struct str queue);

/** The word in `gone` and `ask` that has the bit of `number`. */
static inline size_t snapshot_word_of(int64_t number)
{
    return (size_t)(number / SNAPSHOT_WORD % SNAPSHOT_WORDS);
}

/** The bit of `number` in its word. */
static inline uint64_t snapshot_bit_of(int64_t number)
{
    return (uint64_t)1 << number % SNAPSHOT_WORD;
}

/** The entry of `gone_before` for the block of `number`. */
static inline size_t snapshot_block_of(int64_t number)
{
    return (size_t)(number / SNAPSHOT_BLOCK % SNAPSHOT_BLOCKS);
}

/** The first number of the number's block. */
static inline int64_t snapshot_block_start(int64_t number)
{
    return number - number % SNAPSHOT_BLOCK;
}

/** How many numbers in [from, to), which must lie in one block, are gone. */
int64_t snapshot_gone_between(struct snapshot_slot *slot, int64_t from, int64_t to);

#endif
