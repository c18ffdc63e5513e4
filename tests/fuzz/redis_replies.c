/*
 * Replies of our scripts, whatever Redis sends: RESP as it comes over the wire, read by hiredis and
 * then by everybody who reads replies.
 */
#include "lib/admission/gate/gate.h"
#include "lib/admission/line/line.h"
#include "lib/admission/line/line_query.h"
#include "lib/admission/line/line_state_json.h"
#include "lib/admission/lottery/lottery_state.h"
#include "lib/admission/members/member.h"
#include "lib/admission/queues/queue_publication.h"
#include "lib/admission/queues/queue_result.h"
#include "lib/admission/queues/queue_stats.h"
#include "lib/admission/seats/seats_record.h"
#include "lib/identity/jwt.h"
#include "lib/store/redis_reply.h"
#include "tests/fuzz/fuzz.h"

enum { COUNT_DIGITS = 4, JSON_MAX = 1024 * 1024 };

/* hiredis makes room for as many elements as an array announces: our Redis may be wrong, but not
 * after our memory. */
static bool announces_too_much(const uint8_t *data, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        size_t digits = 0;
        while (data[i] == '*' && i + 1 + digits < size && data[i + 1 + digits] != '\r') {
            digits++;
        }
        if (digits > COUNT_DIGITS) {
            return true;
        }
    }
    return false;
}

/* The queue's public state is JSON whatever Redis says. */
static void shown(struct arena *arena, const redisReply *reply)
{
    struct line_state state;
    struct buffer json;

    if (line_read_state(reply, &state) != OUTCOME_OK) {
        return;
    }
    buffer_init(&json, JSON_MAX);
    line_state_json(&json, arena, STR("spring-sale"), &state);
    if (buffer_ok(&json)) {
        json_object *object = jwt_json_object(buffer_text(&json), JWT_DEPTH_MAX);
        REQUIRE(object != NULL);
        (void)json_object_put(object);
    }
    buffer_free(&json);
}

/* Two who asked together, one by login and one by ticket: each is decided as WAITING somewhere,
 * or not at all. */
static void looked(const redisReply *reply, enum line_query_kind kind)
{
    const struct line_caller callers[] = {
        {.queue = STR("spring-sale"), .member = STR("m1")},
        {.queue = STR("spring-sale"),
         .member = STR("m2"),
         .has_ticket = true,
         .seq = 2,
         .epoch = 1,
         .incarnation = 1},
    };
    enum { COUNT = sizeof(callers) / sizeof(callers[0]) };
    struct line_query looks[COUNT];
    struct line_query *all[COUNT];
    size_t decided = 0;

    for (size_t i = 0; i < COUNT; i++) {
        looks[i] = (struct line_query){.caller = &callers[i], .kind = kind};
        all[i] = &looks[i];
    }
    bool ordinary = line_queries_read(reply, all, COUNT);
    for (size_t i = 0; i < COUNT; i++) {
        const struct line_query *look = &looks[i];
        REQUIRE(look->state == (reply == NULL ? LINE_QUERY_LOST : LINE_QUERY_UNDECIDED) ||
                look->state == LINE_QUERY_DECIDED);
        decided += look->state == LINE_QUERY_DECIDED ? 1 : 0;
        REQUIRE(look->state != LINE_QUERY_DECIDED ||
                (look->position.status == LINE_WAITING && look->position.rank >= 0 &&
                 look->position.entry_token.n == 0));
    }
    REQUIRE(decided == 0 || (ordinary && reply != NULL));
}

static void read_by_all(struct arena *arena, const redisReply *reply)
{
    struct line_position position;
    struct gate_view view;
    struct gate_admission admission;
    struct member_place place;
    struct queue_result result;
    struct lottery_state lottery;
    struct queue_stats stats;

    REQUIRE(outcome_of(reply) < OUTCOME_COUNT && outcome_word(outcome_of(reply)) != NULL);
    REQUIRE(!(redis_reply_is_noscript(reply) && outcome_of(reply) == OUTCOME_OK));
    (void)line_read_position(reply, &position);
    (void)line_settings_missing(reply);
    looked(reply, LINE_QUERY_POSITION);
    looked(reply, LINE_QUERY_ENTRY);
    shown(arena, reply);
    bool viewed = gate_read_view(reply, &view) == OUTCOME_OK;
    for (size_t i = viewed ? gate_view_ended_count(reply) : 0; i > 0; i--) {
        (void)gate_view_ended(reply, i - 1);
    }
    (void)gate_read_check(reply, &admission);
    (void)gate_read_watch(reply, &admission);
    (void)member_read_place(reply, &place);
    (void)queue_result_read(reply, &result);
    (void)lottery_state_read(reply, &lottery);
    (void)lottery_state_is_none(reply);
    if (reply != NULL) {
        REQUIRE(queue_publication_read_version(reply) >= -1);
        REQUIRE(queue_publication_read_incarnation(reply) >= 0);
        (void)queue_publication_read_whole(reply);
    }
    (void)queue_stats_read(reply, arena, &stats);
}

static void read_records(struct arena *arena, struct str text)
{
    struct seat_holds holds = {.now_ms = INT64_C(1800000000000)};
    const struct str *words;

    seats_record_holds(arena, text, &holds);
    for (size_t i = 0; i < holds.count; i++) {
        REQUIRE(holds.holds[i].ends_ms > holds.now_ms);
        REQUIRE(i == 0 || holds.holds[i - 1].ends_ms <= holds.holds[i].ends_ms);
    }
    size_t count = seats_record_words(arena, text, &words);
    size_t length = 0;
    for (size_t i = 0; i < count; i++) {
        length += words[i].n + 1;
    }
    REQUIRE(length <= text.n + 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena *arena = fuzz_arena();
    void *reply = NULL;

    if (announces_too_much(data, size)) {
        return 0;
    }
    redisReader *reader = redisReaderCreate();
    REQUIRE(reader != NULL);
    read_records(arena, fuzz_text(data, size));
    read_by_all(arena, NULL);
    if (redisReaderFeed(reader, (const char *)data, size) == REDIS_OK &&
        redisReaderGetReply(reader, &reply) == REDIS_OK && reply != NULL) {
        read_by_all(arena, reply);
        freeReplyObject(reply);
    }
    redisReaderFree(reader);
    return 0;
}
