/*
 * Passes through the gate. The input is taken as a pass, as what stands in a signed one behind the
 * name of the key, and line by line as the fields of a pass: kind, queue, subject, admission,
 * epoch, incarnation, seq, generation, renewed, ends.
 */
#include "lib/identity/gate_pass.h"

#include "tests/fuzz/fuzz.h"

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

/* What we have signed, whatever it is, has one spelling. */
static void signed_text(struct arena *arena, struct str input)
{
    char again[GATE_PASS_TEXT + 1];
    struct gate_pass pass;
    struct str value = fuzz_signed(arena, STR("sluice gate pass\n"), input);

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
        REQUIRE(verify(fuzz_changed(arena, str_sized(value, n), where), pass.queue, &read) !=
                GATE_PASS_VALID);
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
