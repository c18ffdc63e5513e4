#include "lib/base/sandbox_files.h"

#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <linux/landlock.h>

/* Constants that older kernel headers lack; they are the same on every architecture. */
enum { ABI_REFER = 2, ABI_TRUNCATE = 3, ABI_TCP = 4, ABI_DEVICES = 5, ABI_SIGNALS = 6 };
#define TRUNCATE    (1ULL << 14)
#define DEVICES     (1ULL << 15)
#define TCP_BIND    (1ULL << 0)
#define TCP_CONNECT (1ULL << 1)
#define SIGNALS     (1ULL << 1)

#define READ        (LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR)
#define WRITE                                                                                      \
    (READ | LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_REMOVE_FILE |                       \
     LANDLOCK_ACCESS_FS_REMOVE_DIR | LANDLOCK_ACCESS_FS_MAKE_REG | LANDLOCK_ACCESS_FS_MAKE_DIR |   \
     LANDLOCK_ACCESS_FS_MAKE_SOCK | LANDLOCK_ACCESS_FS_REFER | TRUNCATE)
#define OF_FILES (LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_WRITE_FILE | TRUNCATE)
/* All rights of the first ABI version: from executing to creating symbolic links. */
#define FIRST_VERSION ((LANDLOCK_ACCESS_FS_MAKE_SYM << 1) - 1)

struct rules {
    uint64_t files;
    uint64_t tcp;
    uint64_t scoped;
};

static int kernel_version(void)
{
    return (int)syscall(__NR_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
}

static struct rules rules_of(int version, bool has_network)
{
    struct rules rules = {.files = FIRST_VERSION};

    rules.files |= version >= ABI_REFER ? LANDLOCK_ACCESS_FS_REFER : 0;
    rules.files |= version >= ABI_TRUNCATE ? TRUNCATE : 0;
    rules.files |= version >= ABI_DEVICES ? DEVICES : 0;
    if (version >= ABI_TCP) {
        rules.tcp = TCP_BIND | (has_network ? 0 : TCP_CONNECT);
    }
    rules.scoped = version >= ABI_SIGNALS ? SIGNALS : 0;
    return rules;
}

/* Older kernels accept only the shorter structures. */
static size_t length_for(int version)
{
    if (version >= ABI_SIGNALS) {
        return sizeof(struct rules);
    }
    return version >= ABI_TCP ? offsetof(struct rules, scoped) : offsetof(struct rules, tcp);
}

static bool allow(int ruleset, const struct rules *rules, const char *path, bool may_write)
{
    struct stat about;
    int fd = open(path, O_PATH | O_CLOEXEC);

    if (fd < 0) {
        return true; /* a path that does not exist needs no rule */
    }
    uint64_t access = may_write ? WRITE : READ;
    if (fstat(fd, &about) == 0 && !S_ISDIR(about.st_mode)) {
        access &= OF_FILES;
    }
    struct landlock_path_beneath_attr rule = {.allowed_access = access & rules->files,
                                              .parent_fd = fd};
    bool added =
        syscall(__NR_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &rule, 0) == 0;
    (void)close(fd);
    return added;
}

bool sandbox_files_enter(const struct sandbox *sandbox)
{
    int version = kernel_version();

    if (version < 1) {
        return false;
    }
    struct rules rules = rules_of(version, sandbox->has_network);
    int ruleset = (int)syscall(__NR_landlock_create_ruleset, &rules, length_for(version), 0);
    if (ruleset < 0) {
        return false;
    }
    bool done = true;
    for (size_t i = 0; done && i < sandbox->count; i++) {
        done = allow(ruleset, &rules, sandbox->paths[i].path, sandbox->paths[i].may_write);
    }
    done = done && syscall(__NR_landlock_restrict_self, ruleset, 0) == 0;
    (void)close(ruleset);
    return done;
}

bool sandbox_files_possible(void)
{
    return kernel_version() >= 1;
}
