/*
 * Files of secrets of ours and of other people's: rings of keys, and lines of text.
 */
#include <string.h>

#include "lib/identity/text_secret.h"
#include "tests/fuzz/fuzz.h"

static void as_ring(const char *path)
{
    char error[SECRET_ERROR] = "";
    struct key_set *keys = key_set_open(path, error);

    REQUIRE((keys == NULL) == (error[0] != '\0'));
    if (keys != NULL) {
        const struct ring_key *signer = key_set_signer(keys);
        REQUIRE(strlen(signer->kid) >= 1 && strlen(signer->kid) <= KID_MAX);
        REQUIRE(key_set_find(keys, str_of(signer->kid)) == signer);
    }
    key_set_free(keys);
}

static void as_line(const char *path)
{
    char error[TEXT_SECRET_ERROR] = "";
    struct text_secret secret;

    if (text_secret_open(&secret, path, error)) {
        struct str text = text_secret_now(&secret);
        REQUIRE(text.n >= 1 && text.n <= TEXT_SECRET_MAX);
        for (size_t i = 0; i < text.n; i++) {
            REQUIRE(text.p[i] > 0x20 && text.p[i] <= 0x7e);
        }
    } else {
        REQUIRE(error[0] != '\0');
    }
    text_secret_close(&secret);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *path = fuzz_file(fuzz_text(data, size));

    (void)fuzz_arena();
    as_ring(path);
    as_line(path);
    return 0;
}
