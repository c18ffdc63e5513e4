/*
 * What nginx -T prints: every directive is of the text, and reading comes to an end.
 */
#include "sluicectl/doctor/nginx_config.h"

#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena *arena = fuzz_arena();
    struct nginx_reader reader;
    struct nginx_directive directive;
    size_t found = 0;

    nginx_reader_start(&reader, arena, fuzz_text(data, size));
    while (nginx_reader_next(&reader, &directive)) {
        REQUIRE(directive.count >= 1 && directive.count <= NGINX_WORDS_MAX);
        REQUIRE(++found <= size);
        size_t length = 0;
        for (size_t i = 0; i < directive.count; i++) {
            length += directive.words[i].n;
        }
        REQUIRE(length <= size);
        (void)nginx_is(&directive, "server");
    }
    REQUIRE(reader.rest.n == 0);
    return 0;
}
