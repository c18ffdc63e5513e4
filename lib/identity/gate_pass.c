#include "lib/identity/gate_pass.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "lib/base/clock.h"
#include "lib/base/digest.h"
#include "lib/base/encoding.h"
#include "lib/base/identifier.h"
#include "lib/identity/queue_ticket.h"
#include "lib/identity/visitor.h"

/* Precedes the signed text, so that a MAC made with the same key for another purpose never fits. */
#define PURPOSE "sluice gate pass\n"

enum { EPOCH_DIGITS = 10, SEQ_DIGITS = 13, GENERATION_DIGITS = 4, MS_DIGITS = 15 };

_Static_assert(2 + 1 + KID_MAX + 1 + 1 + 1 + SLUG_MAX + 2 * (1 + EPOCH_DIGITS) + 1 + SEQ_DIGITS +
                       1 + GENERATION_DIGITS + 2 * (1 + MS_DIGITS) + 1 + SHA256_TEXT + 1 +
                       MEMBER_MAX + 1 + SHA256_TEXT ==
                   GATE_PASS_TEXT,
               "the longest pass fits");

static bool in_range(int64_t value, int64_t minimum, int64_t maximum)
{
    return value >= minimum && value <= maximum;
}

static bool is_admission(struct str text)
{
    unsigned char bytes[SHA256_BYTES];
    size_t length;

    return text.n == SHA256_TEXT && base64url_decode(text, bytes, sizeof(bytes), &length);
}

/* The conditions that a pass must meet to be signed, and also to be accepted. */
static bool is_sound(const struct gate_pass *pass)
{
    bool watched = pass->kind == GATE_PASS_WATCHED;
    int64_t least = watched ? 0 : 1;

    return (watched || pass->kind == GATE_PASS_ADMITTED) && identifier_is_slug(pass->queue) &&
           visitor_or_member_is(pass->subject) &&
           (is_admission(pass->admission) || (watched && pass->admission.n == 0)) &&
           in_range(pass->epoch, least, QUEUE_TICKET_EPOCH_MAX) &&
           in_range(pass->incarnation, least, QUEUE_TICKET_EPOCH_MAX) &&
           in_range(pass->seq, 0, QUEUE_TICKET_SEQ_MAX) &&
           in_range(pass->generation, 0, QUEUE_TICKET_GENERATION_MAX) &&
           in_range(pass->renewed_ms, 0, RFC3339_LAST_MS) &&
           in_range(pass->ends_ms, 0, RFC3339_LAST_MS);
}

/* Writes the purpose followed by `text` to `out`; this is what is signed. */
static struct str signed_text(struct str text, char out[sizeof(PURPOSE) + GATE_PASS_TEXT])
{
    memcpy(out, PURPOSE, sizeof(PURPOSE) - 1);
    memcpy(out + sizeof(PURPOSE) - 1, text.p, text.n);
    return str_sized(out, sizeof(PURPOSE) - 1 + text.n);
}

size_t gate_pass_make(struct key_set *keys, const struct gate_pass *pass,
                      char out[GATE_PASS_TEXT + 1])
{
    char text[sizeof(PURPOSE) + GATE_PASS_TEXT];
    unsigned char mac[SHA256_BYTES];
    const struct ring_key *key = key_set_signer(keys);

    if (!is_sound(pass)) {
        return 0;
    }
    int length = snprintf(
        out, GATE_PASS_TEXT + 1, "v1.%s.%c.%.*s.%lld.%lld.%lld.%lld.%lld.%lld.%.*s.%.*s", key->kid,
        pass->kind, STR_ARG(pass->queue), (long long)pass->epoch, (long long)pass->incarnation,
        (long long)pass->seq, (long long)pass->generation, (long long)pass->renewed_ms,
        (long long)pass->ends_ms, STR_ARG(pass->admission), STR_ARG(pass->subject));
    if (length < 0 || length + 1 + SHA256_TEXT > GATE_PASS_TEXT) {
        return 0;
    }
    size_t n = (size_t)length;
    mac_key_sign(key->mac, signed_text(str_sized(out, n), text), mac);
    out[n++] = '.';
    return n + base64url_encode(mac, sizeof(mac), out + n);
}

/* Splits at the last '.': the MAC contains none, but the subject before it may. */
static bool split_last(struct str text, struct str *head, struct str *last)
{
    size_t n = text.n;

    while (n > 0 && text.p[n - 1] != '.') {
        n--;
    }
    if (n == 0) {
        return false;
    }
    *head = str_sized(text.p, n - 1);
    *last = str_sized(text.p + n, text.n - n);
    return true;
}

/* Reads the next field as a number in its canonical form: no sign, no leading zero. */
static bool take_number(struct str *rest, int64_t *number)
{
    struct str digits;

    return str_split(*rest, '.', &digits, rest) && digits.n >= 1 && digits.p[0] != '-' &&
           (digits.n == 1 || digits.p[0] != '0') && str_to_int64(digits, 0, INT64_MAX, number);
}

static bool read_fields(struct str rest, struct gate_pass *pass)
{
    struct str kind;

    if (!str_split(rest, '.', &kind, &rest) || kind.n != 1 ||
        !str_split(rest, '.', &pass->queue, &rest) || !take_number(&rest, &pass->epoch) ||
        !take_number(&rest, &pass->incarnation) || !take_number(&rest, &pass->seq) ||
        !take_number(&rest, &pass->generation) || !take_number(&rest, &pass->renewed_ms) ||
        !take_number(&rest, &pass->ends_ms) || !str_split(rest, '.', &pass->admission, &rest)) {
        return false;
    }
    pass->kind = kind.p[0];
    pass->subject = rest;
    return is_sound(pass);
}

enum gate_pass_outcome gate_pass_verify(struct key_set *keys, struct str value, struct str queue,
                                        struct gate_pass *pass)
{
    char text[sizeof(PURPOSE) + GATE_PASS_TEXT];
    struct str version;
    struct str kid;
    struct str fields;
    struct str authentic;
    struct str mac_text;
    struct gate_pass read;

    if (value.n == 0) {
        return GATE_PASS_ABSENT;
    }
    if (value.n > GATE_PASS_TEXT || !split_last(value, &authentic, &mac_text) ||
        !str_split(authentic, '.', &version, &fields) || !str_equal(version, STR("v1")) ||
        !str_split(fields, '.', &kid, &fields)) {
        return GATE_PASS_MALFORMED;
    }
    const struct ring_key *key = key_set_find(keys, kid);
    if (key == NULL) {
        return GATE_PASS_UNKNOWN_KEY;
    }
    if (!mac_key_verify(key->mac, signed_text(authentic, text), mac_text)) {
        return GATE_PASS_FORGED;
    }
    if (!read_fields(fields, &read)) {
        return GATE_PASS_MALFORMED;
    }
    if (!str_equal(read.queue, queue)) {
        return GATE_PASS_OTHER_QUEUE;
    }
    *pass = read;
    return GATE_PASS_VALID;
}

const char *gate_pass_reason(enum gate_pass_outcome outcome)
{
    static const char *const REASONS[] = {
        [GATE_PASS_VALID] = "the gate pass is valid",
        [GATE_PASS_ABSENT] = "there is no gate pass",
        [GATE_PASS_MALFORMED] = "this is no gate pass",
        [GATE_PASS_UNKNOWN_KEY] = "the gate pass is signed by an unknown key",
        [GATE_PASS_FORGED] = "the gate pass's signature is wrong",
        [GATE_PASS_OTHER_QUEUE] = "the gate pass is for another queue",
    };

    return REASONS[outcome];
}
