#include "lib/identity/visitor.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/clock.h"
#include "lib/base/encoding.h"
#include "lib/base/identifier.h"
#include "lib/base/random.h"

/* Precedes the signed text, so that a MAC made with the same key for another purpose never fits. */
#define PURPOSE "sluice visitor cookie\n"

enum { ID_BYTES = 16, SECONDS_MAX_DIGITS = 12 };

static const int64_t SECONDS_MAX = RFC3339_LAST_MS / 1000;

void visitor_id_new(char out[VISITOR_ID_TEXT + 1])
{
    memcpy(out, "v~", 2);
    random_id(out + 2);
}

bool visitor_id_is(struct str text)
{
    unsigned char bytes[ID_BYTES];
    size_t length;

    return text.n == VISITOR_ID_TEXT && str_starts(text, STR("v~")) &&
           base64url_decode(str_sized(text.p + 2, text.n - 2), bytes, sizeof(bytes), &length) &&
           length == ID_BYTES;
}

bool visitor_or_member_is(struct str text)
{
    return identifier_is_member(text) || visitor_id_is(text);
}

/* Writes the purpose followed by `text` to `out`; this is what is signed. */
static struct str signed_text(struct str text, char out[sizeof(PURPOSE) + VISITOR_COOKIE_TEXT])
{
    memcpy(out, PURPOSE, sizeof(PURPOSE) - 1);
    memcpy(out + sizeof(PURPOSE) - 1, text.p, text.n);
    return str_sized(out, sizeof(PURPOSE) - 1 + text.n);
}

size_t visitor_cookie_make(struct key_set *keys, struct str id, int64_t now_ms,
                           char out[VISITOR_COOKIE_TEXT + 1])
{
    char text[sizeof(PURPOSE) + VISITOR_COOKIE_TEXT];
    unsigned char mac[SHA256_BYTES];
    const struct ring_key *key = key_set_signer(keys);

    int length = snprintf(out, VISITOR_COOKIE_TEXT + 1, "v1.%s.%.*s.%lld", key->kid, STR_ARG(id),
                          (long long)(now_ms / 1000));
    if (!visitor_id_is(id) || length < 0 || length + 1 + SHA256_TEXT > VISITOR_COOKIE_TEXT) {
        abort();
    }
    size_t n = (size_t)length;
    mac_key_sign(key->mac, signed_text(str_sized(out, n), text), mac);
    out[n++] = '.';
    return n + base64url_encode(mac, sizeof(mac), out + n);
}

/* Reads seconds in their canonical form: digits without a leading zero. */
static bool read_seconds(struct str text, int64_t *seconds)
{
    return text.n >= 1 && text.n <= SECONDS_MAX_DIGITS && (text.n == 1 || text.p[0] != '0') &&
           text.p[0] != '-' && str_to_int64(text, 0, SECONDS_MAX, seconds);
}

bool visitor_cookie_verify(struct key_set *keys, struct str value, int64_t max_age_seconds,
                           int64_t now_ms, char id[VISITOR_ID_TEXT + 1])
{
    char text[sizeof(PURPOSE) + VISITOR_COOKIE_TEXT];
    struct str version;
    struct str kid;
    struct str name;
    struct str issued_text;
    struct str mac_text;
    int64_t issued;

    if (value.n > VISITOR_COOKIE_TEXT || !str_split(value, '.', &version, &mac_text) ||
        !str_equal(version, STR("v1")) || !str_split(mac_text, '.', &kid, &mac_text) ||
        !str_split(mac_text, '.', &name, &mac_text) ||
        !str_split(mac_text, '.', &issued_text, &mac_text)) {
        return false;
    }
    const struct ring_key *key = key_set_find(keys, kid);
    struct str authentic = str_sized(value.p, value.n - mac_text.n - 1);
    if (key == NULL || !mac_key_verify(key->mac, signed_text(authentic, text), mac_text)) {
        return false;
    }
    int64_t now = now_ms / 1000;
    if (!visitor_id_is(name) || !read_seconds(issued_text, &issued) ||
        issued > now + VISITOR_CLOCK_SKEW_S || now - issued > max_age_seconds) {
        return false;
    }
    memcpy(id, name.p, VISITOR_ID_TEXT);
    id[VISITOR_ID_TEXT] = '\0';
    return true;
}
