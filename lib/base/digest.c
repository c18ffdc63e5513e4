#include "lib/base/digest.h"

#include <limits.h>
#include <stdlib.h>

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/sha.h>

#include "lib/base/encoding.h"

void sha256(struct str text, unsigned char out[SHA256_BYTES])
{
    SHA256((const unsigned char *)text.p, text.n, out);
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
