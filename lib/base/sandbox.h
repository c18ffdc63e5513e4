/*
 * sandbox — confines the process for the rest of its life, so that whoever takes it over by a fault has nothing but what
 * it needs anyway. Three things, each as far as the kernel has it:
 *   - no core file, no look into its memory by others of its user, and no privileges by a program that it starts;
 *   - seccomp: it dies when it starts a program, looks into another process, or asks for anything else that none of our
 *     programs ever does (sandbox_calls.tbl); what is merely not needed is refused with EPERM;
 *   - Landlock: it opens no file but those that were named, and no TCP connection where it has no use for one.
 * Threads that are there already are confined by seccomp alone: call it before the first is made.
 */
#ifndef SLUICE_BASE_SANDBOX_H
#define SLUICE_BASE_SANDBOX_H

#include <stdbool.h>
#include <stddef.h>

enum { SANDBOX_PATHS_MAX = 128 };

/** What the process may open: begins as all zeros. Paths are borrowed until sandbox_enter() has
 *  returned. */
struct sandbox {
    size_t count;
    struct {
        const char *path;
        bool may_write;
    } paths[SANDBOX_PATHS_MAX];
    bool has_network; /* may make IP sockets, and connect by TCP */
};

/** What is in force. */
struct sandbox_state {
    bool is_private;   /* no core file, not to be looked into, no new privileges */
    bool has_seccomp;  /* system calls are filtered */
    bool has_landlock; /* files are */
};

/** The file at `path`, or all that is below it where it is a directory, may be read; with
 *  `may_write` also changed, made and taken away. A path that is empty or not there is left out.
 *  More than SANDBOX_PATHS_MAX end the process: a defect. */
void sandbox_allow(struct sandbox *sandbox, const char *path, bool may_write);

/** Confines the process as far as the kernel can. There is no way back. */
struct sandbox_state sandbox_enter(const struct sandbox *sandbox);

/** What the kernel could do, without doing it; `is_private` is always true. */
struct sandbox_state sandbox_possible(void);

#ifdef SLUICE_TEST_HOOKS
/** Where $SLUICE_TEST_BREAK_OUT names one, tries that way out, and ends the process: with 0
 *  where it was open, with 3 where it was refused, or by the kernel. */
void sandbox_break_out(void);
#else
static inline void sandbox_break_out(void)
{
}
#endif

#endif
