/*
 * test_pause — stops the process at a named step, so that a test can kill it there or resume it
 * late. Only in builds with --enable-test-hooks; elsewhere the calls compile to nothing.
 */
#ifndef SLUICE_BASE_TEST_PAUSE_H
#define SLUICE_BASE_TEST_PAUSE_H

#ifdef SLUICE_TEST_HOOKS
/** Raises SIGSTOP, once, if the file `$SLUICE_TEST_PAUSE_DIR/<step>` exists; renames it to
 *  `<step>.hit` first. */
void test_pause(const char *step);
#else
static inline void test_pause(const char *step)
{
    (void)step;
}
#endif

#endif
