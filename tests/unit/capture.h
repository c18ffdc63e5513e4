/*
 * capture — what a test's code writes to standard output or standard error.
 */
#ifndef SLUICE_TESTS_CAPTURE_H
#define SLUICE_TESTS_CAPTURE_H

/** From here on what goes to `fd` (1 or 2) is kept. One at a time for each fd. */
void capture_begin(int fd);

/** Ends that and gives what was written, valid until the next capture of the same fd. */
const char *capture_end(int fd);

#endif
