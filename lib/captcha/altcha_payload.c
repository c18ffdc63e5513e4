#include "lib/captcha/altcha_payload.h"

#include <string.h>

#include <json-c/json.h>

#include "lib/base/clock.h"
#include "lib/base/encoding.h"
#include "lib/base/identifier.h"
#include "lib/identity/jwt.h"
#include "lib/identity/key_set.h"

#define ALGORITHM "SHA-256"
#define ACTION    "coupon"

enum { DEPTH_MAX = 6, COST = 1, KEY_LENGTH = SHA256_BYTES, BASE64_GROUP = 4 };

static const int64_t SECONDS_MAX = RFC3339_LAST_MS / 1000;

struct str altcha_data_text(struct arena *arena, const struct altcha_data *data)
{
    return str_of(arena_format(arena,
                               "{\"action\":\"" ACTION
                               "\",\"event\":\"%.*s\",\"kid\":\"%.*s\",\"subject\":\"%.*s\"}",
                               STR_ARG(data->event), STR_ARG(data->kid), STR_ARG(data->subject)));
}

void altcha_parameters_write(struct buffer *out, const struct altcha_parameters *parameters)
{
    buffer_format(out, "{\"algorithm\":\"" ALGORITHM "\",\"cost\":%d,\"data\":", COST);
    buffer_add(out, parameters->data);
    buffer_format(out, ",\"expiresAt\":%lld,\"keyLength\":%d", (long long)parameters->expires_s,
                  KEY_LENGTH);
    buffer_format(out, ",\"keyPrefix\":\"%.*s\",\"keySignature\":\"%.*s\"",
                  STR_ARG(parameters->key_prefix), STR_ARG(parameters->key_signature));
    buffer_format(out, ",\"nonce\":\"%.*s\",\"salt\":\"%.*s\"}", STR_ARG(parameters->nonce),
                  STR_ARG(parameters->salt));
}

/* An object and how many of its members were read; unknown members are refused. */
struct reader {
    json_object *object;
    int taken;
};

static json_object *take(struct reader *reader, const char *name)
{
    json_object *value = NULL;

    if (json_object_object_get_ex(reader->object, name, &value)) {
        reader->taken++;
    }
    return value;
}

static bool take_object(struct reader *reader, const char *name, struct reader *inner)
{
    *inner = (struct reader){.object = take(reader, name)};
    return json_object_is_type(inner->object, json_type_object);
}

static bool take_text(struct reader *reader, const char *name, struct str *text)
{
    json_object *value = take(reader, name);

    if (!json_object_is_type(value, json_type_string)) {
        return false;
    }
    *text = str_sized(json_object_get_string(value), (size_t)json_object_get_string_len(value));
    return true;
}

static bool take_hex(struct reader *reader, const char *name, size_t bytes, struct str *text)
{
    unsigned char decoded[SHA256_BYTES];

    return take_text(reader, name, text) && hex_decode(*text, decoded, bytes);
}

static bool take_number(struct reader *reader, const char *name, int64_t maximum, int64_t *number)
{
    json_object *value = take(reader, name);

    if (!json_object_is_type(value, json_type_int)) {
        return false;
    }
    *number = json_object_get_int64(value);
    return *number >= 0 && *number <= maximum;
}

static bool take_constant(struct reader *reader, const char *name, struct str expected)
{
    struct str text;

    return take_text(reader, name, &text) && str_equal(text, expected);
}

static bool take_exact(struct reader *reader, const char *name, int64_t expected)
{
    int64_t number;

    return take_number(reader, name, expected, &number) && number == expected;
}

static bool is_done(const struct reader *reader)
{
    return json_object_object_length(reader->object) == reader->taken;
}

static bool is_base64url(struct str text, size_t most)
{
    for (size_t i = 0; i < text.n; i++) {
        char c = text.p[i];
        if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
              c == '_' || c == '-')) {
            return false;
        }
    }
    return text.n >= 1 && text.n <= most;
}

static bool read_data(struct reader *reader, struct altcha_data *data)
{
    return take_constant(reader, "action", STR(ACTION)) &&
           take_text(reader, "event", &data->event) && identifier_is_slug(data->event) &&
           take_text(reader, "kid", &data->kid) && is_base64url(data->kid, KID_MAX) &&
           take_text(reader, "subject", &data->subject) && data->subject.n == SHA256_TEXT &&
           is_base64url(data->subject, SHA256_TEXT) && is_done(reader);
}

static bool read_parameters(struct reader *reader, struct altcha_payload *payload)
{
    struct altcha_parameters *parameters = &payload->parameters;
    struct reader data;

    return take_constant(reader, "algorithm", STR(ALGORITHM)) && take_exact(reader, "cost", COST) &&
           take_object(reader, "data", &data) && read_data(&data, &payload->data) &&
           take_number(reader, "expiresAt", SECONDS_MAX, &parameters->expires_s) &&
           take_exact(reader, "keyLength", KEY_LENGTH) &&
           take_hex(reader, "keyPrefix", ALTCHA_PREFIX_BYTES, &parameters->key_prefix) &&
           take_hex(reader, "keySignature", SHA256_BYTES, &parameters->key_signature) &&
           take_hex(reader, "nonce", ALTCHA_NONCE_BYTES, &parameters->nonce) &&
           take_hex(reader, "salt", ALTCHA_NONCE_BYTES, &parameters->salt) && is_done(reader);
}

/* `time` (how long solving took) is ignored; any number is accepted. */
static bool read_solution(struct reader *reader, struct altcha_payload *payload)
{
    int64_t counter;

    if (!take_number(reader, "counter", UINT32_MAX, &counter) ||
        !take_hex(reader, "derivedKey", SHA256_BYTES, &payload->derived_key)) {
        return false;
    }
    payload->counter = (uint32_t)counter;
    json_object *time = take(reader, "time");
    return (time == NULL || json_object_is_type(time, json_type_int) ||
            json_object_is_type(time, json_type_double)) &&
           is_done(reader);
}

static bool read_payload(struct reader *reader, struct altcha_payload *payload)
{
    struct reader challenge;
    struct reader parameters;
    struct reader solution;

    return take_object(reader, "challenge", &challenge) &&
           take_object(&challenge, "parameters", &parameters) &&
           read_parameters(&parameters, payload) &&
           take_hex(&challenge, "signature", SHA256_BYTES, &payload->signature) &&
           is_done(&challenge) && take_object(reader, "solution", &solution) &&
           read_solution(&solution, payload) && is_done(reader);
}

/* Decodes padded standard Base64, as browsers write it, into the arena. */
static bool decode_base64(struct arena *arena, struct str text, struct str *decoded)
{
    if (text.n == 0 || text.n > ALTCHA_PAYLOAD_MAX || text.n % BASE64_GROUP != 0) {
        return false;
    }
    for (int i = 0; i < 2 && text.p[text.n - 1] == '='; i++) {
        text.n--;
    }
    char *url_safe = arena_copy(arena, text);
    for (size_t i = 0; i < text.n; i++) {
        if (url_safe[i] == '-' || url_safe[i] == '_') {
            return false;
        }
        url_safe[i] = (char)(url_safe[i] == '+' ? '-' : url_safe[i] == '/' ? '_' : url_safe[i]);
    }
    unsigned char *bytes = arena_alloc(arena, text.n);
    size_t length;
    if (!base64url_decode(str_sized(url_safe, text.n), bytes, text.n, &length)) {
        return false;
    }
    *decoded = str_sized((const char *)bytes, length);
    return true;
}

static void release(void *object)
{
    (void)json_object_put(object);
}

bool altcha_payload_parse(struct arena *arena, struct str text, struct altcha_payload *payload)
{
    struct str json;

    *payload = (struct altcha_payload){0};
    if (!decode_base64(arena, text, &json)) {
        return false;
    }
    struct reader reader = {.object = jwt_json_object(json, DEPTH_MAX)};
    if (reader.object == NULL) {
        return false;
    }
    arena_on_reset(arena, release, reader.object);
    if (!read_payload(&reader, payload)) {
        return false;
    }
    payload->parameters.data = altcha_data_text(arena, &payload->data);
    return true;
}
