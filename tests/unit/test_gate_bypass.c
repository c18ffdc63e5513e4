/*
 * gate_bypass: what the setting takes and refuses, and who passes by which rule.
 */
#include "tests/unit/unit.h"

#include <stdlib.h>
#include <string.h>

#include "lib/admission/gate/gate_bypass.h"
#include "lib/base/buffer.h"
#include "lib/base/random.h"

static struct arena *arena;

static int begin(__attribute__((unused)) void **state)
{
    arena = arena_new();
    return 0;
}

static int end(__attribute__((unused)) void **state)
{
    arena_free(arena);
    return 0;
}

static json_object *parse(const char *text)
{
    json_object *value = json_tokener_parse(text);

    if (value == NULL) {
        fail_msg("%s is no JSON", text);
    }
    return value;
}

static bool checks(const char *text, struct queue_settings_fault *fault)
{
    json_object *value = parse(text);
    bool good = gate_bypass_check(value, arena, fault);

    (void)json_object_put(value);
    return good;
}

static struct gate_bypass *rules(const char *text)
{
    struct queue_settings_fault fault = {"", ""};

    if (!checks(text, &fault)) {
        fail_msg("%s: %s: %s", text, fault.pointer, fault.sentence);
    }
    struct gate_bypass *bypass = gate_bypass_parse(str_of(text));
    assert_non_null(bypass);
    return bypass;
}

static enum gate_bypass_reason reason(const char *text, const struct gate_bypass_facts *facts)
{
    struct gate_bypass *bypass = rules(text);
    enum gate_bypass_reason found = gate_bypass_match(bypass, facts);

    gate_bypass_free(bypass);
    return found;
}

static bool path_lets(const char *prefix, struct str path)
{
    const struct gate_bypass_facts facts = {.address = STR("192.0.2.1"), .path = path};

    return reason(arena_format(arena, "{\"paths\": [\"%s\"]}", prefix), &facts) == GATE_BYPASS_PATH;
}

TEST(no_rules_let_nobody_pass)
{
    static const char *const NONE[] = {
        "{}",
        "{\"networks\": [], \"paths\": [], \"secretSha256\": null, \"crawlers\": []}",
        "{\"networks\": null, \"paths\": null, \"crawlers\": null}",
    };
    const struct gate_bypass_facts facts = {
        .address = STR("10.0.0.1"),
        .path = STR("/"),
        .user_agent = STR("Googlebot"),
        .secret = STR("x"),
    };
    const struct gate_bypass_facts nothing = {.path = STR("")};

    for (size_t i = 0; i < COUNT(NONE); i++) {
        assert_int_equal(reason(NONE[i], &facts), GATE_BYPASS_NONE);
        assert_int_equal(reason(NONE[i], &nothing), GATE_BYPASS_NONE);
    }
    assert_null(gate_bypass_parse(STR("")));
    assert_null(gate_bypass_parse(STR("null")));
    assert_int_equal(gate_bypass_match(NULL, &facts), GATE_BYPASS_NONE);
    gate_bypass_free(NULL);
}

TEST(a_network_lets_its_addresses_pass)
{
    const char *text = "{\"networks\": [\"192.0.2.1\", \"10.0.0.0/8\", \"2001:db8::/32\"]}";
    static const struct {
        const char *address;
        enum gate_bypass_reason reason;
    } ROWS[] = {
        {"192.0.2.1", GATE_BYPASS_NETWORK},
        {"10.255.0.1", GATE_BYPASS_NETWORK},
        {"::ffff:10.255.0.1", GATE_BYPASS_NETWORK},
        {"2001:db8::1", GATE_BYPASS_NETWORK},
        {"192.0.2.2", GATE_BYPASS_NONE},
        {"2001:db9::1", GATE_BYPASS_NONE},
        {"unix:", GATE_BYPASS_NONE},
        {"", GATE_BYPASS_NONE},
    };

    for (size_t i = 0; i < COUNT(ROWS); i++) {
        const struct gate_bypass_facts facts = {.address = str_of(ROWS[i].address),
                                                .path = STR("/")};
        assert_int_equal(reason(text, &facts), ROWS[i].reason);
    }
}

TEST(a_path_matches_at_the_border_of_a_segment)
{
    assert_true(path_lets("/pay", STR("/pay")));
    assert_true(path_lets("/pay", STR("/pay/")));
    assert_true(path_lets("/pay", STR("/pay/callback/x")));
    assert_false(path_lets("/pay", STR("/payment")));
    assert_false(path_lets("/pay", STR("/pa")));
    assert_false(path_lets("/pay", STR("/Pay")));
    assert_false(path_lets("/pay", STR("/pay;x=1")));
    assert_false(path_lets("/pay", STR("/shop/pay")));
    assert_false(path_lets("/pay", STR("pay")));
    assert_false(path_lets("/pay", STR("")));
    assert_true(path_lets("/static/", STR("/static/")));
    assert_true(path_lets("/static/", STR("/static/a.css")));
    assert_false(path_lets("/static/", STR("/static")));
    assert_false(path_lets("/static/", STR("/statics/a")));
    assert_true(path_lets("/", STR("/anything")));
    assert_true(path_lets("/caf\xc3\xa9", STR("/caf\xc3\xa9/menu")));
}

TEST(a_path_that_servers_read_differently_matches_nothing)
{
    assert_false(path_lets("/static/", STR("/static/../buy")));
    assert_false(path_lets("/static/", STR("/static/..")));
    assert_false(path_lets("/static/", STR("/static/..;/buy")));
    assert_false(path_lets("/static/", STR("/static/..\\buy")));
    assert_false(path_lets("/static/", STR("/static/x\\..\\..\\buy")));
    assert_false(path_lets("/static/", STR("/static/\n")));
    assert_false(path_lets("/static/", STR("/static/\0")));
    assert_false(path_lets("/static/", STR("/static/\x7f")));
    assert_true(path_lets("/static/", STR("/static/a..b")));
    assert_true(path_lets("/static/", STR("/static/.well-known")));
}

TEST(a_secret_lets_pass_by_its_hash)
{
    struct gate_bypass_facts facts = {.address = STR("192.0.2.1"), .path = STR("/")};
    /* SHA-256 of "abc" (FIPS 180-4). */
    const char *lower = "{\"secretSha256\": "
                        "\"ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad\"}";
    const char *upper = "{\"secretSha256\": "
                        "\"BA7816BF8F01CFEA414140DE5DAE2223B00361A396177A9CB410FF61F20015AD\"}";
    /* SHA-256 of nothing. */
    const char *empty = "{\"secretSha256\": "
                        "\"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855\"}";

    facts.secret = STR("abc");
    assert_int_equal(reason(lower, &facts), GATE_BYPASS_SECRET);
    assert_int_equal(reason(upper, &facts), GATE_BYPASS_SECRET);
    assert_int_equal(reason("{}", &facts), GATE_BYPASS_NONE);
    facts.secret = STR("abd");
    assert_int_equal(reason(lower, &facts), GATE_BYPASS_NONE);
    facts.secret = STR("abc ");
    assert_int_equal(reason(lower, &facts), GATE_BYPASS_NONE);
    facts.secret = STR("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    assert_int_equal(reason(lower, &facts), GATE_BYPASS_NONE);
    facts.secret = STR("");
    assert_int_equal(reason(lower, &facts), GATE_BYPASS_NONE);
    assert_int_equal(reason(empty, &facts), GATE_BYPASS_NONE);
}

TEST(a_crawler_needs_its_name_and_its_network)
{
    const char *text = "{\"crawlers\": ["
                       "{\"userAgent\": \"Googlebot\", \"networks\": [\"66.249.64.0/19\"]},"
                       "{\"userAgent\": \"yeti\", \"networks\": [\"203.0.113.0/24\", "
                       "\"2001:db8::/32\"]}]}";
    static const struct {
        const char *address;
        const char *user_agent;
        enum gate_bypass_reason reason;
    } ROWS[] = {
        {"66.249.66.1", "Mozilla/5.0 (compatible; Googlebot/2.1)", GATE_BYPASS_CRAWLER},
        {"66.249.66.1", "googleBOT", GATE_BYPASS_CRAWLER},
        {"66.249.66.1", "Mozilla/5.0 Googlebo", GATE_BYPASS_NONE},
        {"66.249.66.1", "", GATE_BYPASS_NONE},
        {"66.249.66.1", "Yeti/1.1", GATE_BYPASS_NONE},
        {"66.249.96.1", "Googlebot", GATE_BYPASS_NONE},
        {"", "Googlebot", GATE_BYPASS_NONE},
        {"203.0.113.9", "Mozilla/5.0 (compatible; Yeti/1.1)", GATE_BYPASS_CRAWLER},
        {"2001:db8::9", "Yeti", GATE_BYPASS_CRAWLER},
        {"203.0.113.9", "Googlebot", GATE_BYPASS_NONE},
    };

    for (size_t i = 0; i < COUNT(ROWS); i++) {
        const struct gate_bypass_facts facts = {
            .address = str_of(ROWS[i].address),
            .path = STR("/"),
            .user_agent = str_of(ROWS[i].user_agent),
        };
        assert_int_equal(reason(text, &facts), ROWS[i].reason);
    }
}

TEST(what_is_wrong_is_refused_with_its_pointer)
{
    static const struct {
        const char *text;
        const char *pointer;
        const char *sentence;
    } REFUSED[] = {
        {"[]", "/bypass", "null or an object"},
        {"\"10.0.0.0/8\"", "/bypass", "null or an object"},
        {"true", "/bypass", "null or an object"},
        {"{\"network\": []}", "/bypass/network", "no member of that name"},
        {"{\"a/b~c\": []}", "/bypass/a~1b~0c", "no member of that name"},
        {"{\"networks\": \"10.0.0.0/8\"}", "/bypass/networks", "networks must be an array of 0"},
        {"{\"networks\": {}}", "/bypass/networks", "to 64 networks"},
        {"{\"networks\": [1]}", "/bypass/networks/0", "an IPv4 or IPv6 address"},
        {"{\"networks\": [null]}", "/bypass/networks/0", "an IPv4 or IPv6 address"},
        {"{\"networks\": [\"\"]}", "/bypass/networks/0", "an IPv4 or IPv6 address"},
        {"{\"networks\": [\"10.0.0.1\", \"10.0.0.0/33\"]}", "/bypass/networks/1", "10.0.0.0/8"},
        {"{\"networks\": [\"10.0.0.1/8\"]}", "/bypass/networks/0", "no bit set behind"},
        {"{\"networks\": [\"10.0.0.0/08\"]}", "/bypass/networks/0", "an IPv4"},
        {"{\"networks\": [\"10.0.0.0/\"]}", "/bypass/networks/0", "an IPv4"},
        {"{\"networks\": [\"10.0.0.0/-0\"]}", "/bypass/networks/0", "an IPv4"},
        {"{\"networks\": [\"10.0.0.0/8/8\"]}", "/bypass/networks/0", "an IPv4"},
        {"{\"networks\": [\"10.0.0.0/255.0.0.0\"]}", "/bypass/networks/0", "an IPv4"},
        {"{\"networks\": [\"/8\"]}", "/bypass/networks/0", "an IPv4"},
        {"{\"networks\": [\"10.0.0.1\\u00002\"]}", "/bypass/networks/0", "an IPv4"},
        {"{\"networks\": [\"2001:db8::/129\"]}", "/bypass/networks/0", "2001:db8::/32"},
        {"{\"networks\": [\"::ffff:10.0.0.0/95\"]}", "/bypass/networks/0", "no bit set behind"},
        {"{\"networks\": [\"example.com\"]}", "/bypass/networks/0", "an IPv4"},
        {"{\"paths\": \"/pay\"}", "/bypass/paths", "paths must be an array"},
        {"{\"paths\": [\"pay\"]}", "/bypass/paths/0", "must begin with '/'"},
        {"{\"paths\": [\"\"]}", "/bypass/paths/0", "must begin with '/'"},
        {"{\"paths\": [1]}", "/bypass/paths/0", "must begin with '/'"},
        {"{\"paths\": [\"/a\", \"/static/../buy\"]}", "/bypass/paths/1", "'..'"},
        {"{\"paths\": [\"/a//b\"]}", "/bypass/paths/0", "'//'"},
        {"{\"paths\": [\"/a?b\"]}", "/bypass/paths/0", "'?'"},
        {"{\"paths\": [\"/a#b\"]}", "/bypass/paths/0", "'#'"},
        {"{\"paths\": [\"/a%20b\"]}", "/bypass/paths/0", "'%'"},
        {"{\"paths\": [\"/a\\\\b\"]}", "/bypass/paths/0", "'\\'"},
        {"{\"paths\": [\"/a\\nb\"]}", "/bypass/paths/0", "control characters"},
        {"{\"paths\": [\"/a\\u0000b\"]}", "/bypass/paths/0", "control characters"},
        {"{\"secretSha256\": 1}", "/bypass/secretSha256", "64 hexadecimal digits"},
        {"{\"secretSha256\": \"\"}", "/bypass/secretSha256", "64 hexadecimal digits"},
        {"{\"secretSha256\": \"abc\"}", "/bypass/secretSha256", "64 hexadecimal digits"},
        {"{\"secretSha256\": "
         "\"ga7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad\"}",
         "/bypass/secretSha256", "64 hexadecimal digits"},
        {"{\"secretSha256\": "
         "\"ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015a\\u0000\"}",
         "/bypass/secretSha256", "64 hexadecimal digits"},
        {"{\"crawlers\": {}}", "/bypass/crawlers", "crawlers must be an array"},
        {"{\"crawlers\": [1]}", "/bypass/crawlers/0", "exactly userAgent and networks"},
        {"{\"crawlers\": [{\"userAgent\": \"Googlebot\"}]}", "/bypass/crawlers/0", "exactly"},
        {"{\"crawlers\": [{\"userAgent\": \"Googlebot\", \"networks\": [\"::1\"], \"x\": 1}]}",
         "/bypass/crawlers/0", "exactly"},
        {"{\"crawlers\": [{\"userAgent\": \"Go\", \"networks\": [\"::1\"]}]}",
         "/bypass/crawlers/0/userAgent", "3 to 64 printable"},
        {"{\"crawlers\": [{\"userAgent\": \"Go\\tgle\", \"networks\": [\"::1\"]}]}",
         "/bypass/crawlers/0/userAgent", "3 to 64 printable"},
        {"{\"crawlers\": [{\"userAgent\": null, \"networks\": [\"::1\"]}]}",
         "/bypass/crawlers/0/userAgent", "3 to 64 printable"},
        {"{\"crawlers\": [{\"userAgent\": \"Googlebot\", \"networks\": []}]}",
         "/bypass/crawlers/0/networks", "array of 1 to 64"},
        {"{\"crawlers\": [{\"userAgent\": \"Googlebot\", \"networks\": null}]}",
         "/bypass/crawlers/0/networks", "array of 1 to 64"},
        {"{\"crawlers\": [{\"userAgent\": \"Googlebot\", \"networks\": [\"::1\", \"x\"]}]}",
         "/bypass/crawlers/0/networks/1", "an IPv4 or IPv6 address"},
    };

    for (size_t i = 0; i < COUNT(REFUSED); i++) {
        struct queue_settings_fault fault = {"", ""};
        if (checks(REFUSED[i].text, &fault)) {
            fail_msg("%s was taken", REFUSED[i].text);
        }
        assert_string_equal(fault.pointer, REFUSED[i].pointer);
        assert_contains(fault.sentence, REFUSED[i].sentence);
        assert_null(gate_bypass_parse(str_of(REFUSED[i].text)));
    }
}

/* An array of `count` copies of the JSON `item`. */
static const char *many(const char *item, size_t count)
{
    struct buffer text;

    buffer_init(&text, 1024 * 1024);
    buffer_add_char(&text, '[');
    for (size_t i = 0; i < count; i++) {
        buffer_format(&text, "%s%s", i == 0 ? "" : ",", item);
    }
    buffer_add_char(&text, ']');
    const char *copy = arena_copy(arena, buffer_text(&text));
    buffer_free(&text);
    return copy;
}

TEST(lists_lengths_and_the_whole_are_bounded)
{
    struct queue_settings_fault fault = {"", ""};
    const char *path_256 = arena_format(arena, "\"/%0255d\"", 0);
    const char *path_257 = arena_format(arena, "\"/%0256d\"", 0);
    const char *crawler =
        arena_format(arena, "{\"userAgent\":\"%064d\",\"networks\":[\"::1\"]}", 0);
    const char *wide =
        arena_format(arena, "{\"userAgent\":\"bot\",\"networks\":%s}", many("\"192.0.2.7\"", 64));

    assert_true(checks(arena_format(arena, "{\"networks\":%s}", many("\"::1\"", 64)), &fault));
    assert_false(checks(arena_format(arena, "{\"networks\":%s}", many("\"::1\"", 65)), &fault));
    assert_string_equal(fault.pointer, "/bypass/networks");
    assert_true(checks(arena_format(arena, "{\"paths\":[%s]}", path_256), &fault));
    assert_false(checks(arena_format(arena, "{\"paths\":[%s]}", path_257), &fault));
    assert_string_equal(fault.pointer, "/bypass/paths/0");
    assert_false(checks(arena_format(arena, "{\"paths\":%s}", many("\"/\"", 65)), &fault));
    assert_string_equal(fault.pointer, "/bypass/paths");
    assert_true(checks(arena_format(arena, "{\"crawlers\":%s}", many(crawler, 64)), &fault));
    assert_false(checks(arena_format(arena, "{\"crawlers\":%s}", many(crawler, 65)), &fault));
    assert_string_equal(fault.pointer, "/bypass/crawlers");
    assert_false(checks(arena_format(arena, "{\"paths\":%s}", many(path_256, 64)), &fault));
    assert_string_equal(fault.pointer, "/bypass");
    assert_contains(fault.sentence, "at most 16384 bytes");
    assert_true(checks(arena_format(arena, "{\"crawlers\":%s}", many(wide, 20)), &fault));
    assert_false(checks(arena_format(arena, "{\"crawlers\":%s}", many(wide, 21)), &fault));
    assert_string_equal(fault.pointer, "/bypass");
}

TEST(the_longest_setting_is_parsed_as_redis_has_it)
{
    const char *start = "{\"paths\":[\"/a\"],\"networks\":[\"192.0.2.7\"]";
    char text[GATE_BYPASS_TEXT_MAX + 1];

    memset(text, ' ', sizeof(text));
    memcpy(text, start, strlen(start));
    text[GATE_BYPASS_TEXT_MAX - 1] = '}';
    struct gate_bypass *bypass = gate_bypass_parse(str_sized(text, GATE_BYPASS_TEXT_MAX));
    assert_non_null(bypass);
    gate_bypass_free(bypass);
    assert_null(gate_bypass_parse(str_sized(text, GATE_BYPASS_TEXT_MAX + 1)));
}

TEST(the_settings_of_a_queue_take_it)
{
    struct queue_settings_fault fault = {"", ""};
    struct str fields[2 * QUEUE_SETTING_COUNT];
    json_object *given = parse("{\"bypass\": {\"networks\": [\"10.0.0.0/8\"], \"paths\": "
                               "[\"/pay/\"]}, \"admitWhenIdle\": true}");
    json_object *bad = parse("{\"bypass\": {\"networks\": [\"10.0.0.0/8\", \"x\"]}}");

    json_object *settings = queue_settings_replace(arena, given, &fault);
    assert_non_null(settings);
    queue_settings_flatten(arena, settings, fields);
    struct str text = fields[2 * QUEUE_SETTING_bypass + 1];
    assert_text(text, "{\"networks\":[\"10.0.0.0/8\"],\"paths\":[\"/pay/\"]}");
    assert_text(fields[2 * QUEUE_SETTING_admitWhenIdle + 1], "1");
    struct gate_bypass *bypass = gate_bypass_parse(text);
    assert_non_null(bypass);
    gate_bypass_free(bypass);
    assert_null(queue_settings_change(arena, settings, bad, &fault));
    assert_string_equal(fault.pointer, "/bypass/networks/1");
    (void)json_object_put(given);
    (void)json_object_put(bad);
}

TEST(no_text_whatever_does_harm)
{
    static const char *const PIECES[] = {
        "{",
        "}",
        "[",
        "]",
        ":",
        ",",
        "\"networks\"",
        "\"paths\"",
        "\"crawlers\"",
        "\"userAgent\"",
        "\"secretSha256\"",
        "\"10.0.0.0/8\"",
        "\"/pay\"",
        "null",
        "1",
        "\"\\u0000\"",
        "\xff",
    };
    const struct gate_bypass_facts facts = {
        .address = STR("10.0.0.1"),
        .path = STR("/pay"),
        .user_agent = STR("Googlebot"),
    };
    struct buffer text;

    buffer_init(&text, 1024);
    for (int round = 0; round < 20000; round++) {
        buffer_clear(&text);
        buffer_add(&text, round % 2 == 0 ? STR("{\"networks\":[") : STR("{\"crawlers\":[{"));
        for (uint32_t i = random_below(12); i > 0; i--) {
            buffer_add(&text, str_of(PIECES[random_below(COUNT(PIECES))]));
        }
        struct gate_bypass *bypass = gate_bypass_parse(buffer_text(&text));
        (void)gate_bypass_match(bypass, &facts);
        gate_bypass_free(bypass);
    }
    buffer_free(&text);
}

TEST(no_request_whatever_does_harm)
{
    struct gate_bypass *bypass =
        rules("{\"networks\": [\"10.0.0.0/8\", \"::1\"], \"paths\": [\"/pay\", \"/static/\"], "
              "\"crawlers\": [{\"userAgent\": \"bot\", \"networks\": [\"0.0.0.0/0\"]}], "
              "\"secretSha256\": "
              "\"ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad\"}");
    static const char ALPHABET[] = "/pay.:bot0123456789f";

    for (int round = 0; round < 20000; round++) {
        struct gate_bypass_facts facts = {.path = STR("")};
        struct str *const fields[] = {&facts.address, &facts.path, &facts.user_agent,
                                      &facts.secret};
        char *copies[COUNT(fields)];
        for (size_t i = 0; i < COUNT(fields); i++) {
            size_t length = random_below(48);
            copies[i] = malloc(length + 1);
            assert_non_null(copies[i]);
            random_bytes(copies[i], length);
            for (size_t k = 0; round % 2 == 0 && k < length; k++) {
                copies[i][k] = ALPHABET[(unsigned char)copies[i][k] % (sizeof(ALPHABET) - 1)];
            }
            copies[i] = realloc(copies[i], length == 0 ? 1 : length);
            *fields[i] = str_sized(copies[i], length);
        }
        enum gate_bypass_reason found = gate_bypass_match(bypass, &facts);
        assert_true(found >= GATE_BYPASS_NONE && found <= GATE_BYPASS_CRAWLER);
        for (size_t i = 0; i < COUNT(fields); i++) {
            free(copies[i]);
        }
    }
    gate_bypass_free(bypass);
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(no_rules_let_nobody_pass),
        CASE(a_network_lets_its_addresses_pass),
        CASE(a_path_matches_at_the_border_of_a_segment),
        CASE(a_path_that_servers_read_differently_matches_nothing),
        CASE(a_secret_lets_pass_by_its_hash),
        CASE(a_crawler_needs_its_name_and_its_network),
        CASE(what_is_wrong_is_refused_with_its_pointer),
        CASE(lists_lengths_and_the_whole_are_bounded),
        CASE(the_longest_setting_is_parsed_as_redis_has_it),
        CASE(the_settings_of_a_queue_take_it),
        CASE(no_text_whatever_does_harm),
        CASE(no_request_whatever_does_harm),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
