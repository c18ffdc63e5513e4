/*
 * What the captcha's widget sends. The input is taken as it comes, and as the JSON within the
 * base64.
 */
#include "lib/captcha/altcha.h"

#include <stdlib.h>

#include <openssl/evp.h>

#include "lib/base/identifier.h"
#include "lib/captcha/altcha_payload.h"
#include "lib/identity/jwt.h"
#include "tests/fuzz/fuzz.h"

static const int64_t NOW_MS = INT64_C(1800000000999);
static const struct altcha_subject SUBJECT = {.event = {"drop-1", 6}, .caller = {"m-1", 3}};

static struct str base64(struct arena *arena, struct str json)
{
    char *text = arena_alloc(arena, 4 * ((json.n + 2) / 3) + 1);
    int n = EVP_EncodeBlock((unsigned char *)text, (const unsigned char *)json.p, (int)json.n);

    return str_sized(text, (size_t)n);
}

/* What is signed says what the client's parameters say, and nothing else. */
static void is_what_was_said(struct str json, const struct altcha_payload *payload)
{
    json_object *whole = jwt_json_object(json, JWT_DEPTH_MAX);
    json_object *challenge = json_object_object_get(whole, "challenge");
    json_object *said = json_object_object_get(challenge, "parameters");
    struct buffer text;

    REQUIRE(identifier_is_slug(payload->data.event));
    buffer_init(&text, ALTCHA_PARAMETERS_MAX);
    altcha_parameters_write(&text, &payload->parameters);
    REQUIRE(buffer_ok(&text));
    json_object *signed_json = jwt_json_object(buffer_text(&text), JWT_DEPTH_MAX);
    REQUIRE(signed_json != NULL && json_object_equal(signed_json, said));
    (void)json_object_put(signed_json);
    (void)json_object_put(whole);
    buffer_free(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena *arena = fuzz_arena();
    struct str input = fuzz_text(data, size);
    struct altcha_payload payload;
    struct str nonce;

    enum altcha_outcome outcome =
        altcha_verify(fuzz_keys(), arena, &SUBJECT, input, NOW_MS, &nonce);
    REQUIRE(outcome != ALTCHA_SOLVED && altcha_outcome_reason(outcome) != NULL);
    if (size == 0 || size > ALTCHA_PAYLOAD_MAX) {
        return 0;
    }
    struct str text = base64(arena, input);
    outcome = altcha_verify(fuzz_keys(), arena, &SUBJECT, text, NOW_MS, &nonce);
    REQUIRE(outcome != ALTCHA_SOLVED);
    if (altcha_payload_parse(arena, text, &payload)) {
        is_what_was_said(input, &payload);
    } else {
        REQUIRE(outcome == ALTCHA_MALFORMED);
    }
    return 0;
}
