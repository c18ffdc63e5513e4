/*
 * shared_file — opens a file that the programs of a host, of several users in one group, map into
 * their memory. The file begins with a number that identifies its layout: a file of another release
 * is removed and created again.
 */
#ifndef SLUICE_BASE_SHARED_FILE_H
#define SLUICE_BASE_SHARED_FILE_H

#include <stddef.h>

/** Opens the file `path`. If it is missing, empty, or of another size or layout, it is created with
 *  `size` bytes: the `head_size` bytes at `head`, whose first eight are the layout, then zeros.
 *  Returns the file descriptor, or -1 with errno set: ETIMEDOUT where another process has kept the
 *  file locked for two seconds. */
int shared_file_open(const char *path, size_t size, const void *head, size_t head_size);

#endif
