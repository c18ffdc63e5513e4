/*
 * JSON bodies: our grammar and json-c are of one mind, and what was read is written and read again
 * as the same.
 */
#include <string.h>

#include "fcgi-app/http/json_grammar.h"
#include "fcgi-app/http/request.h"
#include "lib/identity/jwt.h"
#include "tests/fuzz/fuzz.h"

enum { DEPTH = 16 };

static json_object *read_body(struct arena *arena, struct str body, const char **why)
{
    const struct request request = {.arena = arena, .body = body};

    json_object *object = request_json(&request, why);
    REQUIRE((object == NULL) == (*why != NULL));
    return object;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena *arena = fuzz_arena();
    struct str text = fuzz_text(data, size);
    const char *why = NULL;
    const char *grammar = NULL;

    json_object *object = read_body(arena, text, &why);
    bool holds = json_grammar_holds(text, DEPTH, &grammar);
    REQUIRE(holds == (grammar == NULL));
    REQUIRE(object == NULL || size == 0 || holds);
    /* json-c counts a value within the deepest array as one level more. */
    json_object *lenient = jwt_json_object(text, DEPTH + 1);
    (void)json_object_put(lenient);
    if (object == NULL || size == 0) {
        return 0;
    }
    REQUIRE(lenient != NULL);
    size_t length;
    const char *written =
        json_object_to_json_string_length(object, JSON_C_TO_STRING_PLAIN, &length);
    json_object *again = read_body(arena, str_sized(written, length), &why);
    REQUIRE(again != NULL && json_object_equal(object, again));
    return 0;
}
