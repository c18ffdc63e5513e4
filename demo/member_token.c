#include "demo/member_token.h"

#include <inttypes.h>
#include <stdio.h>

#include "lib/base/buffer.h"
#include "lib/base/clock.h"
#include "lib/identity/jwt.h"

enum { LIFE_SECONDS = 3600, CLAIMS_TEXT = 256 };

void member_token_sign(struct mac_key *key, const char *member, char token[MEMBER_TOKEN_TEXT])
{
    char claims[CLAIMS_TEXT];
    struct buffer text;
    int64_t now = clock_wall_ms() / 1000;

    (void)snprintf(claims, sizeof(claims),
                   "{\"sub\":\"%s\",\"iat\":%" PRId64 ",\"exp\":%" PRId64 "}", member, now,
                   now + LIFE_SECONDS);
    buffer_init(&text, MEMBER_TOKEN_TEXT - 1);
    jwt_sign_hs256(&text, STR("{\"alg\":\"HS256\",\"typ\":\"JWT\"}"), str_of(claims), key);
    (void)snprintf(token, MEMBER_TOKEN_TEXT, "%.*s", STR_ARG(buffer_text(&text)));
    buffer_free(&text);
}
