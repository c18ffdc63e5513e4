#include "lib/identity/mac_key.h"

#include <stdlib.h>

#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/params.h>

#include "lib/base/encoding.h"

struct mac_key {
    EVP_MAC_CTX *context; /* keeps the key's hashed pads; an init without a key restores them */
};

struct mac_key *mac_key_new(struct str secret)
{
    char digest[] = "SHA256";
    const OSSL_PARAM parameters[] = {
        OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, digest, 0),
        OSSL_PARAM_construct_end(),
    };
    struct mac_key *key = malloc(sizeof(*key));
    EVP_MAC *algorithm = EVP_MAC_fetch(NULL, OSSL_MAC_NAME_HMAC, NULL);

    if (key == NULL || algorithm == NULL) {
        abort();
    }
    key->context = EVP_MAC_CTX_new(algorithm);
    EVP_MAC_free(algorithm);
    if (key->context == NULL || secret.n == 0 ||
        EVP_MAC_init(key->context, (const unsigned char *)secret.p, secret.n, parameters) != 1) {
        abort();
    }
    return key;
}

void mac_key_free(struct mac_key *key)
{
    if (key != NULL) {
        EVP_MAC_CTX_free(key->context);
        free(key);
    }
}

void mac_key_sign(struct mac_key *key, struct str text, unsigned char out[SHA256_BYTES])
{
    size_t length = 0;

    if (EVP_MAC_init(key->context, NULL, 0, NULL) != 1 ||
        EVP_MAC_update(key->context, (const unsigned char *)text.p, text.n) != 1 ||
        EVP_MAC_final(key->context, out, &length, SHA256_BYTES) != 1 || length != SHA256_BYTES) {
        abort();
    }
}

bool mac_key_verify(struct mac_key *key, struct str text, struct str mac_text)
{
    unsigned char given[SHA256_BYTES];
    unsigned char right[SHA256_BYTES];
    size_t length;

    if (!base64url_decode(mac_text, given, sizeof(given), &length) || length != SHA256_BYTES) {
        return false;
    }
    mac_key_sign(key, text, right);
    return constant_time_equal(str_sized((const char *)given, sizeof(given)),
                               str_sized((const char *)right, sizeof(right)));
}
