#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/sandbox.h"
#include "sluicectl/doctor/doctor.h"

enum {
    BACKLOG = 4096, /* of the sockets of the pools and of nginx, as scripts/run sets them */
    FILES = 65536,
    NUMBER_TEXT = 64
};

int64_t doctor_kernel_number(const struct doctor *doctor, const char *file)
{
    char text[NUMBER_TEXT];
    int64_t number = -1;
    int fd = open(arena_format(doctor->arena, "%s/%s", doctor->invocation->proc, file),
                  O_RDONLY | O_CLOEXEC);

    if (fd < 0) {
        return -1;
    }
    ssize_t n = read(fd, text, sizeof(text) - 1);
    (void)close(fd);
    struct str line = str_sized(text, n > 0 ? (size_t)n : 0);
    while (line.n > 0 && (line.p[line.n - 1] == '\n' || line.p[line.n - 1] == ' ')) {
        line.n--;
    }
    return str_to_int64(line, 0, INT64_MAX, &number) ? number : -1;
}

/** Checks that a number is at least `least`. A missing one cannot be judged: another kernel, or a
 *  container. */
static void at_least(struct doctor *doctor, const char *name, const char *file, const char *key,
                     int64_t least, enum finding_state otherwise, const char *what_it_means)
{
    int64_t number = doctor_kernel_number(doctor, file);

    if (number < 0) {
        doctor_note(doctor, name, FINDING_WARN,
                    "Check it on the host itself, or name its /proc with --proc.",
                    "%s cannot be read here", key);
        return;
    }
    doctor_check(doctor, name, number >= least, otherwise,
                 arena_format(doctor->arena,
                              "%s Put %s = %" PRId64
                              " into /etc/sysctl.d/90-sluice.conf and run sysctl --system.",
                              what_it_means, key, least),
                 "%s is %" PRId64, key, number);
}

/** Checks what the programs can confine themselves with. File access is confined only if the kernel
 *  has Landlock (5.13). */
static void check_sandbox(struct doctor *doctor)
{
    struct sandbox_state possible = sandbox_possible();

    if (!doctor->has_settings) {
        return;
    }
    if (!doctor->settings.sandbox) {
        doctor_note(doctor, "kernel.sandbox", FINDING_WARN,
                    "Set sandbox = true, unless you are debugging the sandbox itself.",
                    "the programs do not confine themselves");
        return;
    }
    doctor_check(doctor, "kernel.sandbox", possible.has_seccomp, FINDING_WARN,
                 "Let the container's own filter allow seccomp, or run a kernel that has it.",
                 "the kernel filters system calls: %s, files: %s",
                 possible.has_seccomp ? "yes" : "no", possible.has_landlock ? "yes" : "no");
}

void doctor_kernel(struct doctor *doctor)
{
    at_least(doctor, "kernel.somaxconn", "sys/net/core/somaxconn", "net.core.somaxconn", BACKLOG,
             FINDING_FAIL,
             "With more waiting connections a pool's socket refuses new ones, however long its own "
             "backlog.");
    at_least(doctor, "kernel.syn-backlog", "sys/net/ipv4/tcp_max_syn_backlog",
             "net.ipv4.tcp_max_syn_backlog", BACKLOG, FINDING_FAIL,
             "If a crowd arrives within a second, half-open connections beyond that are dropped "
             "and retried seconds later.");
    at_least(doctor, "kernel.syncookies", "sys/net/ipv4/tcp_syncookies", "net.ipv4.tcp_syncookies",
             1, FINDING_FAIL,
             "Without cookies a flood of half-open connections keeps everyone out.");
    at_least(doctor, "kernel.files", "sys/fs/file-max", "fs.file-max", FILES, FINDING_FAIL,
             "Every client may need two files.");
    at_least(doctor, "kernel.overcommit", "sys/vm/overcommit_memory", "vm.overcommit_memory", 1,
             FINDING_WARN,
             "Redis forks to rewrite its log, and Linux may refuse the fork although its memory "
             "would never be used.");
    check_sandbox(doctor);
}
