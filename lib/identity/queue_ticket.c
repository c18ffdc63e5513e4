#include "lib/identity/queue_ticket.h"

#include <stdbool.h>
#include <stdio.h>

#include "lib/base/clock.h"
#include "lib/base/encoding.h"
#include "lib/base/identifier.h"
#include "lib/identity/visitor.h"

#define HEADER_START "{\"alg\":\"HS256\",\"kid\":\""
#define HEADER_END   "\",\"typ\":\"queue-ticket+jwt\"}"

enum {
    HEADER_MAX = sizeof(HEADER_START) + KID_MAX + sizeof(HEADER_END),
    CLAIMS_MAX = 384 /* sub 64, queue 63, lane 32, numbers 61, the fixed text 97 */
};

_Static_assert(BASE64URL_LENGTH(HEADER_MAX) + 1 + BASE64URL_LENGTH(CLAIMS_MAX) + 1 + SHA256_TEXT <=
                   QUEUE_TICKET_TEXT,
               "the longest ticket fits");

static const int64_t SECONDS_MAX = RFC3339_LAST_MS / 1000;

static bool in_range(int64_t value, int64_t minimum, int64_t maximum)
{
    return value >= minimum && value <= maximum;
}

/* The conditions that a ticket must meet to be signed, and also to be accepted. */
static bool is_sound(const struct queue_ticket *ticket)
{
    return visitor_or_member_is(ticket->subject) && identifier_is_slug(ticket->queue) &&
           ticket->lane.n <= QUEUE_TICKET_LANE_MAX && identifier_is_slug(ticket->lane) &&
           in_range(ticket->epoch, 1, QUEUE_TICKET_EPOCH_MAX) &&
           in_range(ticket->seq, 1, QUEUE_TICKET_SEQ_MAX) &&
           in_range(ticket->generation, 0, QUEUE_TICKET_GENERATION_MAX) &&
           in_range(ticket->incarnation, 1, QUEUE_TICKET_EPOCH_MAX) &&
           in_range(ticket->issued_at_s, 0, SECONDS_MAX) &&
           in_range(ticket->expires_at_s, 0, SECONDS_MAX);
}

size_t queue_ticket_sign(struct key_set *keys, const struct queue_ticket *ticket,
                         char out[QUEUE_TICKET_TEXT + 1])
{
    const struct ring_key *key = key_set_signer(keys);
    char header[HEADER_MAX];
    char claims[CLAIMS_MAX + 1];
    unsigned char mac[SHA256_BYTES];

    if (!is_sound(ticket)) {
        return 0;
    }
    int header_length = snprintf(header, sizeof(header), HEADER_START "%s" HEADER_END, key->kid);
    int claims_length = snprintf(
        claims, sizeof(claims),
        "{\"sub\":\"%.*s\",\"queue\":\"%.*s\",\"epoch\":%lld,\"seq\":%lld,\"lane\":\"%.*s\","
        "\"queueSessionId\":%lld,\"inc\":%lld,\"iat\":%lld,\"exp\":%lld}",
        STR_ARG(ticket->subject), STR_ARG(ticket->queue), (long long)ticket->epoch,
        (long long)ticket->seq, STR_ARG(ticket->lane), (long long)ticket->generation,
        (long long)ticket->incarnation, (long long)ticket->issued_at_s,
        (long long)ticket->expires_at_s);
    if (header_length < 0 || claims_length < 0 || claims_length > CLAIMS_MAX) {
        return 0;
    }
    size_t n = base64url_encode(header, (size_t)header_length, out);
    out[n++] = '.';
    n += base64url_encode(claims, (size_t)claims_length, out + n);
    mac_key_sign(key->mac, str_sized(out, n), mac);
    out[n++] = '.';
    return n + base64url_encode(mac, sizeof(mac), out + n);
}

/* Extracts the kid from a header, which must have exactly the form that we write. */
static bool read_header(struct str part, char text[HEADER_MAX], struct str *kid)
{
    const struct str start = STR(HEADER_START);
    const struct str end = STR(HEADER_END);
    size_t length;

    if (!base64url_decode(part, (unsigned char *)text, HEADER_MAX, &length) ||
        length < start.n + end.n || !str_starts(str_sized(text, length), start) ||
        !str_equal(str_sized(text + length - end.n, end.n), end)) {
        return false;
    }
    *kid = str_sized(text + start.n, length - start.n - end.n);
    return true;
}

static bool skip(struct str *rest, struct str literal)
{
    if (!str_starts(*rest, literal)) {
        return false;
    }
    *rest = str_sized(rest->p + literal.n, rest->n - literal.n);
    return true;
}

/* Takes the text up to the closing quote and steps over that. The texts that we sign contain no
 * quotes and no escapes. */
static bool take_text(struct str *rest, struct str *text)
{
    return str_split(*rest, '"', text, rest);
}

static bool take_number(struct str *rest, int64_t *number)
{
    size_t n = 0;

    while (n < rest->n && rest->p[n] >= '0' && rest->p[n] <= '9') {
        n++;
    }
    bool good = str_to_int64(str_sized(rest->p, n), 0, INT64_MAX, number);
    *rest = str_sized(rest->p + n, rest->n - n);
    return good;
}

static bool read_claims(struct str text, struct queue_ticket *ticket)
{
    return skip(&text, STR("{\"sub\":\"")) && take_text(&text, &ticket->subject) &&
           skip(&text, STR(",\"queue\":\"")) && take_text(&text, &ticket->queue) &&
           skip(&text, STR(",\"epoch\":")) && take_number(&text, &ticket->epoch) &&
           skip(&text, STR(",\"seq\":")) && take_number(&text, &ticket->seq) &&
           skip(&text, STR(",\"lane\":\"")) && take_text(&text, &ticket->lane) &&
           skip(&text, STR(",\"queueSessionId\":")) && take_number(&text, &ticket->generation) &&
           skip(&text, STR(",\"inc\":")) && take_number(&text, &ticket->incarnation) &&
           skip(&text, STR(",\"iat\":")) && take_number(&text, &ticket->issued_at_s) &&
           skip(&text, STR(",\"exp\":")) && take_number(&text, &ticket->expires_at_s) &&
           str_equal(text, STR("}")) && is_sound(ticket);
}

enum queue_ticket_outcome queue_ticket_verify(struct key_set *keys, struct str token,
                                              struct str queue, int64_t now_ms, struct arena *arena,
                                              struct queue_ticket *ticket)
{
    char header_text[HEADER_MAX];
    struct str header;
    struct str kid;
    struct str payload;
    struct str mac_text;
    struct queue_ticket read;

    if (token.n > QUEUE_TICKET_TEXT || !str_split(token, '.', &header, &payload) ||
        !str_split(payload, '.', &payload, &mac_text) || !read_header(header, header_text, &kid)) {
        return QUEUE_TICKET_MALFORMED;
    }
    const struct ring_key *key = key_set_find(keys, kid);
    if (key == NULL) {
        return QUEUE_TICKET_UNKNOWN_KEY;
    }
    if (!mac_key_verify(key->mac, str_sized(token.p, header.n + 1 + payload.n), mac_text)) {
        return QUEUE_TICKET_BAD_SIGNATURE;
    }
    size_t length;
    char *claims = arena_alloc(arena, payload.n + 1);
    if (!base64url_decode(payload, (unsigned char *)claims, payload.n, &length) ||
        !read_claims(str_sized(claims, length), &read)) {
        return QUEUE_TICKET_MALFORMED;
    }
    if (!str_equal(read.queue, queue)) {
        return QUEUE_TICKET_OTHER_QUEUE;
    }
    if (now_ms >= read.expires_at_s * 1000) {
        return QUEUE_TICKET_EXPIRED;
    }
    *ticket = read;
    return QUEUE_TICKET_VALID;
}

const char *queue_ticket_reason(enum queue_ticket_outcome outcome)
{
    static const char *const REASONS[] = {
        [QUEUE_TICKET_VALID] = "the queue ticket is valid",
        [QUEUE_TICKET_MALFORMED] = "this is no queue ticket",
        [QUEUE_TICKET_UNKNOWN_KEY] = "the queue ticket is signed by an unknown key",
        [QUEUE_TICKET_BAD_SIGNATURE] = "the queue ticket's signature is wrong",
        [QUEUE_TICKET_OTHER_QUEUE] = "the queue ticket is for another queue",
        [QUEUE_TICKET_EXPIRED] = "the queue ticket has expired",
    };

    return REASONS[outcome];
}
