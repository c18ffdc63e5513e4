/*
 * text_secret — a secret issued by a third party, one line of printable characters in a file that
 * is reloaded when it changes.
 */
#ifndef SLUICE_IDENTITY_TEXT_SECRET_H
#define SLUICE_IDENTITY_TEXT_SECRET_H

#include <stdbool.h>

#include "lib/base/str.h"
#include "lib/identity/watched_file.h"

enum { TEXT_SECRET_MAX = 512, TEXT_SECRET_ERROR = 512 };

struct text_secret {
    struct watched_file file;
    char text[TEXT_SECRET_MAX + 1];
};

/** Reads `path`. Returns false, with one sentence in `error`, if it is not one line of 1 to
 *  TEXT_SECRET_MAX printable characters that only its owner may read. Close it with
 *  text_secret_close() either way. */
bool text_secret_open(struct text_secret *secret, const char *path, char error[TEXT_SECRET_ERROR]);

/** Wipes it. A zeroed one is allowed. */
void text_secret_close(struct text_secret *secret);

/** The secret as the file has it now; if the file is unusable, the last good one, and the log
 *  says so. Borrowed until the next call. */
struct str text_secret_now(struct text_secret *secret);

#endif
