/*
 * operator_keys — the keys of operators and viewers, kept as SHA-256 only.
 * A file has a key a line, at most four, all valid: to replace a key, the new one is put first and
 * the old one below it until everybody has the new one. Files are read again when they change;
 * while the new content is invalid, the old keys stay in force and the log says why.
 */
#ifndef SLUICE_HTTP_OPERATOR_KEYS_H
#define SLUICE_HTTP_OPERATOR_KEYS_H

#include "fcgi-app/http/caller.h"
#include "lib/base/secret.h"
#include "lib/base/str.h"
#include "lib/settings/settings.h"

struct operator_keys;

/** Reads admin_key_file (required) and viewer_key_file (may be unset); the line end after a key is
 *  not part of it. Returns NULL, with one sentence in `error`, if a file is not usable or a key is
 *  shorter than 16 characters. Free it with operator_keys_free(). */
struct operator_keys *operator_keys_open(const struct settings *settings, char error[SECRET_ERROR]);

/** NULL is allowed. */
void operator_keys_free(struct operator_keys *keys);

/** The role of `key`, compared in constant time. */
enum operator_role operator_keys_role(struct operator_keys *keys, struct str key);

#endif
