#include "lib/identity/text_secret.h"

#include <stdio.h>
#include <string.h>

#include <openssl/crypto.h>

#include "lib/base/clock.h"
#include "lib/base/log.h"
#include "lib/base/secret.h"

static bool is_printable(struct str text)
{
    for (size_t i = 0; i < text.n; i++) {
        if (text.p[i] <= 0x20 || text.p[i] > 0x7e) {
            return false;
        }
    }
    return true;
}

/* Reads the secret from its file; the previous one is kept if the file cannot be used. */
static bool read_secret(struct text_secret *secret, const char *path, char error[TEXT_SECRET_ERROR])
{
    char reason[SECRET_ERROR];
    char *bytes;
    size_t length;

    if (!secret_read(path, &bytes, &length, reason)) {
        (void)snprintf(error, TEXT_SECRET_ERROR, "%s", reason);
        return false;
    }
    struct str text = str_sized(bytes, strcspn(bytes, "\r\n"));
    bool good = text.n >= 1 && text.n <= TEXT_SECRET_MAX && is_printable(text);
    if (good) {
        OPENSSL_cleanse(secret->text, sizeof(secret->text));
        str_copy(text, secret->text, sizeof(secret->text));
    } else {
        (void)snprintf(error, TEXT_SECRET_ERROR,
                       "%.400s: is not one line of 1 to %d printable characters", path,
                       TEXT_SECRET_MAX);
    }
    secret_free(bytes, length);
    return good;
}

bool text_secret_open(struct text_secret *secret, const char *path, char error[TEXT_SECRET_ERROR])
{
    secret->text[0] = '\0';
    watched_file_init(&secret->file, path, clock_monotonic_ms());
    return read_secret(secret, path, error);
}

void text_secret_close(struct text_secret *secret)
{
    watched_file_free(&secret->file);
    OPENSSL_cleanse(secret, sizeof(*secret));
}

struct str text_secret_now(struct text_secret *secret)
{
    char error[TEXT_SECRET_ERROR];

    if (watched_file_changed(&secret->file, clock_monotonic_ms()) &&
        !read_secret(secret, secret->file.path, error)) {
        log_event(LOG_LEVEL_WARNING, "keys.kept", LOG_FIELDS(LOG_TEXT("reason", error)));
    }
    return str_of(secret->text);
}
