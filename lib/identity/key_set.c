#include "lib/identity/key_set.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <openssl/crypto.h>

#include "lib/base/clock.h"
#include "lib/base/encoding.h"
#include "lib/base/log.h"
#include "lib/identity/watched_file.h"

enum { SECRET_BYTES_MIN = 32, SECRET_BYTES_MAX = 512 };

struct ring {
    struct ring_key keys[KEY_SET_MAX];
    size_t count;
};

struct key_set {
    struct ring ring;
    struct watched_file file;
};

static void ring_clear(struct ring *ring)
{
    for (size_t i = 0; i < ring->count; i++) {
        mac_key_free(ring->keys[i].mac);
    }
    ring->count = 0;
}

static const struct ring_key *ring_find(const struct ring *ring, struct str kid)
{
    for (size_t i = 0; i < ring->count; i++) {
        if (str_equal(kid, str_of(ring->keys[i].kid))) {
            return &ring->keys[i];
        }
    }
    return NULL;
}

static bool is_kid(struct str text)
{
    if (text.n < 1 || text.n > KID_MAX) {
        return false;
    }
    for (size_t i = 0; i < text.n; i++) {
        char c = text.p[i];
        if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
              c == '_' || c == '-')) {
            return false;
        }
    }
    return true;
}

/* Adds the key of one line. Returns NULL, or the reason why it is refused. */
static const char *ring_add(struct ring *ring, struct str line)
{
    unsigned char secret[SECRET_BYTES_MAX];
    struct str kid;
    struct str text;
    size_t length;

    if (!str_split(line, ':', &kid, &text) || !is_kid(kid)) {
        return "is not of the form kid:secret, kid being 1 to 32 of A-Z a-z 0-9 _ -";
    }
    if (ring_find(ring, kid) != NULL) {
        return "has a kid that was there before";
    }
    if (ring->count == KEY_SET_MAX) {
        return "is one key too many, 16 are the most";
    }
    if (!base64url_decode(text, secret, sizeof(secret), &length) || length < SECRET_BYTES_MIN) {
        OPENSSL_cleanse(secret, sizeof(secret));
        return "has a secret that is not base64url of 32 to 512 bytes";
    }
    struct ring_key *key = &ring->keys[ring->count++];
    memcpy(key->kid, kid.p, kid.n);
    key->kid[kid.n] = '\0';
    key->mac = mac_key_new(str_sized((const char *)secret, length));
    OPENSSL_cleanse(secret, sizeof(secret));
    return NULL;
}

static bool ring_parse(struct ring *ring, struct str rest, const char *path,
                       char error[SECRET_ERROR])
{
    for (int number = 1; rest.n > 0; number++) {
        struct str line;
        (void)str_split(rest, '\n', &line, &rest);
        line = str_trim(line);
        if (line.n == 0 || line.p[0] == '#') {
            continue;
        }
        const char *why = ring_add(ring, line);
        if (why != NULL) {
            (void)snprintf(error, SECRET_ERROR, "%s: line %d %s", path, number, why);
            return false;
        }
    }
    if (ring->count == 0) {
        (void)snprintf(error, SECRET_ERROR, "%s: has no key", path);
        return false;
    }
    return true;
}

/* Fills an empty ring; it stays empty if the file cannot be used. */
static bool ring_read(struct ring *ring, const char *path, char error[SECRET_ERROR])
{
    char *bytes;
    size_t length;

    if (!secret_read(path, &bytes, &length, error)) {
        return false;
    }
    bool good = ring_parse(ring, str_sized(bytes, length), path, error);
    secret_free(bytes, length);
    if (!good) {
        ring_clear(ring);
    }
    return good;
}

struct key_set *key_set_open(const char *path, char error[SECRET_ERROR])
{
    struct key_set *keys = calloc(1, sizeof(*keys));

    if (keys == NULL) {
        abort();
    }
    watched_file_init(&keys->file, path, clock_monotonic_ms());
    if (!ring_read(&keys->ring, path, error)) {
        key_set_free(keys);
        return NULL;
    }
    return keys;
}

void key_set_free(struct key_set *keys)
{
    if (keys != NULL) {
        ring_clear(&keys->ring);
        watched_file_free(&keys->file);
        free(keys);
    }
}

void key_set_refresh(struct key_set *keys, int64_t now_monotonic_ms)
{
    struct ring fresh = {.count = 0};
    char error[SECRET_ERROR];

    if (!watched_file_changed(&keys->file, now_monotonic_ms)) {
        return;
    }
    if (!ring_read(&fresh, keys->file.path, error)) {
        log_event(LOG_LEVEL_WARNING, "keys.kept", LOG_FIELDS(LOG_TEXT("reason", error)));
        return;
    }
    ring_clear(&keys->ring);
    keys->ring = fresh;
    log_event(LOG_LEVEL_INFO, "keys.read",
              LOG_FIELDS(LOG_TEXT("file", keys->file.path), LOG_INT("keys", fresh.count)));
}

const struct ring_key *key_set_signer(struct key_set *keys)
{
    key_set_refresh(keys, clock_monotonic_ms());
    return &keys->ring.keys[0];
}

const struct ring_key *key_set_find(struct key_set *keys, struct str kid)
{
    key_set_refresh(keys, clock_monotonic_ms());
    return ring_find(&keys->ring, kid);
}
