#include "lib/admission/snapshot/snapshot_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib/base/hash.h"
#include "lib/base/shared_file.h"

enum { LAYOUT_VERSION = 1, OWNER_BYTE = 1 };

static uint64_t layout(void)
{
    const uint64_t sizes[] = {LAYOUT_VERSION, sizeof(struct snapshot_file),
                              sizeof(struct snapshot_head), offsetof(struct snapshot_slot, gone)};

    return hash_add(HASH_EMPTY, sizes, sizeof(sizes));
}

uint64_t snapshot_name_hash(struct str queue)
{
    uint64_t hash = hash_text(queue);

    return hash == 0 ? 1 : hash;
}

struct snapshot_file *snapshot_file_map(const char *path, int *fd)
{
    const uint64_t head = layout();
    int opened = shared_file_open(path, sizeof(struct snapshot_file), &head, sizeof(head));

    if (opened < 0) {
        return NULL;
    }
    void *map =
        mmap(NULL, sizeof(struct snapshot_file), PROT_READ | PROT_WRITE, MAP_SHARED, opened, 0);
    int why = errno;
    if (fd == NULL || map == MAP_FAILED) {
        (void)close(opened);
    } else {
        *fd = opened;
    }
    errno = why;
    return map == MAP_FAILED ? NULL : map;
}

void snapshot_file_unmap(struct snapshot_file *file)
{
    if (file != NULL) {
        (void)munmap(file, sizeof(*file));
    }
}

bool snapshot_file_own(int fd)
{
    /* An open-file-description lock: released when the process ends, however it ends. */
    struct flock owner = {
        .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = OWNER_BYTE, .l_len = 1};

    return fcntl(fd, F_OFD_SETLK, &owner) == 0;
}

int64_t snapshot_gone_between(struct snapshot_slot *slot, int64_t from, int64_t to)
{
    int64_t count = 0;

    while (from < to) {
        int64_t next = from - from % SNAPSHOT_WORD + SNAPSHOT_WORD;
        uint64_t word =
            atomic_load_explicit(&slot->gone[snapshot_word_of(from)], memory_order_relaxed);
        word &= ~(uint64_t)0 << from % SNAPSHOT_WORD;
        if (next > to) {
            word &= ~(~(uint64_t)0 << to % SNAPSHOT_WORD);
            next = to;
        }
        count += word == 0 ? 0 : __builtin_popcountll(word);
        from = next;
    }
    return count;
}
