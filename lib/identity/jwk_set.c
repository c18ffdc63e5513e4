#include "lib/identity/jwk_set.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/clock.h"
#include "lib/base/log.h"
#include "lib/identity/watched_file.h"
#include "lib/settings/text_file.h"

enum { JWK_DEPTH_MAX = 8, WHY_MAX = 160 };

struct named_key {
    char kid[JWT_KID_MAX + 1]; /* "" if the key has none */
    struct public_key *key;
};

struct keys {
    struct named_key keys[JWK_SET_MAX];
    size_t count;
};

struct jwk_set {
    enum jwt_algorithm algorithm;
    struct keys held;
    struct watched_file file;
};

/* The members a JWK must have to be a key for the algorithm (RFC 7518, RFC 8037). */
static const struct form {
    const char *kind;
    const char *curve;
    const char *first;
    const char *second;
} FORMS[] = {
    [JWT_HS256] = {.kind = "oct"},
    [JWT_RS256] = {.kind = "RSA", .first = "n", .second = "e"},
    [JWT_ES256] = {.kind = "EC", .curve = "P-256", .first = "x", .second = "y"},
    [JWT_EDDSA] = {.kind = "OKP", .curve = "Ed25519", .first = "x"},
};

static void keys_clear(struct keys *keys)
{
    for (size_t i = 0; i < keys->count; i++) {
        public_key_free(keys->keys[i].key);
    }
    keys->count = 0;
}

/* The member `name` as text; empty if it is missing or not a string. */
static struct str text_of(json_object *object, const char *name)
{
    json_object *value;

    if (name == NULL || !json_object_object_get_ex(object, name, &value) ||
        !json_object_is_type(value, json_type_string)) {
        return str_sized(NULL, 0);
    }
    return str_sized(json_object_get_string(value), (size_t)json_object_get_string_len(value));
}

static bool has_text(json_object *jwk, const char *name, const char *expected)
{
    return str_equal(text_of(jwk, name), str_of(expected));
}

static bool absent_or(json_object *jwk, const char *name, const char *expected)
{
    return !json_object_object_get_ex(jwk, name, NULL) || has_text(jwk, name, expected);
}

/* False for a key of another kind, curve, use or algorithm; such keys are skipped (RFC 7517,
 * section 5). */
static bool is_candidate(json_object *jwk, enum jwt_algorithm algorithm)
{
    const struct form *form = &FORMS[algorithm];

    return json_object_is_type(jwk, json_type_object) && has_text(jwk, "kty", form->kind) &&
           (form->curve == NULL || has_text(jwk, "crv", form->curve)) &&
           absent_or(jwk, "use", "sig") && absent_or(jwk, "alg", jwt_algorithm_name(algorithm));
}

static const char *read_kid(json_object *jwk, const struct keys *keys, char kid[JWT_KID_MAX + 1])
{
    struct str text = text_of(jwk, "kid");

    if (text.n > JWT_KID_MAX || (text.n == 0 && json_object_object_get_ex(jwk, "kid", NULL))) {
        return "kid must be text of 1 to 128 characters";
    }
    for (size_t i = 0; i < text.n; i++) {
        if (text.p[i] < 0x20 || text.p[i] > 0x7e) {
            return "kid must be printable ASCII";
        }
    }
    if (text.n > 0) {
        memcpy(kid, text.p, text.n);
    }
    kid[text.n] = '\0';
    for (size_t i = 0; i < keys->count; i++) {
        if (strcmp(keys->keys[i].kid, kid) == 0) {
            return "an earlier key has the same kid";
        }
    }
    return NULL;
}

/* Adds one key. Returns NULL, or the reason why it is refused. */
static const char *keys_add(struct keys *keys, json_object *jwk, enum jwt_algorithm algorithm)
{
    const struct form *form = &FORMS[algorithm];
    struct named_key *named = &keys->keys[keys->count];
    const char *why = NULL;

    if (json_object_object_get_ex(jwk, "d", NULL)) {
        return "it is a private key, only public ones belong here";
    }
    if (keys->count == JWK_SET_MAX) {
        return "it is one key too many, 32 are the most";
    }
    why = read_kid(jwk, keys, named->kid);
    if (why != NULL) {
        return why;
    }
    named->key =
        public_key_new(algorithm, text_of(jwk, form->first), text_of(jwk, form->second), &why);
    if (named->key == NULL) {
        return why;
    }
    keys->count++;
    return NULL;
}

static bool keys_parse(struct keys *keys, struct str text, enum jwt_algorithm algorithm,
                       char why[WHY_MAX])
{
    json_object *list;
    json_object *set = jwt_json_object(text, JWK_DEPTH_MAX);
    bool good = set != NULL && json_object_object_get_ex(set, "keys", &list) &&
                json_object_is_type(list, json_type_array);

    if (!good) {
        (void)snprintf(why, WHY_MAX, "is no JWK set: a JSON object with an array \"keys\"");
    }
    for (size_t i = 0; good && i < json_object_array_length(list); i++) {
        json_object *jwk = json_object_array_get_idx(list, i);
        const char *fault = is_candidate(jwk, algorithm) ? keys_add(keys, jwk, algorithm) : NULL;
        if (fault != NULL) {
            (void)snprintf(why, WHY_MAX, "key %zu: %s", i, fault);
            good = false;
        }
    }
    if (good && keys->count == 0) {
        (void)snprintf(why, WHY_MAX, "has no key for %s", jwt_algorithm_name(algorithm));
        good = false;
    }
    json_object_put(set);
    return good;
}

/* Fills an empty list; it stays empty if the file cannot be used. */
static bool keys_read(struct keys *keys, const char *path, enum jwt_algorithm algorithm,
                      char error[SECRET_ERROR])
{
    char why[WHY_MAX];
    char *bytes;
    size_t length;

    if (!text_file_read(path, JWK_SET_FILE_MAX, &bytes, &length, error)) {
        return false;
    }
    bool good = keys_parse(keys, str_sized(bytes, length), algorithm, why);
    free(bytes);
    if (!good) {
        keys_clear(keys);
        (void)snprintf(error, SECRET_ERROR, "%s: %s", path, why);
    }
    return good;
}

struct jwk_set *jwk_set_open(const char *path, enum jwt_algorithm algorithm,
                             char error[SECRET_ERROR])
{
    _Static_assert((int)TEXT_FILE_ERROR == (int)SECRET_ERROR, "one buffer serves both");
    struct jwk_set *set = calloc(1, sizeof(*set));

    if (set == NULL) {
        abort();
    }
    set->algorithm = algorithm;
    watched_file_init(&set->file, path, clock_monotonic_ms());
    if (!keys_read(&set->held, path, algorithm, error)) {
        jwk_set_free(set);
        return NULL;
    }
    return set;
}

void jwk_set_free(struct jwk_set *set)
{
    if (set != NULL) {
        keys_clear(&set->held);
        watched_file_free(&set->file);
        free(set);
    }
}

void jwk_set_refresh(struct jwk_set *set, int64_t now_monotonic_ms)
{
    struct keys fresh = {.count = 0};
    char error[SECRET_ERROR];

    if (!watched_file_changed(&set->file, now_monotonic_ms)) {
        return;
    }
    if (!keys_read(&fresh, set->file.path, set->algorithm, error)) {
        log_event(LOG_LEVEL_WARNING, "keys.kept", LOG_FIELDS(LOG_TEXT("reason", error)));
        return;
    }
    keys_clear(&set->held);
    set->held = fresh;
    log_event(LOG_LEVEL_INFO, "keys.read",
              LOG_FIELDS(LOG_TEXT("file", set->file.path), LOG_INT("keys", fresh.count)));
}

const struct public_key *jwk_set_find(struct jwk_set *set, const struct jwt *jwt)
{
    jwk_set_refresh(set, clock_monotonic_ms());
    if (!jwt->has_kid) {
        return set->held.count == 1 ? set->held.keys[0].key : NULL;
    }
    for (size_t i = 0; i < set->held.count; i++) {
        if (strcmp(set->held.keys[i].kid, jwt->kid) == 0) {
            return set->held.keys[i].key;
        }
    }
    return NULL;
}
