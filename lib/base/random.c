#include "lib/base/random.h"

#include <limits.h>
#include <stdlib.h>

#include <openssl/rand.h>

#include "lib/base/encoding.h"

enum { ID_BYTES = 16, IDS_AT_ONCE = 16 };

void random_bytes(void *out, size_t n)
{
    if (n > INT_MAX || RAND_bytes(out, (int)n) != 1) {
        abort();
    }
}

void random_token(char out[RANDOM_TOKEN_TEXT + 1])
{
    unsigned char bytes[32];

    random_bytes(bytes, sizeof(bytes));
    base64url_encode(bytes, sizeof(bytes), out);
}

/* The generator takes about as long for many bytes as for a few. Ids are not secret, so a stock of
 * them may be kept; each is handed out once. */
void random_id(char out[RANDOM_ID_TEXT + 1])
{
    static _Thread_local unsigned char ready[IDS_AT_ONCE][ID_BYTES];
    static _Thread_local size_t left;

    if (left == 0) {
        random_bytes(ready, sizeof(ready));
        left = IDS_AT_ONCE;
    }
    base64url_encode(ready[--left], ID_BYTES, out);
}

uint32_t random_below(uint32_t below)
{
    static uint64_t state;

    if (state == 0) {
        random_bytes(&state, sizeof(state));
        state |= 1;
    }
    /* xorshift64 (Marsaglia 2003): every poll needs jitter, which must cost nothing. */
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (uint32_t)(((state >> 32) * below) >> 32);
}
