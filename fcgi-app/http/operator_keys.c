#include "fcgi-app/http/operator_keys.h"

#include <stdio.h>
#include <stdlib.h>

#include "lib/base/digest.h"

enum { KEY_MIN = 16 };

struct operator_keys {
    unsigned char admin[SHA256_BYTES];
    unsigned char viewer[SHA256_BYTES];
    bool has_viewer;
};

static bool read_key(const char *path, unsigned char digest[SHA256_BYTES], char error[SECRET_ERROR])
{
    char *bytes;
    size_t length;

    if (!secret_read(path, &bytes, &length, error)) {
        return false;
    }
    size_t n = length;
    while (n > 0 && (bytes[n - 1] == '\n' || bytes[n - 1] == '\r')) {
        n--;
    }
    if (n >= KEY_MIN) {
        sha256(str_sized(bytes, n), digest);
    } else {
        (void)snprintf(error, SECRET_ERROR, "%s: a key has at least %d characters", path, KEY_MIN);
    }
    secret_free(bytes, length);
    return n >= KEY_MIN;
}

struct operator_keys *operator_keys_open(const struct settings *settings, char error[SECRET_ERROR])
{
    struct operator_keys *keys = calloc(1, sizeof(*keys));

    if (keys == NULL) {
        abort();
    }
    keys->has_viewer = settings->viewer_key_file[0] != '\0';
    if (!read_key(settings->admin_key_file, keys->admin, error) ||
        (keys->has_viewer && !read_key(settings->viewer_key_file, keys->viewer, error))) {
        operator_keys_free(keys);
        return NULL;
    }
    return keys;
}

void operator_keys_free(struct operator_keys *keys)
{
    free(keys);
}

enum operator_role operator_keys_role(const struct operator_keys *keys, struct str key)
{
    unsigned char digest[SHA256_BYTES];

    sha256(key, digest);
    struct str given = str_sized((const char *)digest, sizeof(digest));
    bool is_admin = constant_time_equal(given, str_sized((const char *)keys->admin, SHA256_BYTES));
    bool is_viewer =
        constant_time_equal(given, str_sized((const char *)keys->viewer, SHA256_BYTES));
    if (key.n == 0) {
        return OPERATOR_NONE;
    }
    return is_admin                        ? OPERATOR_FULL
           : is_viewer && keys->has_viewer ? OPERATOR_VIEWER
                                           : OPERATOR_NONE;
}
