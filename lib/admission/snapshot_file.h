/*
 * snapshot_file — the memory in which one program of a host keeps what the others answer from, and
 * its layout. Of lib/admission/snapshot alone; see docs/decisions/0052.
 *
 * A place a queue. Bits are kept for SNAPSHOT_NUMBERS numbers, a number's bit at its remainder:
 * those that the front has passed make room for new ones. Nobody locks: the one who writes makes
 * the version odd meanwhile.
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
    SNAPSHOT_WORD = 64,         /* numbers a word */
    SNAPSHOT_BLOCK = 512,       /* numbers whose gone ones are summed up */
    SNAPSHOT_WORDS = SNAPSHOT_NUMBERS / SNAPSHOT_WORD,
    SNAPSHOT_BLOCKS = SNAPSHOT_NUMBERS / SNAPSHOT_BLOCK,
    SNAPSHOT_NAME = 64,   /* bytes of a queue's name, zeros behind it */
    SNAPSHOT_TIERS = 1024 /* bytes of pollTiers at most */
};

/** What is true of the queue as a whole, all of one moment. */
struct snapshot_head {
    char queue[SNAPSHOT_NAME];
    int64_t asked_ms; /* monotonic, before Redis was asked; 0: there is nothing to answer from */
    int64_t redis_ms; /* Redis TIME of that moment */
    int64_t state;    /* enum snapshot_state */
    int64_t waiting;  /* in all lanes */
    int64_t front;    /* numbers up to this one are not told apart */
    int64_t last;     /* the last number known of */
    int64_t before;   /* how many go before number front + 1 */
    int64_t near;     /* ranks below this are not for a snapshot */
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

struct snapshot_place {
    _Alignas(64) _Atomic int64_t version; /* odd while it is written */
    _Atomic int64_t head[SNAPSHOT_HEAD_WORDS];
    _Atomic int64_t tiers[SNAPSHOT_TIER_WORDS];
    _Alignas(
        64) _Atomic int64_t wanted_ms; /* monotonic: when somebody last looked; readers write it */
    /* Of each block, how many above the front and below the block's first number are gone. */
    _Alignas(64) _Atomic uint32_t gone_before[SNAPSHOT_BLOCKS];
    _Alignas(4096) _Atomic uint64_t gone[SNAPSHOT_WORDS];
    _Atomic uint64_t ask[SNAPSHOT_WORDS]; /* for Redis to answer; readers set bits too */
};

struct snapshot_file {
    uint64_t layout;
    _Alignas(64) _Atomic uint64_t
        names[SNAPSHOT_QUEUES]; /* snapshot_name_hash() of each place's queue, 0: free */
    struct snapshot_place places[SNAPSHOT_QUEUES];
};

/** Maps the file `path`, made where it is not there or is of another release. `*fd` stays open
 *  where `fd` is given. Returns NULL, with errno, where that cannot be. */
struct snapshot_file *snapshot_file_map(const char *path, int *fd);

void snapshot_file_unmap(struct snapshot_file *file);

/** True for the one process of the host that may write, as long as `fd` is open. */
bool snapshot_file_own(int fd);

/** Never 0. */
uint64_t snapshot_name_hash(struct str queue);

static inline size_t snapshot_word_of(int64_t number)
{
    return (size_t)(number / SNAPSHOT_WORD % SNAPSHOT_WORDS);
}

static inline uint64_t snapshot_bit_of(int64_t number)
{
    return (uint64_t)1 << number % SNAPSHOT_WORD;
}

static inline size_t snapshot_block_of(int64_t number)
{
    return (size_t)(number / SNAPSHOT_BLOCK % SNAPSHOT_BLOCKS);
}

/** The first number of the number's block. */
static inline int64_t snapshot_block_start(int64_t number)
{
    return number - number % SNAPSHOT_BLOCK;
}

/** How many of the numbers from `from` on and below `to`, which must be of one block, are gone. */
int64_t snapshot_gone_between(struct snapshot_place *place, int64_t from, int64_t to);

#endif
