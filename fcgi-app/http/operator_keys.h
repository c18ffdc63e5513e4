/*
 * operator_keys — the keys of operators and viewers, kept as SHA-256 only.
 */
#ifndef SLUICE_HTTP_OPERATOR_KEYS_H
#define SLUICE_HTTP_OPERATOR_KEYS_H

#include "fcgi-app/http/caller.h"
#include "lib/base/secret.h"
#include "lib/base/str.h"
#include "lib/settings/settings.h"

struct operator_keys;

/** Reads admin_key_file (needed) and viewer_key_file (may be unset); a line end behind a key is not part of
 *  it. Returns NULL, with one sentence in `error`, where a file is not usable or a key is shorter than 16
 *  characters. Free it with operator_keys_free(). */
struct operator_keys *operator_keys_open(const struct settings *settings, char error[SECRET_ERROR]);

/** NULL is allowed. */
void operator_keys_free(struct operator_keys *keys);

/** Whose key `key` is, found in a time that does not depend on where it differs. */
enum operator_role operator_keys_role(const struct operator_keys *keys, struct str key);

#endif
