/*
 * test_pause — stops the process at a named step, so that a test can kill it there or let it go on
 * late. Only in builds made with --enable-test-hooks; in every other build the calls vanish.
 */
#ifndef SLUICE_BASE_TEST_PAUSE_H
#define SLUICE_BASE_TEST_PAUSE_H

#ifdef SLUICE_TEST_HOOKS
/** Raises SIGSTOP, once, where the file `$SLUICE_TEST_PAUSE_DIR/<step>` exists; it is renamed to
 *  `<step>.hit` first. */
void test_pause(const char *step);
#else
static inline void test_pause(const char *step)
{
    (void)step;
}
#endif

#endif
