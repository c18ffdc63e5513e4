#include "tests/unit/unit.h"

#include <hiredis/hiredis.h>

#include "lib/admission/line/line_state_json.h"

static struct line_state some_state(void)
{
    return (struct line_state){
        .queue_state = STR("OPEN"),
        .waiting = 3,
        .head_seq = 2050,
        .last_seq = 9000,
        .admitted_milli = 12005,
        .epoch = 2,
        .incarnation = 1,
        .now_ms = 1767225600123,
        .opens_at_ms = 0,
        .closes_at_ms = -1,
        .activation = STR("on"),
        .mode = STR("fifo"),
    };
}

static void expect(const struct line_state *line, const char *text)
{
    struct arena *arena = arena_new();
    struct buffer out;

    buffer_init(&out, 4096);
    line_state_json(&out, arena, STR("shop"), line);
    assert_true(buffer_ok(&out));
    buffer_add_char(&out, '\0');
    assert_string_equal(out.bytes, text);
    buffer_free(&out);
    arena_free(arena);
}

TEST(everything_is_there_and_escaped)
{
    struct line_state line = some_state();

    line.message = STR("Doors at \"8\"\n");
    expect(&line,
           "{\"queue\":\"shop\",\"state\":\"OPEN\",\"waiting\":3,\"headSeq\":2050,\"lastSeq\":9000,"
           "\"departures\":[],\"admittedPerSecond\":12.005,\"epoch\":2,\"incarnation\":1,"
           "\"serverTime\":\"2026-01-01T00:00:00.123Z\",\"message\":\"Doors at \\\"8\\\"\\n\","
           "\"opensAt\":\"1970-01-01T00:00:00.000Z\",\"closesAt\":null,\"activation\":\"on\","
           "\"mode\":\"fifo\"}");
}

TEST(it_is_json_whatever_redis_says)
{
    struct line_state line = some_state();
    redisReply far = {.type = REDIS_REPLY_INTEGER, .integer = INT64_MAX};
    redisReply *pair[] = {&far, &far};
    const redisReply departures = {.type = REDIS_REPLY_ARRAY, .elements = 2, .element = pair};

    line.queue_state = STR("O\"PEN");
    line.mode = STR("f\xff");
    line.activation = STR("o\n");
    line.admitted_milli = -12005;
    line.now_ms = -1;
    line.opens_at_ms = -1;
    line.departures = &departures;
    expect(&line, "{\"queue\":\"shop\",\"state\":\"O\\\"PEN\",\"waiting\":3,\"headSeq\":2050,"
                  "\"lastSeq\":9000,\"departures\":[],\"admittedPerSecond\":0.000,\"epoch\":2,"
                  "\"incarnation\":1,\"serverTime\":null,\"message\":null,\"opensAt\":null,"
                  "\"closesAt\":null,\"activation\":\"o\\n\",\"mode\":\"f\xef\xbf\xbd\"}");
}

TEST(what_is_not_known_is_null)
{
    struct line_state line = some_state();

    line.now_ms = -1;
    line.opens_at_ms = INT64_MAX;
    expect(&line,
           "{\"queue\":\"shop\",\"state\":\"OPEN\",\"waiting\":3,\"headSeq\":2050,\"lastSeq\":9000,"
           "\"departures\":[],\"admittedPerSecond\":12.005,\"epoch\":2,\"incarnation\":1,"
           "\"serverTime\":null,\"message\":null,\"opensAt\":null,\"closesAt\":null,"
           "\"activation\":\"on\",\"mode\":\"fifo\"}");
}

/* Redis gives the ranges in no order; those wholly behind the head are of no use to anyone. */
TEST(departures_come_in_order_from_the_head_on)
{
    char words[][6] = {"8", "7", "1", "1000", "2", "5", "17", "1"};
    redisReply elements[8];
    redisReply *pointers[8];
    struct line_state line = some_state();

    for (size_t i = 0; i < 8; i++) {
        elements[i] =
            (redisReply){.type = REDIS_REPLY_STRING, .str = words[i], .len = str_of(words[i]).n};
        pointers[i] = &elements[i];
    }
    redisReply departures = {.type = REDIS_REPLY_ARRAY, .elements = 8, .element = pointers};
    line.departures = &departures;
    expect(&line,
           "{\"queue\":\"shop\",\"state\":\"OPEN\",\"waiting\":3,\"headSeq\":2050,\"lastSeq\":9000,"
           "\"departures\":[{\"from\":2048,\"to\":3071,\"count\":5},"
           "{\"from\":8192,\"to\":9215,\"count\":7},{\"from\":17408,\"to\":18431,\"count\":1}],"
           "\"admittedPerSecond\":12.005,\"epoch\":2,\"incarnation\":1,"
           "\"serverTime\":\"2026-01-01T00:00:00.123Z\",\"message\":null,"
           "\"opensAt\":\"1970-01-01T00:00:00.000Z\",\"closesAt\":null,\"activation\":\"on\","
           "\"mode\":\"fifo\"}");
    line.uncounted_to = 8191;
    line.uncounted = 6000;
    expect(&line,
           "{\"queue\":\"shop\",\"state\":\"OPEN\",\"waiting\":3,\"headSeq\":2050,\"lastSeq\":9000,"
           "\"departures\":[{\"from\":2048,\"to\":3071,\"count\":5},"
           "{\"from\":2050,\"to\":8191,\"count\":6000},"
           "{\"from\":8192,\"to\":9215,\"count\":7},{\"from\":17408,\"to\":18431,\"count\":1}],"
           "\"admittedPerSecond\":12.005,\"epoch\":2,\"incarnation\":1,"
           "\"serverTime\":\"2026-01-01T00:00:00.123Z\",\"message\":null,"
           "\"opensAt\":\"1970-01-01T00:00:00.000Z\",\"closesAt\":null,\"activation\":\"on\","
           "\"mode\":\"fifo\"}");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(everything_is_there_and_escaped),
        cmocka_unit_test(it_is_json_whatever_redis_says),
        cmocka_unit_test(what_is_not_known_is_null),
        cmocka_unit_test(departures_come_in_order_from_the_head_on),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
