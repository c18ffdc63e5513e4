/*
 * cf_waiting_room: the fields that other people's apps read, under each state of a queue.
 */
#include "tests/unit/unit.h"

#include <string.h>

#include <json-c/json.h>

#include "fcgi-app/gate/cf_waiting_room.h"

#define NOW_MS 1596498360000 /* 2020-08-03T23:46:00Z */

static struct buffer out;

static const struct cf_waiting_room WAITING = {
    .in_line = true,
    .wait_seconds = 600,
    .retry_seconds = 20,
    .now_ms = NOW_MS,
    .opens_at_ms = -1,
    .closes_at_ms = -1,
    .mode = CF_FIFO,
    .queue_state = {.p = "OPEN", .n = 4},
};

static int begin(__attribute__((unused)) void **state)
{
    buffer_init(&out, 4096);
    return 0;
}

static int end(__attribute__((unused)) void **state)
{
    buffer_free(&out);
    return 0;
}

static void assert_field(const struct cf_waiting_room *room, const char *name, const char *json)
{
    json_object *value = NULL;

    buffer_clear(&out);
    cf_waiting_room_add(&out, room);
    buffer_add_char(&out, '\0');
    assert_true(buffer_ok(&out));
    json_object *object = json_tokener_parse(out.bytes);
    assert_non_null(object);
    assert_int_equal(json_object_object_length(object), 25);
    assert_true(json_object_object_get_ex(object, name, &value));
    const char *found = json_object_to_json_string_ext(value, JSON_C_TO_STRING_PLAIN);
    if (strcmp(found, json) != 0) {
        fail_msg("%s is %s instead of %s", name, found, json);
    }
    (void)json_object_put(object);
}

TEST(somebody_in_line_gets_every_field)
{
    cf_waiting_room_add(&out, &WAITING);
    assert_text(buffer_text(&out),
                "{\"inWaitingRoom\":true,\"waitTimeKnown\":true,\"waitTime\":10,"
                "\"waitTime25Percentile\":0,\"waitTime50Percentile\":0,\"waitTime75Percentile\":0,"
                "\"waitTimeFormatted\":\"10 minutes\",\"queueIsFull\":false,\"queueAll\":false,"
                "\"lastUpdated\":\"2020-08-03T23:46:00.000Z\",\"refreshIntervalSeconds\":20,"
                "\"queueingMethod\":\"fifo\",\"isFIFOQueue\":true,\"isRandomQueue\":false,"
                "\"isPassthroughQueue\":false,\"isRejectQueue\":false,\"isEventActive\":false,"
                "\"isEventPrequeueing\":false,\"timeUntilEventStart\":0,"
                "\"timeUntilEventStartFormatted\":\"unavailable\",\"timeUntilEventEnd\":0,"
                "\"timeUntilEventEndFormatted\":\"unavailable\",\"shuffleAtEventStart\":false,"
                "\"turnstile\":\"\",\"infiniteQueue\":false}");
}

TEST(waiting_time_is_given_in_whole_minutes_and_english)
{
    static const struct {
        int64_t seconds;
        const char *minutes;
        const char *text;
    } ROWS[] = {
        {0, "0", "\"0 minutes\""},
        {1, "1", "\"1 minute\""},
        {60, "1", "\"1 minute\""},
        {61, "2", "\"2 minutes\""},
        {3540, "59", "\"59 minutes\""},
        {3541, "60", "\"1 hour\""},
        {3601, "61", "\"1 hour 1 minute\""},
        {4200, "70", "\"1 hour 10 minutes\""},
        {7200, "120", "\"2 hours\""},
        {90000, "1500", "\"25 hours\""},
        {INT64_MAX, "153722867280912931", "\"2562047788015215 hours 31 minutes\""},
        {-1, "0", "\"unavailable\""},
    };

    for (size_t i = 0; i < COUNT(ROWS); i++) {
        struct cf_waiting_room room = WAITING;
        room.wait_seconds = ROWS[i].seconds;
        assert_field(&room, "waitTimeKnown", ROWS[i].seconds < 0 ? "false" : "true");
        assert_field(&room, "waitTime", ROWS[i].minutes);
        assert_field(&room, "waitTimeFormatted", ROWS[i].text);
    }
}

TEST(a_lottery_is_random_and_shuffles_at_the_opening)
{
    struct cf_waiting_room room = WAITING;

    room.mode = CF_RANDOM;
    assert_field(&room, "queueingMethod", "\"random\"");
    assert_field(&room, "isFIFOQueue", "false");
    assert_field(&room, "isRandomQueue", "true");
    assert_field(&room, "waitTime25Percentile", "10");
    assert_field(&room, "waitTime50Percentile", "10");
    assert_field(&room, "waitTime75Percentile", "10");
    assert_field(&room, "shuffleAtEventStart", "false");
    room.opens_at_ms = NOW_MS + 1;
    assert_field(&room, "shuffleAtEventStart", "true");
    room.mode = CF_FIFO;
    assert_field(&room, "shuffleAtEventStart", "false");
}

TEST(full_and_held_queues_say_so)
{
    struct cf_waiting_room room = WAITING;

    room.in_line = false;
    room.queue_full = true;
    assert_field(&room, "inWaitingRoom", "true");
    assert_field(&room, "queueIsFull", "true");
    assert_field(&room, "isRejectQueue", "false");
    room.queue_all = true;
    assert_field(&room, "queueAll", "true");
}

TEST(a_queue_that_takes_nobody_rejects)
{
    static const struct {
        const char *state;
        bool in_line;
        bool rejects;
    } ROWS[] = {
        {"PRE_OPEN", false, false}, {"OPEN", false, false},    {"PAUSED", false, false},
        {"DRAINING", true, false},  {"DRAINING", false, true}, {"SOLD_OUT", true, false},
        {"SOLD_OUT", false, true},  {"CLOSED", false, true},   {"CLOSED", true, true},
        {"", false, false},
    };

    for (size_t i = 0; i < COUNT(ROWS); i++) {
        struct cf_waiting_room room = WAITING;
        room.mode = i % 2 == 0 ? CF_FIFO : CF_RANDOM;
        room.in_line = ROWS[i].in_line;
        room.queue_state = str_of(ROWS[i].state);
        assert_field(&room, "isRejectQueue", ROWS[i].rejects ? "true" : "false");
        assert_field(&room, "refreshIntervalSeconds", ROWS[i].rejects ? "0" : "20");
        if (ROWS[i].rejects) {
            assert_field(&room, "queueingMethod", "\"reject\"");
            assert_field(&room, "isFIFOQueue", "false");
            assert_field(&room, "isRandomQueue", "false");
        }
    }
}

TEST(opening_and_closing_times_make_an_event)
{
    struct cf_waiting_room room = WAITING;

    room.opens_at_ms = NOW_MS + 60001;
    room.closes_at_ms = NOW_MS + 3600000;
    room.queue_state = STR("PRE_OPEN");
    assert_field(&room, "isEventActive", "true");
    assert_field(&room, "isEventPrequeueing", "true");
    assert_field(&room, "timeUntilEventStart", "2");
    assert_field(&room, "timeUntilEventStartFormatted", "\"2 minutes\"");
    assert_field(&room, "timeUntilEventEnd", "60");
    assert_field(&room, "timeUntilEventEndFormatted", "\"1 hour\"");

    room.opens_at_ms = NOW_MS;
    room.closes_at_ms = -1;
    room.queue_state = STR("OPEN");
    assert_field(&room, "isEventActive", "true");
    assert_field(&room, "isEventPrequeueing", "false");
    assert_field(&room, "timeUntilEventStart", "0");
    assert_field(&room, "timeUntilEventStartFormatted", "\"unavailable\"");
    assert_field(&room, "timeUntilEventEndFormatted", "\"unavailable\"");

    room.closes_at_ms = NOW_MS;
    room.queue_state = STR("CLOSED");
    assert_field(&room, "isEventActive", "false");
    assert_field(&room, "isEventPrequeueing", "false");
    assert_field(&room, "timeUntilEventEnd", "0");
    assert_field(&room, "timeUntilEventEndFormatted", "\"unavailable\"");
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(somebody_in_line_gets_every_field),
        CASE(waiting_time_is_given_in_whole_minutes_and_english),
        CASE(a_lottery_is_random_and_shuffles_at_the_opening),
        CASE(full_and_held_queues_say_so),
        CASE(a_queue_that_takes_nobody_rejects),
        CASE(opening_and_closing_times_make_an_event),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
