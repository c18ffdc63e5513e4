/*
 * read_file — the bytes of an open file, as many as it is known to have.
 */
#ifndef SLUICE_BASE_READ_FILE_H
#define SLUICE_BASE_READ_FILE_H

#include <stddef.h>

/** Reads exactly `size` bytes from `fd`, with a NUL behind them. They are the caller's to free.
 *  NULL where the file has fewer or cannot be read; what was read is then wiped, for it may be a
 *  secret. */
char *read_file(int fd, size_t size);

#endif
