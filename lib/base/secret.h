/*
 * secret — reads small secret files and refuses those that others could read.
 */
#ifndef SLUICE_BASE_SECRET_H
#define SLUICE_BASE_SECRET_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/base/str.h"

enum { SECRET_MAX = 64 * 1024, SECRET_ERROR = 256 };

/** Reads all of `path` (1..65536 bytes) into `*bytes`, NUL behind it; free it with
 *  secret_free(). Refuses a file that others may read or write. A group may read it that was
 *  made for this key: one that the process is in beside that of its user, or root's; where root
 *  reads, any but its own. On failure returns false and puts one sentence into `error`. */
bool secret_read(const char *path, char **bytes, size_t *length, char error[SECRET_ERROR]);

/** Overwrites and frees. NULL is allowed. */
void secret_free(char *bytes, size_t length);

#endif
