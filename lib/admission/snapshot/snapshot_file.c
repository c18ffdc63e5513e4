#include "lib/admission/snapshot/snapshot_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LAYOUT_VERSION = 1, OWNER_BYTE = 1 };

static uint64_t hash_on(uint64_t hash, const unsigned char *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        hash = (hash ^ bytes[i]) * 0x100000001b3U; /* FNV-1a */
    }
    return hash;
}

static uint64_t layout(void)
{
    const uint64_t sizes[] = {LAYOUT_VERSION, sizeof(struct snapshot_file),
                              sizeof(struct snapshot_head), offsetof(struct snapshot_place, gone)};

    return hash_on(0xcbf29ce484222325U, (const unsigned char *)sizes, sizeof(sizes));
}

uint64_t snapshot_name_hash(struct str queue)
{
    uint64_t hash = hash_on(0xcbf29ce484222325U, (const unsigned char *)queue.p, queue.n);

    return hash == 0 ? 1 : hash;
}

/* To be called with the file locked. Returns 1 if the file has our layout, 0 if it has
 * another, -1 with errno set. */
static int prepare(int fd)
{
    const uint64_t ours = layout();
    uint64_t found = 0;
    struct stat about;

    if (fstat(fd, &about) != 0) {
        return -1;
    }
    if (about.st_size == 0) {
        /* Programs of other users in the group read and mark here too. */
        (void)fchmod(fd, 0660);
        bool written = ftruncate(fd, (off_t)sizeof(struct snapshot_file)) == 0 &&
                       pwrite(fd, &ours, sizeof(ours), 0) == (ssize_t)sizeof(ours);
        return written ? 1 : -1;
    }
    return about.st_size == (off_t)sizeof(struct snapshot_file) &&
           pread(fd, &found, sizeof(found), 0) == (ssize_t)sizeof(found) && found == ours;
}

/* -1 with errno set, EAGAIN if the file was of another release and has been removed. */
static int open_prepared(const char *path)
{
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0660);

    if (fd < 0) {
        return -1;
    }
    int ours = flock(fd, LOCK_EX) == 0 ? prepare(fd) : -1;
    int why = errno;
    (void)flock(fd, LOCK_UN);
    if (ours == 1) {
        return fd;
    }
    if (ours == 0) {
        why = unlink(path) == 0 || errno == ENOENT ? EAGAIN : errno;
    }
    (void)close(fd);
    errno = why;
    return -1;
}

struct snapshot_file *snapshot_file_map(const char *path, int *fd)
{
    int opened = open_prepared(path);

    if (opened < 0 && errno == EAGAIN) {
        opened = open_prepared(path);
    }
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

int64_t snapshot_gone_between(struct snapshot_place *place, int64_t from, int64_t to)
{
    int64_t count = 0;

    while (from < to) {
        int64_t next = from - from % SNAPSHOT_WORD + SNAPSHOT_WORD;
        uint64_t word =
            atomic_load_explicit(&place->gone[snapshot_word_of(from)], memory_order_relaxed);
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
