/*
 * text_file — reads a small file that is not secret, and refuses one that everyone could have
 * modified.
 */
#ifndef SLUICE_SETTINGS_TEXT_FILE_H
#define SLUICE_SETTINGS_TEXT_FILE_H

#include <stdbool.h>
#include <stddef.h>

enum { TEXT_FILE_ERROR = 256 };

/** Reads all of `path` (at most `maximum` bytes) into `*bytes`, NUL-terminated; free() it. Returns
 *  false, with one sentence in `error`, for anything but a regular file, a larger one, or one that
 *  everyone may write to. */
bool text_file_read(const char *path, size_t maximum, char **bytes, size_t *length,
                    char error[TEXT_FILE_ERROR]);

#endif
