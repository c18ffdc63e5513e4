#include "lib/identity/public_key.h"

#include <stdlib.h>
#include <string.h>

#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/ecdsa.h>
#include <openssl/evp.h>
#include <openssl/param_build.h>

#include "lib/base/encoding.h"

enum {
    RSA_BITS_MIN = 2048,
    RSA_BITS_MAX = JWT_SIGNATURE_MAX * 8,
    RSA_EXPONENT_BYTES = 8,
    P256_BYTES = 32,
    ED25519_BYTES = 32,
    ED25519_SIGNATURE = 64
};

struct public_key {
    enum jwt_algorithm algorithm;
    EVP_PKEY *key;
};

/* Builds a key of the type `name`; NULL if OpenSSL rejects the parameters. */
static EVP_PKEY *key_from(const char *name, OSSL_PARAM_BLD *builder)
{
    OSSL_PARAM *parameters = OSSL_PARAM_BLD_to_param(builder);
    EVP_PKEY_CTX *context = EVP_PKEY_CTX_new_from_name(NULL, name, NULL);
    EVP_PKEY *key = NULL;

    if (parameters == NULL || context == NULL || EVP_PKEY_fromdata_init(context) != 1 ||
        EVP_PKEY_fromdata(context, &key, EVP_PKEY_PUBLIC_KEY, parameters) != 1) {
        key = NULL;
    }
    EVP_PKEY_CTX_free(context);
    OSSL_PARAM_free(parameters);
    return key;
}

static BIGNUM *decode_number(struct str text, size_t bytes_max)
{
    unsigned char bytes[JWT_SIGNATURE_MAX];
    size_t length;

    if (!base64url_decode(text, bytes, bytes_max, &length)) {
        return NULL;
    }
    return BN_bin2bn(bytes, (int)length, NULL);
}

static EVP_PKEY *rsa_key(struct str modulus_text, struct str exponent_text, const char **why)
{
    BIGNUM *modulus = decode_number(modulus_text, JWT_SIGNATURE_MAX);
    BIGNUM *exponent = decode_number(exponent_text, RSA_EXPONENT_BYTES);
    OSSL_PARAM_BLD *builder = OSSL_PARAM_BLD_new();
    EVP_PKEY *key = NULL;

    if (modulus == NULL || exponent == NULL || !BN_is_odd(modulus) || !BN_is_odd(exponent) ||
        BN_is_one(exponent)) {
        *why = "n or e is not right";
    } else if (BN_num_bits(modulus) < RSA_BITS_MIN || BN_num_bits(modulus) > RSA_BITS_MAX) {
        *why = "an RSA key must have 2048 to 8192 bits";
    } else if (builder != NULL &&
               OSSL_PARAM_BLD_push_BN(builder, OSSL_PKEY_PARAM_RSA_N, modulus) == 1 &&
               OSSL_PARAM_BLD_push_BN(builder, OSSL_PKEY_PARAM_RSA_E, exponent) == 1) {
        key = key_from("RSA", builder);
        *why = "n and e are no RSA key";
    }
    OSSL_PARAM_BLD_free(builder);
    BN_free(exponent);
    BN_free(modulus);
    return key;
}

/* True if the public key is valid; for an elliptic curve, if the point is on the curve. */
static bool is_valid_point(EVP_PKEY *key)
{
    EVP_PKEY_CTX *context = EVP_PKEY_CTX_new_from_pkey(NULL, key, NULL);
    bool valid = context != NULL && EVP_PKEY_public_check(context) == 1;

    EVP_PKEY_CTX_free(context);
    return valid;
}

static EVP_PKEY *p256_key(struct str x, struct str y, const char **why)
{
    unsigned char point[1 + 2 * P256_BYTES] = {0x04}; /* uncompressed */
    size_t x_length;
    size_t y_length;

    *why = "x and y are no point of P-256";
    if (!base64url_decode(x, point + 1, P256_BYTES, &x_length) || x_length != P256_BYTES ||
        !base64url_decode(y, point + 1 + P256_BYTES, P256_BYTES, &y_length) ||
        y_length != P256_BYTES) {
        return NULL;
    }
    OSSL_PARAM_BLD *builder = OSSL_PARAM_BLD_new();
    EVP_PKEY *key = NULL;
    if (builder != NULL &&
        OSSL_PARAM_BLD_push_utf8_string(builder, OSSL_PKEY_PARAM_GROUP_NAME, "prime256v1", 0) ==
            1 &&
        OSSL_PARAM_BLD_push_octet_string(builder, OSSL_PKEY_PARAM_PUB_KEY, point, sizeof(point)) ==
            1) {
        key = key_from("EC", builder);
    }
    OSSL_PARAM_BLD_free(builder);
    if (key != NULL && !is_valid_point(key)) {
        EVP_PKEY_free(key);
        key = NULL;
    }
    return key;
}

static EVP_PKEY *ed25519_key(struct str x, const char **why)
{
    unsigned char bytes[ED25519_BYTES];
    size_t length;

    *why = "x is no Ed25519 key";
    if (!base64url_decode(x, bytes, sizeof(bytes), &length) || length != ED25519_BYTES) {
        return NULL;
    }
    return EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, NULL, bytes, sizeof(bytes));
}

struct public_key *public_key_new(enum jwt_algorithm algorithm, struct str first, struct str second,
                                  const char **why)
{
    EVP_PKEY *key = NULL;

    *why = "not a public key algorithm";
    switch (algorithm) {
    case JWT_RS256:
        key = rsa_key(first, second, why);
        break;
    case JWT_ES256:
        key = p256_key(first, second, why);
        break;
    case JWT_EDDSA:
        key = ed25519_key(first, why);
        break;
    case JWT_HS256:
        break;
    }
    if (key == NULL) {
        return NULL;
    }
    struct public_key *made = malloc(sizeof(*made));
    if (made == NULL) {
        abort();
    }
    *made = (struct public_key){.algorithm = algorithm, .key = key};
    return made;
}

void public_key_free(struct public_key *key)
{
    if (key != NULL) {
        EVP_PKEY_free(key->key);
        free(key);
    }
}

static bool verify(EVP_PKEY *key, const EVP_MD *digest, struct str text,
                   const unsigned char *signature, size_t length)
{
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    bool right =
        context != NULL && EVP_DigestVerifyInit(context, NULL, digest, NULL, key) == 1 &&
        EVP_DigestVerify(context, signature, length, (const unsigned char *)text.p, text.n) == 1;

    EVP_MD_CTX_free(context);
    return right;
}

/* A JWS holds the two numbers side by side (RFC 7518, section 3.4); OpenSSL wants them as DER. */
static bool verify_es256(EVP_PKEY *key, const struct jwt *jwt)
{
    unsigned char *der = NULL;

    if (jwt->signature_length != 2 * P256_BYTES) {
        return false;
    }
    ECDSA_SIG *pair = ECDSA_SIG_new();
    BIGNUM *r = BN_bin2bn(jwt->signature, P256_BYTES, NULL);
    BIGNUM *s = BN_bin2bn(jwt->signature + P256_BYTES, P256_BYTES, NULL);
    if (pair == NULL || r == NULL || s == NULL || ECDSA_SIG_set0(pair, r, s) != 1) {
        abort();
    }
    int length = i2d_ECDSA_SIG(pair, &der);
    bool right = length > 0 && verify(key, EVP_sha256(), jwt->signed_text, der, (size_t)length);
    OPENSSL_free(der);
    ECDSA_SIG_free(pair);
    return right;
}

bool public_key_verify(const struct public_key *key, const struct jwt *jwt)
{
    if (!str_equal(str_of(jwt->algorithm), str_of(jwt_algorithm_name(key->algorithm)))) {
        return false;
    }
    switch (key->algorithm) {
    case JWT_RS256:
        return verify(key->key, EVP_sha256(), jwt->signed_text, jwt->signature,
                      jwt->signature_length);
    case JWT_ES256:
        return verify_es256(key->key, jwt);
    case JWT_EDDSA:
        return jwt->signature_length == ED25519_SIGNATURE &&
               verify(key->key, NULL, jwt->signed_text, jwt->signature, jwt->signature_length);
    case JWT_HS256:
        break;
    }
    return false;
}
