/*
 * JWK set files, for each algorithm: what is opened has a key that can be found, and never a
 * private one.
 */
#include "lib/identity/jwk_set.h"

#include <string.h>

#include "tests/fuzz/fuzz.h"

static bool has_text(json_object *jwk, const char *name, const char *text)
{
    json_object *value = NULL;

    return json_object_object_get_ex(jwk, name, &value) &&
           json_object_is_type(value, json_type_string) &&
           strcmp(json_object_get_string(value), text) == 0;
}

/* Whether any key that is meant without doubt is private. `curve`: NULL where the kind has none; a
 * key of the kind without its curve is skipped. */
static bool has_private_key(json_object *list, const char *kind, const char *curve)
{
    for (size_t i = 0; i < json_object_array_length(list); i++) {
        json_object *jwk = json_object_array_get_idx(list, i);
        bool meant = json_object_is_type(jwk, json_type_object) && has_text(jwk, "kty", kind) &&
                     (curve == NULL || has_text(jwk, "crv", curve));
        if (meant && json_object_object_get_ex(jwk, "d", NULL) &&
            !json_object_object_get_ex(jwk, "use", NULL) &&
            !json_object_object_get_ex(jwk, "alg", NULL)) {
            return true;
        }
    }
    return false;
}

static void is_sound(struct jwk_set *set, struct str text, const char *kind, const char *curve)
{
    json_object *file = jwt_json_object(text, 8);
    json_object *list = json_object_object_get(file, "keys");
    struct jwt jwt = {.has_kid = true};
    size_t found = 0;

    REQUIRE(json_object_is_type(list, json_type_array));
    REQUIRE(!has_private_key(list, kind, curve));
    for (size_t i = 0; i < json_object_array_length(list); i++) {
        json_object *kid = NULL;
        json_object *jwk = json_object_array_get_idx(list, i);
        if (json_object_is_type(jwk, json_type_object)) {
            (void)json_object_object_get_ex(jwk, "kid", &kid);
        }
        str_copy(json_object_is_type(kid, json_type_string) ? str_of(json_object_get_string(kid))
                                                            : STR(""),
                 jwt.kid, sizeof(jwt.kid));
        found += jwk_set_find(set, &jwt) != NULL;
    }
    REQUIRE(found >= 1);
    (void)json_object_put(file);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct {
        enum jwt_algorithm algorithm;
        const char *kind;
        const char *curve;
    } KINDS[] = {
        {JWT_RS256, "RSA", NULL}, {JWT_ES256, "EC", "P-256"}, {JWT_EDDSA, "OKP", "Ed25519"}};
    struct str text = fuzz_text(data, size);
    const char *path = fuzz_file(text);

    (void)fuzz_arena();
    for (size_t i = 0; i < sizeof(KINDS) / sizeof(KINDS[0]); i++) {
        char error[SECRET_ERROR] = "";
        struct jwk_set *set = jwk_set_open(path, KINDS[i].algorithm, error);
        REQUIRE((set == NULL) == (error[0] != '\0'));
        if (set != NULL) {
            is_sound(set, text, KINDS[i].kind, KINDS[i].curve);
        }
        jwk_set_free(set);
    }
    return 0;
}
