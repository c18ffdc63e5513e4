#include "lib/identity/member_jwt.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "lib/base/clock.h"
#include "lib/base/log.h"
#include "lib/identity/jwk_set.h"
#include "lib/identity/jwt.h"
#include "lib/identity/watched_file.h"

enum { MEMBER_SECRET_MIN = 32, MEMBER_SECRETS_MAX = 4 };

/* The last second of the year 9999; a later NumericDate is not accepted. */
static const int64_t LAST_SECOND = RFC3339_LAST_MS / 1000;

/* Several secrets, because while the shop changes its secret tokens of both are in circulation. */
struct secrets {
    struct mac_key *keys[MEMBER_SECRETS_MAX];
    size_t count;
};

struct member_verifier {
    enum jwt_algorithm algorithm;
    int64_t leeway_ms;
    char *audience;           /* "": not checked */
    struct secrets secrets;   /* HS256 only */
    struct watched_file file; /* of the secrets */
    struct jwk_set *keys;     /* every other algorithm */
};

static void secrets_free(struct secrets *secrets)
{
    for (size_t i = 0; i < secrets->count; i++) {
        mac_key_free(secrets->keys[i]);
    }
    secrets->count = 0;
}

static bool is_secret(struct str line)
{
    bool good = line.n >= MEMBER_SECRET_MIN;

    for (size_t i = 0; good && i < line.n; i++) {
        good = line.p[i] >= 0x20 && line.p[i] <= 0x7e;
    }
    return good;
}

static bool take_secrets(struct str text, struct secrets *secrets)
{
    struct str line;
    bool more = true;

    if (text.n > 0 && text.p[text.n - 1] == '\n') {
        text.n--;
    }
    while (more) {
        more = str_split(text, '\n', &line, &text);
        if (line.n > 0 && line.p[0] == '#') {
            continue; /* a comment; taken as a secret, it would let anyone forge tokens */
        }
        if (!is_secret(line) || secrets->count == MEMBER_SECRETS_MAX) {
            return false;
        }
        secrets->keys[secrets->count++] = mac_key_new(line);
    }
    return secrets->count > 0;
}

/* Reads the HS256 secrets, each a line of printable ASCII. On failure `secrets` is empty. */
static bool read_secrets(const char *path, struct secrets *secrets, char error[SECRET_ERROR])
{
    char *bytes;
    size_t length;

    *secrets = (struct secrets){.count = 0};
    if (!secret_read(path, &bytes, &length, error)) {
        return false;
    }
    bool good = take_secrets(str_sized(bytes, length), secrets);
    secret_free(bytes, length);
    if (!good) {
        secrets_free(secrets);
        (void)snprintf(error, SECRET_ERROR,
                       "%s: must be 1 to %d lines of printable ASCII, each at least %d characters",
                       path, MEMBER_SECRETS_MAX, MEMBER_SECRET_MIN);
    }
    return good;
}

static bool open_keys(struct member_verifier *verifier, const struct settings *settings,
                      char error[SECRET_ERROR])
{
    bool by_secret = verifier->algorithm == JWT_HS256;
    const char *path = by_secret ? settings->member_jwt_key_file : settings->member_jwks_file;

    if (path[0] == '\0') {
        (void)snprintf(error, SECRET_ERROR, "%s must be set: member_jwt_algorithm is %s",
                       by_secret ? "member_jwt_key_file" : "member_jwks_file",
                       settings->member_jwt_algorithm);
        return false;
    }
    if (by_secret) {
        watched_file_init(&verifier->file, path, clock_monotonic_ms());
        return read_secrets(path, &verifier->secrets, error);
    }
    verifier->keys = jwk_set_open(path, verifier->algorithm, error);
    return verifier->keys != NULL;
}

struct member_verifier *member_verifier_new(const struct settings *settings,
                                            char error[SECRET_ERROR])
{
    struct member_verifier *verifier = calloc(1, sizeof(*verifier));

    if (verifier == NULL ||
        !jwt_algorithm_parse(str_of(settings->member_jwt_algorithm), &verifier->algorithm) ||
        (verifier->audience = strdup(settings->member_jwt_audience)) == NULL) {
        abort();
    }
    verifier->leeway_ms = settings->member_jwt_leeway_seconds * 1000;
    if (!open_keys(verifier, settings, error)) {
        member_verifier_free(verifier);
        return NULL;
    }
    return verifier;
}

void member_verifier_free(struct member_verifier *verifier)
{
    if (verifier != NULL) {
        secrets_free(&verifier->secrets);
        jwk_set_free(verifier->keys);
        watched_file_free(&verifier->file);
        free(verifier->audience);
        free(verifier);
    }
}

/* The HS256 secrets, re-read if their file has changed. */
static const struct secrets *current_secrets(struct member_verifier *verifier)
{
    struct secrets fresh;
    char error[SECRET_ERROR];

    if (watched_file_changed(&verifier->file, clock_monotonic_ms())) {
        if (!read_secrets(verifier->file.path, &fresh, error)) {
            log_event(LOG_LEVEL_WARNING, "keys.kept", LOG_FIELDS(LOG_TEXT("reason", error)));
        } else {
            secrets_free(&verifier->secrets);
            verifier->secrets = fresh;
            log_event(LOG_LEVEL_INFO, "keys.read",
                      LOG_FIELDS(LOG_TEXT("file", verifier->file.path)));
        }
    }
    return &verifier->secrets;
}

static enum member_outcome check_secrets(struct member_verifier *verifier, const struct jwt *jwt)
{
    const struct secrets *secrets = current_secrets(verifier);

    for (size_t i = 0; i < secrets->count; i++) {
        if (jwt_verify_hs256(jwt, secrets->keys[i])) {
            return MEMBER_VALID;
        }
    }
    return MEMBER_BAD_SIGNATURE;
}

static bool is_member_type(const struct jwt *jwt)
{
    return !jwt->has_type || strcasecmp(jwt->type, "JWT") == 0 ||
           strcasecmp(jwt->type, "at+jwt") == 0;
}

static enum member_outcome check_signature(struct member_verifier *verifier, const struct jwt *jwt)
{
    if (verifier->algorithm == JWT_HS256) {
        return check_secrets(verifier, jwt);
    }
    const struct public_key *key = jwk_set_find(verifier->keys, jwt);
    if (key == NULL) {
        return MEMBER_UNKNOWN_KEY;
    }
    return public_key_verify(key, jwt) ? MEMBER_VALID : MEMBER_BAD_SIGNATURE;
}

/* Reads a NumericDate (integer or fraction) as ms since 1970. */
static bool read_date(json_object *value, int64_t *ms)
{
    if (json_object_is_type(value, json_type_int)) {
        int64_t seconds = json_object_get_int64(value);
        *ms = seconds < 0 || seconds > LAST_SECOND ? -1 : seconds * 1000;
        return *ms >= 0;
    }
    if (json_object_is_type(value, json_type_double)) {
        double seconds = json_object_get_double(value);
        if (!isfinite(seconds) || seconds < 0 || seconds > (double)LAST_SECOND) {
            return false;
        }
        *ms = (int64_t)(seconds * 1000);
        return true;
    }
    return false;
}

static enum member_outcome check_times(const struct member_verifier *verifier, json_object *claims,
                                       int64_t now_ms)
{
    json_object *value;
    int64_t at_ms;

    if (!json_object_object_get_ex(claims, "exp", &value) || !read_date(value, &at_ms)) {
        return MEMBER_NO_EXPIRY;
    }
    if (now_ms >= at_ms + verifier->leeway_ms) {
        return MEMBER_EXPIRED;
    }
    if (json_object_object_get_ex(claims, "nbf", &value)) {
        if (!read_date(value, &at_ms)) {
            return MEMBER_MALFORMED;
        }
        if (now_ms + verifier->leeway_ms < at_ms) {
            return MEMBER_NOT_YET_VALID;
        }
    }
    return MEMBER_VALID;
}

static struct str string_of(json_object *value)
{
    if (!json_object_is_type(value, json_type_string)) {
        return str_sized(NULL, 0);
    }
    return str_sized(json_object_get_string(value), (size_t)json_object_get_string_len(value));
}

static bool is_for(json_object *claims, struct str audience)
{
    json_object *value;

    if (!json_object_object_get_ex(claims, "aud", &value)) {
        return false;
    }
    if (!json_object_is_type(value, json_type_array)) {
        return str_equal(string_of(value), audience);
    }
    for (size_t i = 0; i < json_object_array_length(value); i++) {
        if (str_equal(string_of(json_object_array_get_idx(value, i)), audience)) {
            return true;
        }
    }
    return false;
}

static enum member_outcome check_claims(const struct member_verifier *verifier, json_object *claims,
                                        int64_t now_ms, struct member *member)
{
    json_object *value = NULL;

    enum member_outcome outcome = check_times(verifier, claims, now_ms);
    if (outcome != MEMBER_VALID) {
        return outcome;
    }
    if (verifier->audience[0] != '\0' && !is_for(claims, str_of(verifier->audience))) {
        return MEMBER_WRONG_AUDIENCE;
    }
    (void)json_object_object_get_ex(claims, "sub", &value);
    struct str id = string_of(value);
    if (!identifier_is_member(id)) {
        return MEMBER_BAD_SUBJECT;
    }
    memcpy(member->id, id.p, id.n);
    member->id[id.n] = '\0';
    return MEMBER_VALID;
}

enum member_outcome member_jwt_verify(struct member_verifier *verifier, struct str token,
                                      int64_t now_ms, struct member *member)
{
    struct jwt jwt;

    if (!jwt_parse(token, &jwt)) {
        return MEMBER_MALFORMED;
    }
    if (!is_member_type(&jwt)) {
        return MEMBER_WRONG_TYPE;
    }
    if (!str_equal(str_of(jwt.algorithm), str_of(jwt_algorithm_name(verifier->algorithm)))) {
        return MEMBER_WRONG_ALGORITHM;
    }
    enum member_outcome outcome = check_signature(verifier, &jwt);
    if (outcome != MEMBER_VALID) {
        return outcome;
    }
    json_object *claims = jwt_claims(&jwt);
    if (claims == NULL) {
        return MEMBER_MALFORMED;
    }
    outcome = check_claims(verifier, claims, now_ms, member);
    json_object_put(claims);
    return outcome;
}

const char *member_outcome_reason(enum member_outcome outcome)
{
    static const char *const REASONS[] = {
        [MEMBER_VALID] = "the token is valid",
        [MEMBER_MALFORMED] = "the token is not a well-formed JWT",
        [MEMBER_WRONG_TYPE] = "the token is of another type",
        [MEMBER_WRONG_ALGORITHM] = "the token is signed by another algorithm",
        [MEMBER_UNKNOWN_KEY] = "the token is signed by an unknown key",
        [MEMBER_BAD_SIGNATURE] = "the token's signature is wrong",
        [MEMBER_NO_EXPIRY] = "the token has no usable exp claim",
        [MEMBER_EXPIRED] = "the token has expired",
        [MEMBER_NOT_YET_VALID] = "the token is not valid yet",
        [MEMBER_BAD_SUBJECT] = "the token's sub claim is no member id",
        [MEMBER_WRONG_AUDIENCE] = "the token is meant for another audience",
    };

    return REASONS[outcome];
}

bool member_jwt_sign(struct member_verifier *verifier, struct str id, int64_t now_ms,
                     int64_t ttl_seconds, struct buffer *out)
{
    struct buffer claims;

    if (verifier->algorithm != JWT_HS256 || !identifier_is_member(id)) {
        return false;
    }
    buffer_init(&claims, JWT_MAX);
    buffer_format(&claims, "{\"sub\":\"%.*s\"", STR_ARG(id));
    if (verifier->audience[0] != '\0') {
        buffer_add(&claims, STR(",\"aud\":"));
        buffer_add_json_string(&claims, str_of(verifier->audience));
    }
    buffer_format(&claims, ",\"iat\":%lld,\"exp\":%lld}", (long long)(now_ms / 1000),
                  (long long)(now_ms / 1000 + ttl_seconds));
    jwt_sign_hs256(out, STR("{\"alg\":\"HS256\",\"typ\":\"JWT\"}"), buffer_text(&claims),
                   current_secrets(verifier)->keys[0]);
    buffer_free(&claims);
    return buffer_ok(out);
}
