/*
 * read_file — reads an open file of known size.
 */
#ifndef SLUICE_BASE_READ_FILE_H
#define SLUICE_BASE_READ_FILE_H

#include <stddef.h>

/** Reads exactly `size` bytes from `fd` and appends a NUL. Returns memory for the caller to free(),
 *  or NULL if the file is shorter or cannot be read; what was read is then wiped, as it may be a
 *  secret. */
char *read_file(int fd, size_t size);

#endif
