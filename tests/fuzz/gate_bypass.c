/*
 * Who passes the gate without waiting. Lines: address, path, User-Agent, secret of a request; the
 * rest: the rules.
 */
#include "lib/admission/gate/gate_bypass.h"

#include <string.h>

#include "fcgi-app/http/request.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena *arena = fuzz_arena();
    struct str rules = fuzz_text(data, size);
    struct gate_bypass_facts facts = {.address = fuzz_line(arena, &rules)};
    struct queue_settings_fault fault = {.pointer = NULL};
    const char *why;

    facts.path = fuzz_line(arena, &rules);
    facts.user_agent = fuzz_line(arena, &rules);
    facts.secret = fuzz_line(arena, &rules);
    const struct request request = {.arena = arena, .body = rules};
    json_object *value = request_json(&request, &why);
    struct gate_bypass *bypass = gate_bypass_parse(rules);
    if (value != NULL && rules.n > 0) {
        bool good = gate_bypass_check(value, arena, &fault);
        REQUIRE(good || (fault.pointer != NULL && fault.sentence != NULL));
        REQUIRE((bypass != NULL) == (good && rules.n <= GATE_BYPASS_TEXT_MAX) ||
                rules.n > GATE_BYPASS_TEXT_MAX);
    }
    enum gate_bypass_reason reason = gate_bypass_match(bypass, &facts);
    REQUIRE(bypass != NULL || reason == GATE_BYPASS_NONE);
    REQUIRE(reason != GATE_BYPASS_PATH || memmem(facts.path.p, facts.path.n, "/..", 3) == NULL);
    REQUIRE(reason != GATE_BYPASS_SECRET || facts.secret.n > 0);
    REQUIRE(reason != GATE_BYPASS_NETWORK || facts.address.n > 0);
    gate_bypass_free(bypass);
    return 0;
}
