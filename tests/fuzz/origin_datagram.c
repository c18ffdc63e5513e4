/*
 * Datagrams of nginx about the site behind the gate: one counts one request or nothing.
 */
#include "board/origin_load.h"

#include "lib/base/identifier.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct load_counts counts = {.errors = 0};
    struct origin_answer answer = {.network = {.n = 0}};

    (void)fuzz_arena();
    bool read = origin_load_read(fuzz_text(data, size), &answer, &counts);
    int64_t sum = counts.errors + counts.timeouts;
    for (size_t i = 0; i < sizeof(counts.buckets) / sizeof(counts.buckets[0]); i++) {
        sum += counts.buckets[i];
    }
    REQUIRE(!read || identifier_is_slug(answer.queue));
    REQUIRE(!read || answer.network.n <= size);
    REQUIRE(read ? sum <= 1 : sum == 0);
    return 0;
}
