/*
 * secret — reads small secret files and refuses those that other users could read.
 */
#ifndef SLUICE_BASE_SECRET_H
#define SLUICE_BASE_SECRET_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/base/str.h"

enum { SECRET_MAX = 64 * 1024, SECRET_ERROR = 256 };

/** Reads all of `path` (1 to 65536 bytes) into `*bytes`, NUL-terminated; free it with
 *  secret_free(). Refuses a file that others may read or write. Group read permission is accepted
 *  for root's group and for a supplementary group of the process, never for its effective group
 *  (a process of root: any group but its own). On failure returns false with one sentence in
 *  `error`. */
bool secret_read(const char *path, char **bytes, size_t *length, char error[SECRET_ERROR]);

/** Wipes and frees. NULL is allowed. */
void secret_free(char *bytes, size_t length);

#endif
