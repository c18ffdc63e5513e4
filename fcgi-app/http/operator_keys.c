#include "fcgi-app/http/operator_keys.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/clock.h"
#include "lib/base/digest.h"
#include "lib/base/log.h"
#include "lib/identity/watched_file.h"

enum { KEY_MIN = 16, KEYS_OF_A_ROLE = 4 };

struct digests {
    unsigned char digest[KEYS_OF_A_ROLE][SHA256_BYTES];
    size_t count;
};

struct role_keys {
    struct watched_file file; /* its path is NULL if the role has no keys */
    struct digests digests;
};

struct operator_keys {
    struct role_keys admin;
    struct role_keys viewer;
};

static struct str without_line_ends(struct str text)
{
    while (text.n > 0 && (text.p[text.n - 1] == '\n' || text.p[text.n - 1] == '\r')) {
        text.n--;
    }
    return text;
}

static bool take_keys(struct str text, struct digests *digests)
{
    struct str line;
    bool more = true;

    text = without_line_ends(text);
    while (more) {
        more = str_split(text, '\n', &line, &text);
        line = without_line_ends(line);
        if (line.n > 0 && line.p[0] == '#') {
            continue; /* a comment line: such a key would be easy to guess */
        }
        if (line.n < KEY_MIN || digests->count == KEYS_OF_A_ROLE) {
            return false;
        }
        sha256(line, digests->digest[digests->count++]);
    }
    return digests->count > 0;
}

static bool read_keys(const char *path, struct digests *digests, char error[SECRET_ERROR])
{
    char *bytes;
    size_t length;

    *digests = (struct digests){.count = 0};
    if (!secret_read(path, &bytes, &length, error)) {
        return false;
    }
    bool good = take_keys(str_sized(bytes, length), digests);
    secret_free(bytes, length);
    if (!good) {
        (void)snprintf(error, SECRET_ERROR,
                       "%s: must be 1 to %d lines with a key of at least %d characters each", path,
                       KEYS_OF_A_ROLE, KEY_MIN);
    }
    return good;
}

static bool role_open(struct role_keys *role, const char *path, char error[SECRET_ERROR])
{
    watched_file_init(&role->file, path, clock_monotonic_ms());
    return read_keys(path, &role->digests, error);
}

static void role_refresh(struct role_keys *role)
{
    struct digests fresh;
    char error[SECRET_ERROR];

    if (role->file.path == NULL || !watched_file_changed(&role->file, clock_monotonic_ms())) {
        return;
    }
    if (!read_keys(role->file.path, &fresh, error)) {
        log_event(LOG_LEVEL_WARNING, "keys.kept", LOG_FIELDS(LOG_TEXT("reason", error)));
        return;
    }
    role->digests = fresh;
    log_event(LOG_LEVEL_INFO, "keys.read", LOG_FIELDS(LOG_TEXT("file", role->file.path)));
}

struct operator_keys *operator_keys_open(const struct settings *settings, char error[SECRET_ERROR])
{
    struct operator_keys *keys = calloc(1, sizeof(*keys));

    if (keys == NULL) {
        abort();
    }
    if (!role_open(&keys->admin, settings->admin_key_file, error) ||
        (settings->viewer_key_file[0] != '\0' &&
         !role_open(&keys->viewer, settings->viewer_key_file, error))) {
        operator_keys_free(keys);
        return NULL;
    }
    return keys;
}

void operator_keys_free(struct operator_keys *keys)
{
    if (keys != NULL) {
        watched_file_free(&keys->admin.file);
        watched_file_free(&keys->viewer.file);
        free(keys);
    }
}

/* Compares all of them, wherever it is found: the time must not depend on it. */
static bool is_one_of(const struct digests *digests, struct str digest)
{
    bool found = false;

    for (size_t i = 0; i < digests->count; i++) {
        found |=
            constant_time_equal(digest, str_sized((const char *)digests->digest[i], SHA256_BYTES));
    }
    return found;
}

enum operator_role operator_keys_role(struct operator_keys *keys, struct str key)
{
    unsigned char digest[SHA256_BYTES];

    role_refresh(&keys->admin);
    role_refresh(&keys->viewer);
    sha256(key, digest);
    struct str given = str_sized((const char *)digest, sizeof(digest));
    bool is_admin = is_one_of(&keys->admin.digests, given);
    bool is_viewer = is_one_of(&keys->viewer.digests, given);
    if (key.n == 0) {
        return OPERATOR_NONE;
    }
    return is_admin ? OPERATOR_FULL : is_viewer ? OPERATOR_VIEWER : OPERATOR_NONE;
}
