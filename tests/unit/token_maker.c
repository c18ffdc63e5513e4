#include "tests/unit/token_maker.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/ec.h>
#include <openssl/ecdsa.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>

#include "lib/base/arena.h"
#include "lib/base/digest.h"
#include "lib/base/encoding.h"

struct maker_key {
    enum jwt_algorithm algorithm;
    EVP_PKEY *key;
};

static struct arena *arena;

static void free_arena(void)
{
    arena_free(arena);
}

static void *keep(size_t size)
{
    if (arena == NULL) {
        arena = arena_new();
        (void)atexit(free_arena);
    }
    return arena_alloc(arena, size);
}

static void require(bool good)
{
    if (!good) {
        abort();
    }
}

const char *maker_text(const char *format, ...)
{
    va_list list;

    va_start(list, format);
    int length = vsnprintf(NULL, 0, format, list);
    va_end(list);
    require(length >= 0);
    char *text = keep((size_t)length + 1);
    va_start(list, format);
    (void)vsnprintf(text, (size_t)length + 1, format, list);
    va_end(list);
    return text;
}

static const char *encode(const void *bytes, size_t n)
{
    char *text = keep(BASE64URL_LENGTH(n) + 1);

    base64url_encode(bytes, n, text);
    return text;
}

const char *maker_base64url(const char *text)
{
    return encode(text, strlen(text));
}

struct maker_key *maker_key_new(enum jwt_algorithm algorithm, unsigned int bits)
{
    struct maker_key *key = calloc(1, sizeof(*key));

    require(key != NULL);
    key->algorithm = algorithm;
    if (algorithm == JWT_RS256) {
        key->key = EVP_RSA_gen(bits);
    } else if (algorithm == JWT_ES256) {
        key->key = EVP_EC_gen("P-256");
    } else {
        key->key = EVP_PKEY_Q_keygen(NULL, NULL, "ED25519");
    }
    require(key->key != NULL);
    return key;
}

void maker_key_free(struct maker_key *key)
{
    EVP_PKEY_free(key->key);
    free(key);
}

static const char *number_of(const struct maker_key *key, const char *name, int width)
{
    BIGNUM *number = NULL;

    require(EVP_PKEY_get_bn_param(key->key, name, &number) == 1);
    int length = width > 0 ? width : BN_num_bytes(number);
    unsigned char *bytes = keep((size_t)length);
    require(BN_bn2binpad(number, bytes, length) == length);
    BN_free(number);
    return encode(bytes, (size_t)length);
}

const char *maker_jwk(const struct maker_key *key)
{
    unsigned char raw[32];
    size_t length = sizeof(raw);

    switch (key->algorithm) {
    case JWT_RS256:
        return maker_text("\"kty\":\"RSA\",\"n\":\"%s\",\"e\":\"%s\"",
                          number_of(key, OSSL_PKEY_PARAM_RSA_N, 0),
                          number_of(key, OSSL_PKEY_PARAM_RSA_E, 0));
    case JWT_ES256:
        return maker_text("\"kty\":\"EC\",\"crv\":\"P-256\",\"x\":\"%s\",\"y\":\"%s\"",
                          number_of(key, OSSL_PKEY_PARAM_EC_PUB_X, 32),
                          number_of(key, OSSL_PKEY_PARAM_EC_PUB_Y, 32));
    case JWT_EDDSA:
        require(EVP_PKEY_get_raw_public_key(key->key, raw, &length) == 1);
        return maker_text("\"kty\":\"OKP\",\"crv\":\"Ed25519\",\"x\":\"%s\"", encode(raw, length));
    case JWT_HS256:
        break;
    }
    abort();
}

const char *maker_pem(const struct maker_key *key)
{
    BIO *memory = BIO_new(BIO_s_mem());
    char *bytes;

    require(memory != NULL && PEM_write_bio_PUBKEY(memory, key->key) == 1);
    long length = BIO_get_mem_data(memory, &bytes);
    const char *text = maker_text("%.*s", (int)length, bytes);
    BIO_free(memory);
    return text;
}

/* r and s side by side, from OpenSSL's DER. */
static const char *raw_signature(const unsigned char *der, size_t length)
{
    unsigned char raw[64];
    ECDSA_SIG *pair = d2i_ECDSA_SIG(NULL, &der, (long)length);

    require(pair != NULL && BN_bn2binpad(ECDSA_SIG_get0_r(pair), raw, 32) == 32 &&
            BN_bn2binpad(ECDSA_SIG_get0_s(pair), raw + 32, 32) == 32);
    ECDSA_SIG_free(pair);
    return encode(raw, sizeof(raw));
}

const char *maker_token_with(const char *header, const char *claims, const char *signature)
{
    return maker_text("%s.%s.%s", maker_base64url(header), maker_base64url(claims), signature);
}

const char *maker_token(const struct maker_key *key, const char *header, const char *claims)
{
    const char *text = maker_text("%s.%s", maker_base64url(header), maker_base64url(claims));
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    const EVP_MD *digest = key->algorithm == JWT_EDDSA ? NULL : EVP_sha256();
    unsigned char signature[1024];
    size_t length = sizeof(signature);

    require(context != NULL && EVP_DigestSignInit(context, NULL, digest, NULL, key->key) == 1 &&
            EVP_DigestSign(context, signature, &length, (const unsigned char *)text,
                           strlen(text)) == 1);
    EVP_MD_CTX_free(context);
    return maker_text("%s.%s", text,
                      key->algorithm == JWT_ES256 ? raw_signature(signature, length)
                                                  : encode(signature, length));
}

const char *maker_token_hs256(struct str secret, const char *header, const char *claims)
{
    const char *text = maker_text("%s.%s", maker_base64url(header), maker_base64url(claims));
    unsigned char mac[SHA256_BYTES];

    hmac_sha256(secret, str_of(text), mac);
    return maker_text("%s.%s", text, encode(mac, sizeof(mac)));
}
