/*
 * Settings of a queue: a set that was accepted is complete, is accepted again, and stays what it
 * is.
 */
#include "lib/admission/queues/queue_settings.h"

#include "fcgi-app/http/request.h"
#include "tests/fuzz/fuzz.h"

static void must_be(const struct queue_settings_fault *fault)
{
    REQUIRE(fault->pointer != NULL && fault->pointer[0] == '/');
    REQUIRE(fault->sentence != NULL && fault->sentence[0] != '\0');
}

static void goes_to_redis(struct arena *arena, json_object *stored)
{
    struct str fields[2 * QUEUE_SETTING_COUNT];
    struct queue_rates rates;

    queue_settings_flatten(arena, stored, fields);
    for (size_t i = 0; i < 2 * QUEUE_SETTING_COUNT; i += 2) {
        REQUIRE(
            str_equal(fields[i], str_of(queue_setting((enum queue_setting_number)(i / 2))->name)));
    }
    queue_settings_rates(arena, stored, &rates);
    REQUIRE((rates.floor.n == 0) == (rates.ceiling.n == 0));
}

static void is_shown(struct arena *arena, json_object *stored)
{
    struct queue_settings_fault fault;
    json_object *answer = json_object_new_object();

    queue_settings_show(stored, answer);
    REQUIRE(json_object_object_length(answer) == QUEUE_SETTING_COUNT);
    /* What GET gives PUT takes. */
    REQUIRE(queue_settings_replace(arena, answer, &fault) != NULL);
    (void)json_object_put(answer);
    REQUIRE(queue_settings_state(stored, "OPEN", false, INT64_C(1800000000000)) != NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena *arena = fuzz_arena();
    const struct request request = {.arena = arena, .body = fuzz_text(data, size)};
    struct queue_settings_fault fault = {.pointer = NULL};
    const char *why;
    json_object *given = request_json(&request, &why);

    if (given == NULL) {
        return 0;
    }
    json_object *stored = queue_settings_replace(arena, given, &fault);
    if (stored == NULL) {
        must_be(&fault);
        return 0;
    }
    /* entryCaptcha's default is not stored: the release before does not know it. */
    REQUIRE(json_object_object_length(stored) ==
            QUEUE_SETTING_COUNT - !json_object_object_get_ex(stored, "entryCaptcha", NULL));
    json_object *again = queue_settings_replace(arena, stored, &fault);
    REQUIRE(again != NULL && json_object_equal(stored, again));
    again = queue_settings_change(arena, stored, stored, &fault);
    REQUIRE(again != NULL && json_object_equal(stored, again));
    goes_to_redis(arena, stored);
    is_shown(arena, stored);
    return 0;
}
