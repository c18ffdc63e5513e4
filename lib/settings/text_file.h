/*
 * text_file — reads a small file that is no secret, and refuses one that anybody could have
 * changed.
 */
#ifndef SLUICE_SETTINGS_TEXT_FILE_H
#define SLUICE_SETTINGS_TEXT_FILE_H

#include <stdbool.h>
#include <stddef.h>

enum { TEXT_FILE_ERROR = 256 };

/** Reads all of `path` (at most `maximum` bytes) into `*bytes`, NUL behind it; free() it.
 *  Returns false, with one sentence in `error`, for what is no regular file, too large, or
 *  writable by everyone. */
bool text_file_read(const char *path, size_t maximum, char **bytes, size_t *length,
                    char error[TEXT_FILE_ERROR]);

#endif
