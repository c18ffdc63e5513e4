#include "lib/identity/jwt.h"

#include <limits.h>
#include <string.h>

#include "lib/base/encoding.h"

static const char *const ALGORITHM_NAMES[] = {
    [JWT_HS256] = "HS256", [JWT_RS256] = "RS256", [JWT_ES256] = "ES256", [JWT_EDDSA] = "EdDSA"};

const char *jwt_algorithm_name(enum jwt_algorithm algorithm)
{
    return ALGORITHM_NAMES[algorithm];
}

bool jwt_algorithm_parse(struct str name, enum jwt_algorithm *algorithm)
{
    for (size_t i = 0; i < sizeof(ALGORITHM_NAMES) / sizeof(ALGORITHM_NAMES[0]); i++) {
        if (str_equal(name, str_of(ALGORITHM_NAMES[i]))) {
            *algorithm = (enum jwt_algorithm)i;
            return true;
        }
    }
    return false;
}

json_object *jwt_json_object(struct str text, int depth)
{
    if (text.n == 0 || text.n > INT_MAX) {
        return NULL;
    }
    struct json_tokener *tokener = json_tokener_new_ex(depth);
    if (tokener == NULL) {
        return NULL;
    }
    /* Without ALLOW_TRAILING_CHARS, white space behind the object would be refused too. */
    json_tokener_set_flags(tokener, JSON_TOKENER_STRICT | JSON_TOKENER_VALIDATE_UTF8 |
                                        JSON_TOKENER_ALLOW_TRAILING_CHARS);
    json_object *object = json_tokener_parse_ex(tokener, text.p, (int)text.n);
    bool good = object != NULL && json_object_is_type(object, json_type_object);
    for (size_t i = json_tokener_get_parse_end(tokener); good && i < text.n; i++) {
        good = text.p[i] == ' ' || text.p[i] == '\t' || text.p[i] == '\n' || text.p[i] == '\r';
    }
    json_tokener_free(tokener);
    if (!good) {
        json_object_put(object);
        return NULL;
    }
    return object;
}

/* Copies a header member of printable ASCII, at most `maximum` characters. Returns false if the
 * member is present but is not such a text. */
static bool copy_text(json_object *header, const char *name, char *out, size_t maximum, bool *there)
{
    json_object *value;

    out[0] = '\0';
    *there = json_object_object_get_ex(header, name, &value);
    if (!*there) {
        return true;
    }
    if (!json_object_is_type(value, json_type_string)) {
        return false;
    }
    const char *text = json_object_get_string(value);
    size_t length = (size_t)json_object_get_string_len(value);
    if (length == 0 || length > maximum) {
        return false;
    }
    for (size_t i = 0; i < length; i++) {
        if (text[i] < 0x20 || text[i] > 0x7e) {
            return false;
        }
    }
    memcpy(out, text, length);
    out[length] = '\0';
    return true;
}

static bool read_header(json_object *header, struct jwt *jwt)
{
    bool has_algorithm;

    return copy_text(header, "alg", jwt->algorithm, sizeof(jwt->algorithm) - 1, &has_algorithm) &&
           has_algorithm && copy_text(header, "typ", jwt->type, JWT_TYPE_MAX, &jwt->has_type) &&
           copy_text(header, "kid", jwt->kid, JWT_KID_MAX, &jwt->has_kid) &&
           !json_object_object_get_ex(header, "crit", NULL);
}

static json_object *decode_object(struct str part)
{
    char text[JWT_MAX];
    size_t length;

    if (!base64url_decode(part, (unsigned char *)text, sizeof(text), &length)) {
        return NULL;
    }
    return jwt_json_object(str_sized(text, length), JWT_DEPTH_MAX);
}

bool jwt_parse(struct str token, struct jwt *jwt)
{
    struct str header_text;
    struct str rest;

    if (token.n > JWT_MAX || !str_split(token, '.', &header_text, &rest) ||
        !str_split(rest, '.', &jwt->payload_text, &jwt->signature_text) ||
        !base64url_decode(jwt->signature_text, jwt->signature, sizeof(jwt->signature),
                          &jwt->signature_length)) {
        return false;
    }
    jwt->signed_text = str_sized(token.p, header_text.n + 1 + jwt->payload_text.n);
    json_object *header = decode_object(header_text);
    if (header == NULL) {
        return false;
    }
    bool good = read_header(header, jwt);
    json_object_put(header);
    return good;
}

bool jwt_verify_hs256(const struct jwt *jwt, struct mac_key *key)
{
    return str_equal(str_of(jwt->algorithm), str_of(ALGORITHM_NAMES[JWT_HS256])) &&
           mac_key_verify(key, jwt->signed_text, jwt->signature_text);
}

json_object *jwt_claims(const struct jwt *jwt)
{
    return decode_object(jwt->payload_text);
}

static void add_base64url(struct buffer *out, struct str bytes)
{
    char text[JWT_MAX + 1];

    if (bytes.n > JWT_MAX / 4 * 3) {
        out->overflowed = true;
        return;
    }
    size_t length = base64url_encode(bytes.p, bytes.n, text);
    buffer_add(out, str_sized(text, length));
}

void jwt_sign_hs256(struct buffer *out, struct str header, struct str claims, struct mac_key *key)
{
    unsigned char mac[SHA256_BYTES];
    size_t start = out->length;

    add_base64url(out, header);
    buffer_add_char(out, '.');
    add_base64url(out, claims);
    if (buffer_ok(out)) {
        mac_key_sign(key, str_sized(out->bytes + start, out->length - start), mac);
        buffer_add_char(out, '.');
        add_base64url(out, str_sized((const char *)mac, sizeof(mac)));
    }
}
