/*
 * Passes through the gate. The input is taken as a pass, as what stands in a signed one behind the name of the key, and
 * line by line as the fields of a pass: kind, queue, subject, admission, epoch, incarnation, seq, generation, renewed,
 * ends.
 */
#include "lib/identity/gate_pass.h"

#include <string.h>

#include "lib/base/encoding.h"
#include "tests/fuzz/fuzz.h"

#define PURPOSE "sluice gate pass\n"

static bool is_same(const struct gate_pass *a, const struct gate_pass *b)
{
    return str_equal(a->queue, b->queue) && str_equal(a->subject, b->subject) &&
           str_equal(a->admission, b->admission) && a->epoch == b->epoch &&
           a->incarnation == b->incarnation && a->seq == b->seq && a->generation == b->generation &&
           a->renewed_ms == b->renewed_ms && a->ends_ms == b->ends_ms && a->kind == b->kind;
}

static enum gate_pass_outcome verify(struct str value, struct str queue, struct gate_pass *pass)
{
    enum gate_pass_outcome outcome = gate_pass_verify(fuzz_keys(), value, queue, pass);

    REQUIRE(gate_pass_reason(outcome) != NULL);
    return outcome;
}

/* One character changed anywhere, and nothing is left of it. */
static void holds_together(struct arena *arena, struct str value, struct str queue, size_t where)
{
    char *changed = arena_copy(arena, value);
    struct gate_pass pass;

    where %= value.n;
    changed[where] = changed[where] == 'A' ? 'B' : 'A';
    REQUIRE(verify(str_sized(changed, value.n), queue, &pass) != GATE_PASS_VALID);
}

/* What we have signed, whatever it is, has one spelling. */
static void signed_text(struct arena *arena, struct str input)
{
    const struct ring_key *key = key_set_signer(fuzz_keys());
    unsigned char mac[SHA256_BYTES];
    char again[GATE_PASS_TEXT + 1];
    struct gate_pass pass;

    char *text = arena_alloc(arena, sizeof(PURPOSE) + 8 + input.n + SHA256_TEXT + 1);
    memcpy(text, PURPOSE "v1.a.", sizeof(PURPOSE) + 4);
    size_t n = sizeof(PURPOSE) + 4;
    if (input.n > 0) {
        memcpy(text + n, input.p, input.n);
    }
    n += input.n;
    mac_key_sign(key->mac, str_sized(text, n), mac);
    text[n++] = '.';
    n += base64url_encode(mac, sizeof(mac), text + n);
    struct str value = str_sized(text + sizeof(PURPOSE) - 1, n - sizeof(PURPOSE) + 1);
    if (verify(value, STR("spring-sale"), &pass) == GATE_PASS_VALID) {
        size_t length = gate_pass_make(fuzz_keys(), &pass, again);
        REQUIRE(str_equal(str_sized(again, length), value));
    }
}

static void signed_fields(struct arena *arena, struct str rest, size_t where)
{
    struct str kind = fuzz_line(arena, &rest);
    char value[GATE_PASS_TEXT + 1];
    struct gate_pass read;
    struct gate_pass pass = {.kind = kind.n == 1 ? kind.p[0] : 'a',
                             .queue = fuzz_line(arena, &rest),
                             .subject = fuzz_line(arena, &rest),
                             .admission = fuzz_line(arena, &rest)};

    pass.epoch = fuzz_number(arena, &rest);
    pass.incarnation = fuzz_number(arena, &rest);
    pass.seq = fuzz_number(arena, &rest);
    pass.generation = fuzz_number(arena, &rest);
    pass.renewed_ms = fuzz_number(arena, &rest);
    pass.ends_ms = fuzz_number(arena, &rest);
    size_t n = gate_pass_make(fuzz_keys(), &pass, value);
    REQUIRE(n <= GATE_PASS_TEXT);
    if (n > 0) {
        REQUIRE(verify(str_sized(value, n), pass.queue, &read) == GATE_PASS_VALID);
        REQUIRE(is_same(&pass, &read));
        holds_together(arena, str_sized(value, n), pass.queue, where);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena *arena = fuzz_arena();
    struct str input = fuzz_text(data, size);
    struct gate_pass pass;

    REQUIRE(verify(input, STR("spring-sale"), &pass) != GATE_PASS_VALID);
    signed_text(arena, input);
    signed_fields(arena, input, size * 7);
    return 0;
}
