#include "lib/captcha/altcha.h"

#include <stdlib.h>
#include <string.h>

#include <openssl/crypto.h>

#include "lib/base/encoding.h"
#include "lib/base/random.h"
#include "lib/captcha/altcha_payload.h"

/* Each use of a ring key has a derived secret of its own: the key's MAC of the purpose, as
 * base64url text. */
#define PURPOSE_CHALLENGE "sluice altcha challenge\n"
#define PURPOSE_KEY       "sluice altcha key\n"
#define PURPOSE_SUBJECT   "sluice altcha subject\n"

enum { COUNTER_BYTES = 4 };

struct secrets {
    char challenge[SHA256_TEXT + 1];
    char key[SHA256_TEXT + 1];
};

static struct str bytes_text(const unsigned char *bytes, size_t n)
{
    return str_sized((const char *)bytes, n);
}

static void secret_of(const struct ring_key *key, struct str purpose, char out[SHA256_TEXT + 1])
{
    unsigned char mac[SHA256_BYTES];

    mac_key_sign(key->mac, purpose, mac);
    base64url_encode(mac, sizeof(mac), out);
    OPENSSL_cleanse(mac, sizeof(mac));
}

static void secrets_of(const struct ring_key *key, struct secrets *secrets)
{
    secret_of(key, STR(PURPOSE_CHALLENGE), secrets->challenge);
    secret_of(key, STR(PURPOSE_KEY), secrets->key);
}

void altcha_derive(const unsigned char *salt, size_t salt_bytes, const unsigned char *nonce,
                   size_t nonce_bytes, uint32_t counter, unsigned char key[SHA256_BYTES])
{
    unsigned char text[2 * SHA256_BYTES + COUNTER_BYTES];
    size_t n = salt_bytes + nonce_bytes;

    if (n > 2 * SHA256_BYTES) {
        abort();
    }
    memcpy(text, salt, salt_bytes);
    memcpy(text + salt_bytes, nonce, nonce_bytes);
    for (int i = 0; i < COUNTER_BYTES; i++) {
        text[n++] = (unsigned char)(counter >> (8 * (COUNTER_BYTES - 1 - i)) & 0xff);
    }
    sha256(bytes_text(text, n), key);
}

void altcha_sign(struct str secret, struct str text, char out[ALTCHA_HEX_KEY + 1])
{
    unsigned char mac[SHA256_BYTES];

    hmac_sha256(secret, text, mac);
    hex_encode(mac, sizeof(mac), out);
}

/* Must not be guessable: knowing the counter is knowing the solution. */
static uint32_t random_counter(void)
{
    uint32_t number;

    random_bytes(&number, sizeof(number));
    return ALTCHA_COUNTER_MIN + number % (ALTCHA_COUNTER_MAX - ALTCHA_COUNTER_MIN + 1);
}

/* The caller as a hash, since a challenge is embedded in pages and should not name anyone. */
static void subject_text(const struct altcha_subject *subject, char out[SHA256_TEXT + 1])
{
    struct buffer text;

    buffer_init(&text, sizeof(PURPOSE_SUBJECT) + subject->event.n + subject->caller.n + 1);
    buffer_add(&text, STR(PURPOSE_SUBJECT));
    buffer_add(&text, subject->event);
    buffer_add_char(&text, '\n');
    buffer_add(&text, subject->caller);
    sha256_text(buffer_text(&text), out);
    buffer_free(&text);
}

/* Signs the parameters in their canonical form. */
static void sign_parameters(const struct secrets *secrets,
                            const struct altcha_parameters *parameters,
                            char out[ALTCHA_HEX_KEY + 1])
{
    struct buffer text;

    buffer_init(&text, ALTCHA_PARAMETERS_MAX);
    altcha_parameters_write(&text, parameters);
    if (!buffer_ok(&text)) {
        abort();
    }
    altcha_sign(str_of(secrets->challenge), buffer_text(&text), out);
    buffer_free(&text);
}

void altcha_challenge(struct key_set *keys, struct arena *arena,
                      const struct altcha_subject *subject, int64_t now_ms, struct buffer *out)
{
    const struct ring_key *signer = key_set_signer(keys);
    unsigned char nonce[ALTCHA_NONCE_BYTES];
    unsigned char salt[ALTCHA_NONCE_BYTES];
    unsigned char key[SHA256_BYTES];
    char nonce_text[2 * ALTCHA_NONCE_BYTES + 1];
    char salt_text[2 * ALTCHA_NONCE_BYTES + 1];
    char prefix[2 * ALTCHA_PREFIX_BYTES + 1];
    char key_signature[ALTCHA_HEX_KEY + 1];
    char signature[ALTCHA_HEX_KEY + 1];
    char about[SHA256_TEXT + 1];
    struct secrets secrets;

    secrets_of(signer, &secrets);
    subject_text(subject, about);
    random_bytes(nonce, sizeof(nonce));
    random_bytes(salt, sizeof(salt));
    altcha_derive(salt, sizeof(salt), nonce, sizeof(nonce), random_counter(), key);
    hex_encode(nonce, sizeof(nonce), nonce_text);
    hex_encode(salt, sizeof(salt), salt_text);
    hex_encode(key, ALTCHA_PREFIX_BYTES, prefix);
    altcha_sign(str_of(secrets.key), bytes_text(key, sizeof(key)), key_signature);
    const struct altcha_parameters parameters = {
        .data = altcha_data_text(arena, &(struct altcha_data){.event = subject->event,
                                                              .kid = str_of(signer->kid),
                                                              .subject = str_of(about)}),
        .expires_s = now_ms / 1000 + ALTCHA_LIFE_S,
        .key_prefix = str_of(prefix),
        .key_signature = str_of(key_signature),
        .nonce = str_of(nonce_text),
        .salt = str_of(salt_text),
    };
    sign_parameters(&secrets, &parameters, signature);
    OPENSSL_cleanse(&secrets, sizeof(secrets));
    OPENSSL_cleanse(key, sizeof(key));
    buffer_add(out, STR("{\"parameters\":"));
    altcha_parameters_write(out, &parameters);
    buffer_format(out, ",\"signature\":\"%s\"}", signature);
}

/* True if the key that was sent is the one that was signed and the one that its counter derives. */
static bool is_solved(const struct secrets *secrets, const struct altcha_payload *payload)
{
    unsigned char nonce[ALTCHA_NONCE_BYTES];
    unsigned char salt[ALTCHA_NONCE_BYTES];
    unsigned char sent[SHA256_BYTES];
    unsigned char derived[SHA256_BYTES];
    char signature[ALTCHA_HEX_KEY + 1];

    if (!hex_decode(payload->parameters.nonce, nonce, sizeof(nonce)) ||
        !hex_decode(payload->parameters.salt, salt, sizeof(salt)) ||
        !hex_decode(payload->derived_key, sent, sizeof(sent))) {
        return false;
    }
    altcha_sign(str_of(secrets->key), bytes_text(sent, sizeof(sent)), signature);
    altcha_derive(salt, sizeof(salt), nonce, sizeof(nonce), payload->counter, derived);
    bool is_signed = constant_time_equal(str_of(signature), payload->parameters.key_signature);
    bool is_derived =
        constant_time_equal(bytes_text(sent, sizeof(sent)), bytes_text(derived, sizeof(derived)));
    return is_signed && is_derived;
}

static enum altcha_outcome judge(const struct secrets *secrets,
                                 const struct altcha_subject *subject,
                                 const struct altcha_payload *payload, int64_t now_ms)
{
    char signature[ALTCHA_HEX_KEY + 1];
    char about[SHA256_TEXT + 1];

    sign_parameters(secrets, &payload->parameters, signature);
    if (!constant_time_equal(str_of(signature), payload->signature)) {
        return ALTCHA_FORGED;
    }
    if (payload->parameters.expires_s <= now_ms / 1000) {
        return ALTCHA_EXPIRED;
    }
    subject_text(subject, about);
    if (!str_equal(payload->data.event, subject->event) ||
        !constant_time_equal(payload->data.subject, str_of(about))) {
        return ALTCHA_FOREIGN;
    }
    return is_solved(secrets, payload) ? ALTCHA_SOLVED : ALTCHA_UNSOLVED;
}

enum altcha_outcome altcha_verify(struct key_set *keys, struct arena *arena,
                                  const struct altcha_subject *subject, struct str text,
                                  int64_t now_ms, struct str *nonce)
{
    struct altcha_payload payload;
    struct secrets secrets;

    if (!altcha_payload_parse(arena, text, &payload)) {
        return ALTCHA_MALFORMED;
    }
    const struct ring_key *key = key_set_find(keys, payload.data.kid);
    if (key == NULL) {
        return ALTCHA_FORGED;
    }
    secrets_of(key, &secrets);
    enum altcha_outcome outcome = judge(&secrets, subject, &payload, now_ms);
    OPENSSL_cleanse(&secrets, sizeof(secrets));
    *nonce = payload.parameters.nonce;
    return outcome;
}

const char *altcha_outcome_reason(enum altcha_outcome outcome)
{
    static const char *const REASONS[] = {
        [ALTCHA_SOLVED] = "The proof of work is done.",
        [ALTCHA_MALFORMED] = "What was sent is no answer to a proof of work.",
        [ALTCHA_FORGED] = "The proof of work is not one that was given out here.",
        [ALTCHA_EXPIRED] = "The time for the proof of work is over.",
        [ALTCHA_FOREIGN] = "The proof of work was given out for another event or another person.",
        [ALTCHA_UNSOLVED] = "The proof of work is not done.",
    };

    return REASONS[outcome];
}
