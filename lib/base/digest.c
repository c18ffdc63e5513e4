#include "lib/base/digest.h"

#include <limits.h>
#include <stdlib.h>

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include "lib/base/encoding.h"

/* The algorithm is fetched once: SHA256() looks it up by name on every call, which takes longer
 * than hashing a token. */
static EVP_MD_CTX *ready_context(void)
{
    static _Thread_local EVP_MD_CTX *context;
    static _Thread_local EVP_MD *algorithm;

    if (context == NULL) {
        algorithm = EVP_MD_fetch(NULL, "SHA256", NULL);
        context = EVP_MD_CTX_new();
    }
    if (algorithm == NULL || context == NULL || EVP_DigestInit_ex2(context, algorithm, NULL) != 1) {
        abort();
    }
    return context;
}

void sha256(struct str text, unsigned char out[SHA256_BYTES])
{
    EVP_MD_CTX *context = ready_context();
    unsigned int length = 0;

    if (EVP_DigestUpdate(context, text.p, text.n) != 1 ||
        EVP_DigestFinal_ex(context, out, &length) != 1 || length != SHA256_BYTES) {
        abort();
    }
}

void sha256_text(struct str text, char out[SHA256_TEXT + 1])
{
    unsigned char bytes[SHA256_BYTES];

    sha256(text, bytes);
    base64url_encode(bytes, sizeof(bytes), out);
}

void hmac_sha256(struct str key, struct str text, unsigned char out[SHA256_BYTES])
{
    unsigned int length = SHA256_BYTES;

    if (key.n > INT_MAX || HMAC(EVP_sha256(), key.p, (int)key.n, (const unsigned char *)text.p,
                                text.n, out, &length) == NULL) {
        abort();
    }
}

bool constant_time_equal(struct str a, struct str b)
{
    return a.n == b.n && (a.n == 0 || CRYPTO_memcmp(a.p, b.p, a.n) == 0);
}
