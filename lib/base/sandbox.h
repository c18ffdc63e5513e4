/*
 * sandbox — confines the process for the rest of its life, so that an attacker who takes it over
 * gets only what the program needs anyway. Three measures, each as far as the kernel supports it:
 *   - no core file, no access to its memory by other processes of its user, no new privileges by
 *     exec;
 *   - seccomp: the kernel kills the process when it executes a program, inspects another process or
 *     makes any other system call that none of our programs ever makes (sandbox_calls.tbl); calls
 *     that are merely not needed get EPERM;
 *   - Landlock: it can open only the files named here, and connect by TCP only with has_network.
 * Threads that already exist are confined by seccomp alone: call it before the first is created.
 */
#ifndef SLUICE_BASE_SANDBOX_H
#define SLUICE_BASE_SANDBOX_H

#include <stdbool.h>
#include <stddef.h>

enum { SANDBOX_PATHS_MAX = 128 };

/** What the process may access; starts zeroed. Paths are borrowed until sandbox_enter() has
 *  returned. */
struct sandbox {
    size_t count;
    struct {
        const char *path;
        bool may_write;
    } paths[SANDBOX_PATHS_MAX];
    bool has_network; /* may create IP sockets and connect by TCP */
};

/** Which measures are in force. */
struct sandbox_state {
    bool is_private;   /* no core file, memory closed to other processes, no new privileges */
    bool has_seccomp;  /* system calls are filtered */
    bool has_landlock; /* file access is restricted */
};

/** Allows reading the file at `path`, or everything below it if it is a directory; with
 *  `may_write` also writing, creating and removing. An empty or missing path is ignored.
 *  More than SANDBOX_PATHS_MAX paths abort the process: a defect. */
void sandbox_allow(struct sandbox *sandbox, const char *path, bool may_write);

/** Confines the process as far as the kernel can. Irreversible. */
struct sandbox_state sandbox_enter(const struct sandbox *sandbox);

/** What the kernel supports, without confining anything; `is_private` is always true. */
struct sandbox_state sandbox_possible(void);

#ifdef SLUICE_TEST_HOOKS
/** If $SLUICE_TEST_BREAK_OUT names an escape, tries it and exits: with 0 if it succeeded,
 *  with 3 if it was refused, or killed by the kernel. */
void sandbox_break_out(void);
#else
static inline void sandbox_break_out(void)
{
}
#endif

#endif
