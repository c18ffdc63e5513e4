/*
 * queue_settings: what PUT and PATCH take, refuse and leave alone; what GET shows; what Redis gets.
 */
#include "tests/unit/unit.h"

#include <string.h>

#include "lib/admission/queues/queue_settings.h"

static struct arena *arena;

static int make_arena(__attribute__((unused)) void **state)
{
    arena = arena_new();
    return 0;
}

static int free_arena(__attribute__((unused)) void **state)
{
    arena_free(arena);
    return 0;
}

static void release_json(void *object)
{
    (void)json_object_put(object);
}

static json_object *parse(const char *text)
{
    json_object *object = json_tokener_parse(text);

    assert_non_null(object);
    arena_on_reset(arena, release_json, object);
    return object;
}

static json_object *replaced(const char *given)
{
    struct queue_settings_fault fault = {"", ""};
    json_object *settings = queue_settings_replace(arena, parse(given), &fault);

    if (settings == NULL) {
        print_error("%s: %s: %s\n", given, fault.pointer, fault.sentence);
    }
    assert_non_null(settings);
    return settings;
}

static json_object *changed(json_object *stored, const char *given)
{
    struct queue_settings_fault fault = {"", ""};
    json_object *settings = queue_settings_change(arena, stored, parse(given), &fault);

    if (settings == NULL) {
        print_error("%s: %s: %s\n", given, fault.pointer, fault.sentence);
    }
    assert_non_null(settings);
    return settings;
}

/** What GET shows of them, as text. */
static const char *shown(json_object *settings)
{
    json_object *answer = json_object_new_object();

    arena_on_reset(arena, release_json, answer);
    queue_settings_show(settings, answer);
    return json_object_to_json_string_ext(answer, JSON_C_TO_STRING_PLAIN);
}

static void assert_shows(json_object *settings, const char *name, const char *json)
{
    json_object *answer = parse(shown(settings));
    json_object *value = NULL;

    assert_true(json_object_object_get_ex(answer, name, &value));
    assert_string_equal(json_object_to_json_string_ext(value, JSON_C_TO_STRING_PLAIN), json);
}

/** As PostgreSQL gives it back: other order of fields, other spelling of numbers. */
static json_object *stored_and_read(json_object *settings)
{
    json_object *shuffled = json_object_new_object();
    const char *names[QUEUE_SETTING_COUNT];
    size_t count = 0;

    json_object_object_foreach(settings, name, value)
    {
        (void)value;
        names[count++] = name;
    }
    while (count-- > 0) {
        json_object_object_add(shuffled, names[count],
                               json_object_get(json_object_object_get(settings, names[count])));
    }
    arena_on_reset(arena, release_json, shuffled);
    return parse(json_object_to_json_string(shuffled));
}

TEST(an_empty_put_gives_the_defaults_of_the_contract)
{
    json_object *settings = replaced("{}");

    assert_string_equal(
        shown(settings),
        "{\"mode\":\"fifo\",\"identity\":\"member\",\"ratePerSecond\":50,\"burst\":50,"
        "\"maxActive\":1000,\"maxInFlight\":100,\"entryTtlSeconds\":300,\"claimLeaseSeconds\":30,"
        "\"maxWaiting\":0,\"opensAt\":null,\"closesAt\":null,\"releaseOn\":\"order\","
        "\"pickupSeconds\":90,\"activation\":\"on\",\"admitWhenIdle\":false,"
        "\"priorityShare\":0.5,\"message\":null,"
        "\"autopilot\":null,\"batchCap\":500,\"tickMs\":1000,\"pollTiers\":null,"
        "\"recoverySeconds\":38,\"reopen\":true,\"bypass\":null,\"entryCaptcha\":\"none\"}");
}

TEST(an_entry_captcha_that_was_false_is_none)
{
    json_object *old = parse("{\"entryCaptcha\": false}");
    struct queue_settings_fault fault;

    assert_string_equal(shown(replaced("{\"entryCaptcha\": false}")), shown(replaced("{}")));
    assert_string_equal(shown(old), shown(replaced("{}")));
    assert_string_equal(shown(queue_settings_change(arena, old, parse("{}"), &fault)),
                        shown(replaced("{}")));
}

TEST(a_change_keeps_what_a_later_release_has_stored)
{
    json_object *stored = replaced("{}");
    json_object *kept = NULL;
    struct queue_settings_fault fault;

    json_object_object_add(stored, "novelty", json_object_new_string("altcha"));
    stored = changed(stored, "{\"maxWaiting\": 7}");
    assert_true(json_object_object_get_ex(stored, "novelty", &kept));
    assert_string_equal(json_object_get_string(kept), "altcha");
    assert_string_equal(shown(stored), shown(replaced("{\"maxWaiting\": 7}")));
    /* Nobody sets here what nobody here knows. */
    assert_null(queue_settings_change(arena, stored, parse("{\"novelty\": \"none\"}"), &fault));
}

TEST(what_get_shows_put_takes_and_nothing_changes)
{
    static const char *const GIVEN[] = {
        "{}",
        "{\"ratePerSecond\": 0.1, \"burst\": 7.25, \"message\": \"caf\\u00e9 \\\"/\\\" \\n\"}",
        "{\"ratePerSecond\": 1e2, \"tickMs\": 5000}",
        "{\"ratePerSecond\": 0, \"reopen\": false, \"identity\": \"visitor\"}",
        "{\"opensAt\": \"2026-01-31T12:00:00+09:00\", \"closesAt\": \"2026-01-31T12:00:00.5Z\"}",
        "{\"pollTiers\": [{\"upToRank\":5,\"seconds\":1},{\"upToRank\":null,\"seconds\":9}]}",
        "{\"releaseOn\": \"payment\", \"activation\": \"hold\", \"message\": \"\"}",
        "{\"entryCaptcha\": \"altcha\"}",
    };

    for (size_t i = 0; i < COUNT(GIVEN); i++) {
        json_object *first = stored_and_read(replaced(GIVEN[i]));
        const char *before = shown(first);
        /* With what GET shows around them. */
        json_object *answer = parse(before);
        json_object_object_add(answer, "queue", json_object_new_string("q"));
        json_object_object_add(answer, "state", json_object_new_string("OPEN"));
        json_object_object_add(answer, "operatorState", json_object_new_string("OPEN"));
        json_object_object_add(answer, "epoch", json_object_new_int(1));
        json_object_object_add(answer, "incarnation", json_object_new_int(1));
        json_object_object_add(answer, "version", json_object_new_int(3));
        json_object_object_add(answer, "createdAt", json_object_new_string("2026-01-01T00:00:00Z"));
        json_object_object_add(answer, "updatedAt", json_object_new_string("2026-01-01T00:00:00Z"));
        json_object *second = replaced(json_object_to_json_string(answer));
        assert_string_equal(shown(stored_and_read(second)), before);
        assert_true(json_object_equal(first, second));
    }
}

TEST(patch_changes_what_it_names_only)
{
    json_object *stored = replaced("{\"maxActive\": 7, \"message\": \"hello\"}");
    json_object *settings = changed(stored, "{\"maxInFlight\": 3}");

    assert_shows(settings, "maxActive", "7");
    assert_shows(settings, "maxInFlight", "3");
    assert_shows(settings, "message", "\"hello\"");
    assert_shows(changed(settings, "{\"message\": null}"), "message", "null");
}

TEST(an_automatic_burst_follows_rate_and_tick)
{
    json_object *settings = replaced("{}");

    settings = changed(settings, "{\"ratePerSecond\": 100}");
    assert_shows(settings, "burst", "100");
    settings = changed(settings, "{\"tickMs\": 3000}");
    assert_shows(settings, "burst", "300");
    settings = changed(settings, "{\"ratePerSecond\": 0.25, \"tickMs\": 100}");
    assert_shows(settings, "burst", "1");
    settings = changed(settings, "{\"burst\": 1}");
    settings = changed(settings, "{\"ratePerSecond\": 20}");
    assert_shows(settings, "burst", "20");
}

TEST(a_given_burst_stays)
{
    json_object *settings = replaced("{\"ratePerSecond\": 10, \"burst\": 200}");

    settings = changed(settings, "{\"ratePerSecond\": 100}");
    assert_shows(settings, "burst", "200");
    settings = changed(settings, "{\"ratePerSecond\": 200}");
    settings = changed(settings, "{\"ratePerSecond\": 50}");
    assert_shows(settings, "burst", "200");
    settings = changed(settings, "{\"burst\": null}");
    assert_shows(settings, "burst", "50");
}

TEST(a_number_is_rounded_to_its_six_places)
{
    json_object *settings = replaced("{\"ratePerSecond\": 2.05, \"tickMs\": 60000}");

    assert_shows(settings, "burst", "123"); /* 122.99999999999999 */
    settings = replaced("{\"ratePerSecond\": 5.833333, \"tickMs\": 1200}");
    assert_shows(settings, "burst", "7"); /* 6.9999996 */
    settings = replaced("{\"ratePerSecond\": 110.00000000000001, \"burst\": 220.00000000000003, "
                        "\"priorityShare\": 0.30000000000000004}");
    assert_shows(settings, "ratePerSecond", "110");
    assert_shows(settings, "burst", "220");
    assert_shows(settings, "priorityShare", "0.3");
    settings = replaced("{\"ratePerSecond\": 9999.999999, \"burst\": 9999999.1}");
    assert_shows(settings, "ratePerSecond", "9999.999999");
    assert_shows(settings, "burst", "9999999.1");
    settings = replaced("{\"autopilot\": {\"floor\": 1.1000000000000001, "
                        "\"ceiling\": 2.9999999999999996, \"maxErrorPercent\": 0.001}}");
    assert_non_null(strstr(shown(settings), "\"floor\":1.1,\"ceiling\":3,"));
    assert_non_null(strstr(shown(settings), "\"maxErrorPercent\":0.001,"));
}

/** A body that is refused, where, and a piece of the sentence. */
struct refusal {
    const char *given;
    const char *pointer;
    const char *sentence;
};

static const struct refusal REFUSALS[] = {
    {"{\"colour\": 1}", "/colour", "There is no setting"},
    {"{\"a/b~c\": 1}", "/a~1b~0c", "There is no setting"},
    {"{\"ratePerSecond\": -1}", "/ratePerSecond", "from 0 to 100000"},
    {"{\"ratePerSecond\": 100001}", "/ratePerSecond", "from 0 to 100000"},
    {"{\"ratePerSecond\": \"50\"}", "/ratePerSecond", "a number"},
    {"{\"ratePerSecond\": true}", "/ratePerSecond", "a number"},
    {"{\"ratePerSecond\": null}", "/ratePerSecond", "a number"},
    {"{\"ratePerSecond\": NaN}", "/ratePerSecond", "a number"},
    {"{\"ratePerSecond\": Infinity}", "/ratePerSecond", "a number"},
    {"{\"ratePerSecond\": 1e400}", "/ratePerSecond", "a number"},
    {"{\"ratePerSecond\": 0.1234567}", "/ratePerSecond", "6 decimal places"},
    {"{\"ratePerSecond\": 1e-9}", "/ratePerSecond", "6 decimal places"},
    {"{\"ratePerSecond\": 5e-324}", "/ratePerSecond", "6 decimal places"},
    {"{\"priorityShare\": 1e-9}", "/priorityShare", "6 decimal places"},
    {"{\"burst\": 0.99999999999}", "/burst", "from 1"},
    {"{\"maxActive\": 0}", "/maxActive", "from 1 to 10000000"},
    {"{\"maxActive\": 1.5}", "/maxActive", "a whole number"},
    {"{\"maxActive\": 99999999999999999999}", "/maxActive", "from 1 to 10000000"},
    {"{\"maxActive\": []}", "/maxActive", "a whole number"},
    {"{\"burst\": 49}", "/burst", "from 50"},
    {"{\"burst\": 0.5, \"ratePerSecond\": 0}", "/burst", "from 1"},
    {"{\"ratePerSecond\": 10, \"tickMs\": 2000, \"burst\": 19.5}", "/burst", "from 20"},
    {"{\"pollTiers\": [{\"upToRank\": null, \"seconds\": 90}]}", "/pickupSeconds",
     "above the longest"},
    {"{\"claimLeaseSeconds\": 0}", "/claimLeaseSeconds", "from 1 to 3600"},
    {"{\"opensAt\": \"tomorrow\"}", "/opensAt", "RFC 3339"},
    {"{\"opensAt\": \"2026-01-31T12:00:00\"}", "/opensAt", "RFC 3339"},
    {"{\"opensAt\": 1767225600}", "/opensAt", "RFC 3339"},
    {"{\"opensAt\": \"2026-01-02T00:00:00Z\", \"closesAt\": \"2026-01-02T00:00:00Z\"}", "/closesAt",
     "later than opensAt"},
    {"{\"mode\": \"lottery\"}", "/opensAt", "a lottery must have its opensAt"},
    {"{\"mode\": \"FIFO\"}", "/mode", "fifo|lottery"},
    {"{\"mode\": \"\"}", "/mode", "fifo|lottery"},
    {"{\"identity\": \"member|visitor\"}", "/identity", "one of"},
    {"{\"admitWhenIdle\": 0}", "/admitWhenIdle", "true or false"},
    {"{\"entryCaptcha\": true}", "/entryCaptcha", "none|altcha"},
    {"{\"autopilot\": {\"p95\": 200}}", "/autopilot/p95", "no such field"},
    {"{\"autopilot\": true}", "/autopilot", "null or an object"},
    {"{\"autopilot\": {\"enabled\": 1}}", "/autopilot/enabled", "true or false"},
    {"{\"autopilot\": {\"orderP95Ms\": 0}}", "/autopilot/orderP95Ms", "from 1 to 60000"},
    {"{\"autopilot\": {\"floor\": null}}", "/autopilot/floor", "from 0.1 to 100000"},
    {"{\"autopilot\": {\"maxErrorPercent\": 0.12345}}", "/autopilot/maxErrorPercent", "3 decimal"},
    {"{\"autopilot\": {\"maxErrorPercent\": 1e-9}}", "/autopilot/maxErrorPercent", "3 decimal"},
    {"{\"autopilot\": {\"floor\": 6, \"ceiling\": 5}}", "/autopilot/floor", "above ceiling"},
    {"{\"autopilot\": {\"ceiling\": 500}, \"burst\": 60}", "/burst", "from 500"},
    {"{\"bypass\": []}", "/bypass", "null or an object"},
    {"{\"message\": 5}", "/message", "500 bytes"},
    {"{\"message\": \"a\\u0000b\"}", "/message", "control characters"},
    {"{\"pollTiers\": {}}", "/pollTiers", "1 to 10 tiers"},
    {"{\"pollTiers\": []}", "/pollTiers", "1 to 10 tiers"},
    {"{\"pollTiers\": [1]}", "/pollTiers/0", "exactly upToRank and seconds"},
    {"{\"pollTiers\": [{\"upToRank\": null, \"seconds\": 0}]}", "/pollTiers/0/seconds",
     "1 to 3600"},
    {"{\"pollTiers\": [{\"upToRank\": 5, \"seconds\": 1}]}", "/pollTiers/0/upToRank",
     "null in the last"},
    {"{\"pollTiers\": [{\"upToRank\": null, \"seconds\": 1}, {\"upToRank\": null, \"seconds\": "
     "1}]}",
     "/pollTiers/0/upToRank", "null in the last"},
    {"{\"pollTiers\": [{\"upToRank\": 9, \"seconds\": 1}, {\"upToRank\": 9, \"seconds\": 1}, "
     "{\"upToRank\": null, \"seconds\": 1}]}",
     "/pollTiers/1/upToRank", "larger from tier to tier"},
};

TEST(what_is_wrong_is_refused_with_its_pointer)
{
    for (size_t i = 0; i < COUNT(REFUSALS); i++) {
        struct queue_settings_fault fault = {"", ""};
        json_object *given = parse(REFUSALS[i].given);
        assert_null(queue_settings_replace(arena, given, &fault));
        assert_string_equal(fault.pointer, REFUSALS[i].pointer);
        assert_contains(fault.sentence, REFUSALS[i].sentence);
    }
}

TEST(patch_refuses_what_is_no_setting)
{
    struct queue_settings_fault fault = {"", ""};

    assert_null(
        queue_settings_change(arena, replaced("{}"), parse("{\"state\": \"PAUSED\"}"), &fault));
    assert_string_equal(fault.pointer, "/state");
}

TEST(patch_checks_the_whole)
{
    struct queue_settings_fault fault = {"", ""};
    json_object *stored = replaced("{\"burst\": 60, \"closesAt\": \"2026-01-01T00:00:00Z\"}");

    assert_null(queue_settings_change(arena, stored, parse("{\"ratePerSecond\": 61}"), &fault));
    assert_string_equal(fault.pointer, "/burst");
    assert_null(queue_settings_change(arena, stored,
                                      parse("{\"opensAt\": \"2026-01-01T00:00:00Z\"}"), &fault));
    assert_string_equal(fault.pointer, "/closesAt");
}

TEST(a_message_has_500_bytes_at_most)
{
    struct queue_settings_fault fault = {"", ""};
    char text[600] = "{\"message\": \"";
    size_t start = strlen(text);

    for (size_t length = 500; length <= 502; length += 2) {
        for (size_t i = 0; i < length; i += 2) {
            memcpy(text + start + i, "\xc3\xa9", 2);
        }
        memcpy(text + start + length, "\"}", 3);
        json_object *settings = queue_settings_replace(arena, parse(text), &fault);
        assert_true((settings != NULL) == (length == 500));
    }
    assert_string_equal(fault.pointer, "/message");
}

static const char *flat(json_object *settings, const char *name)
{
    struct str fields[2 * QUEUE_SETTING_COUNT];

    queue_settings_flatten(arena, settings, fields);
    for (size_t i = 0; i < QUEUE_SETTING_COUNT; i++) {
        if (str_equal(fields[2 * i], str_of(name))) {
            return arena_copy(arena, fields[2 * i + 1]);
        }
    }
    fail_msg("no field %s", name);
    return "";
}

TEST(redis_gets_plain_text)
{
    json_object *settings = stored_and_read(
        replaced("{\"ratePerSecond\": 0.000001, \"maxWaiting\": 1000000000, \"reopen\": false, "
                 "\"opensAt\": \"1970-01-01T01:00:00.250+01:00\", \"message\": \"h\\u00e9 \\\"\", "
                 "\"pollTiers\": [{\"upToRank\": null, \"seconds\": 3}]}"));

    assert_string_equal(flat(settings, "ratePerSecond"), "0.000001");
    assert_string_equal(flat(settings, "burst"), "1");
    assert_string_equal(flat(settings, "maxWaiting"), "1000000000");
    assert_string_equal(flat(settings, "reopen"), "0");
    assert_string_equal(flat(settings, "opensAt"), "250");
    assert_string_equal(flat(settings, "closesAt"), "");
    assert_string_equal(flat(settings, "message"), "h\xc3\xa9 \"");
    assert_string_equal(flat(settings, "autopilot"), "");
    assert_string_equal(flat(settings, "mode"), "fifo");
    assert_string_equal(flat(settings, "pollTiers"), "[{\"upToRank\":null,\"seconds\":3}]");
}

TEST(settings_stored_by_an_older_release_are_completed)
{
    json_object *old = parse("{\"ratePerSecond\": 5}");

    assert_shows(old, "ratePerSecond", "5");
    assert_shows(old, "burst", "5");
    assert_shows(old, "maxActive", "1000");
    assert_string_equal(flat(old, "batchCap"), "500");
    assert_shows(changed(old, "{\"maxActive\": 9}"), "ratePerSecond", "5");
}

TEST(the_state_follows_clock_operator_and_stock)
{
    json_object *settings = replaced("{\"opensAt\": \"1970-01-01T00:00:01Z\", "
                                     "\"closesAt\": \"1970-01-01T00:00:02Z\"}");

    assert_string_equal(queue_settings_state(settings, "OPEN", false, 999), "PRE_OPEN");
    assert_string_equal(queue_settings_state(settings, "OPEN", false, 1000), "OPEN");
    assert_string_equal(queue_settings_state(settings, "PAUSED", false, 1000), "PAUSED");
    assert_string_equal(queue_settings_state(settings, "PAUSED", true, 999), "SOLD_OUT");
    assert_string_equal(queue_settings_state(settings, "SOLD_OUT", false, 999), "SOLD_OUT");
    assert_string_equal(queue_settings_state(settings, "SOLD_OUT", true, 2000), "CLOSED");
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, make_arena, free_arena)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(an_empty_put_gives_the_defaults_of_the_contract),
        CASE(an_entry_captcha_that_was_false_is_none),
        CASE(a_change_keeps_what_a_later_release_has_stored),
        CASE(what_get_shows_put_takes_and_nothing_changes),
        CASE(patch_changes_what_it_names_only),
        CASE(an_automatic_burst_follows_rate_and_tick),
        CASE(a_given_burst_stays),
        CASE(a_number_is_rounded_to_its_six_places),
        CASE(what_is_wrong_is_refused_with_its_pointer),
        CASE(patch_refuses_what_is_no_setting),
        CASE(patch_checks_the_whole),
        CASE(a_message_has_500_bytes_at_most),
        CASE(redis_gets_plain_text),
        CASE(settings_stored_by_an_older_release_are_completed),
        CASE(the_state_follows_clock_operator_and_stock),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
