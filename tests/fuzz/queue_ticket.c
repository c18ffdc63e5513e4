/*
 * Queue tickets. The input is taken as a ticket, as signed claims, and line by line as the fields
 * of a ticket: subject, queue, lane, epoch, seq, generation, incarnation, issued, expires.
 */
#include "lib/identity/queue_ticket.h"

#include "lib/base/encoding.h"
#include "tests/fuzz/fuzz.h"

#define HEADER "{\"alg\":\"HS256\",\"kid\":\"a\",\"typ\":\"queue-ticket+jwt\"}"

static const int64_t NOW_MS = INT64_C(1800000000000);

static bool is_same(const struct queue_ticket *a, const struct queue_ticket *b)
{
    return str_equal(a->subject, b->subject) && str_equal(a->queue, b->queue) &&
           str_equal(a->lane, b->lane) && a->epoch == b->epoch && a->seq == b->seq &&
           a->generation == b->generation && a->incarnation == b->incarnation &&
           a->issued_at_s == b->issued_at_s && a->expires_at_s == b->expires_at_s;
}

static enum queue_ticket_outcome verify(struct arena *arena, struct str token, struct str queue,
                                        struct queue_ticket *ticket)
{
    enum queue_ticket_outcome outcome =
        queue_ticket_verify(fuzz_keys(), token, queue, NOW_MS, arena, ticket);

    REQUIRE(queue_ticket_reason(outcome) != NULL);
    return outcome;
}

/* Claims that we have signed, whatever they are, are read as what they say or not at all. */
static void signed_claims(struct arena *arena, struct str claims)
{
    const struct ring_key *key = key_set_signer(fuzz_keys());
    char again[QUEUE_TICKET_TEXT + 1];
    unsigned char mac[SHA256_BYTES];
    struct queue_ticket ticket;

    char *token = arena_alloc(arena, BASE64URL_LENGTH(sizeof(HEADER) + claims.n) + SHA256_TEXT + 8);
    size_t n = base64url_encode(HEADER, sizeof(HEADER) - 1, token);
    token[n++] = '.';
    n += base64url_encode(claims.p, claims.n, token + n);
    mac_key_sign(key->mac, str_sized(token, n), mac);
    token[n++] = '.';
    n += base64url_encode(mac, sizeof(mac), token + n);
    if (verify(arena, str_sized(token, n), STR("spring-sale"), &ticket) == QUEUE_TICKET_VALID) {
        size_t length = queue_ticket_sign(fuzz_keys(), &ticket, again);
        struct queue_ticket read;
        REQUIRE(length > 0);
        REQUIRE(verify(arena, str_sized(again, length), ticket.queue, &read) == QUEUE_TICKET_VALID);
        REQUIRE(is_same(&ticket, &read));
    }
}

/* A ticket that can be signed says what was signed. */
static void signed_fields(struct arena *arena, struct str rest, size_t where)
{
    char text[QUEUE_TICKET_TEXT + 1];
    struct queue_ticket read;
    struct queue_ticket ticket = {.subject = fuzz_line(arena, &rest),
                                  .queue = fuzz_line(arena, &rest),
                                  .lane = fuzz_line(arena, &rest)};

    ticket.epoch = fuzz_number(arena, &rest);
    ticket.seq = fuzz_number(arena, &rest);
    ticket.generation = fuzz_number(arena, &rest);
    ticket.incarnation = fuzz_number(arena, &rest);
    ticket.issued_at_s = fuzz_number(arena, &rest);
    ticket.expires_at_s = fuzz_number(arena, &rest);
    size_t n = queue_ticket_sign(fuzz_keys(), &ticket, text);
    REQUIRE(n <= QUEUE_TICKET_TEXT);
    if (n == 0) {
        return;
    }
    struct str token = str_sized(text, n);
    bool over = ticket.expires_at_s * 1000 <= NOW_MS;
    REQUIRE(verify(arena, token, ticket.queue, &read) ==
            (over ? QUEUE_TICKET_EXPIRED : QUEUE_TICKET_VALID));
    REQUIRE(over || is_same(&ticket, &read));
    REQUIRE(verify(arena, token, STR("another-one"), &read) == QUEUE_TICKET_OTHER_QUEUE ||
            str_equal(ticket.queue, STR("another-one")));
    REQUIRE(verify(arena, fuzz_changed(arena, token, where), ticket.queue, &read) !=
            QUEUE_TICKET_VALID);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena *arena = fuzz_arena();
    struct str input = fuzz_text(data, size);
    struct queue_ticket ticket;

    REQUIRE(verify(arena, input, STR("spring-sale"), &ticket) != QUEUE_TICKET_VALID);
    signed_claims(arena, input);
    signed_fields(arena, input, size * 7);
    return 0;
}
