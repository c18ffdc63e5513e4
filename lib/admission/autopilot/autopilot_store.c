#include "lib/admission/autopilot/autopilot_store.h"

#include <math.h>
#include <stdlib.h>

#include <json-c/json.h>

#include "lib/admission/autopilot/autopilot_setting.h"
#include "lib/admission/queues/queue_setting_value.h"
#include "lib/base/clock.h"
#include "lib/store/redis_reply.h"

enum { FIRST_LOAD = 18, FIRST_MOVE = 7 };

static double real_of(struct arena *arena, struct str text)
{
    return strtod(arena_copy(arena, text), NULL);
}

static void read_goal(struct arena *arena, const redisReply *reply, struct autopilot_sight *sight)
{
    struct str floor = redis_reply_text(reply, 5);
    struct str ceiling = redis_reply_text(reply, 6);
    struct str setting = redis_reply_text(reply, 7);
    double rate = real_of(arena, redis_reply_text(reply, 3));

    /* Without bounds promotion ignores the autopilot's rate. */
    if (floor.n == 0 || ceiling.n == 0 || setting.n == 0) {
        return;
    }
    json_object *value = json_tokener_parse(arena_copy(arena, setting));
    sight->enabled = autopilot_setting_goal(value, rate, &sight->goal);
    (void)json_object_put(value);
}

static void read_load(const redisReply *reply, struct autopilot_sight *sight)
{
    for (size_t i = FIRST_LOAD; i + 1 < reply->elements; i += 2) {
        int64_t count = 0;
        if (str_to_int64(redis_reply_text(reply, i + 1), 0, INT64_MAX, &count)) {
            order_load_read_field(redis_reply_text(reply, i), count, &sight->look.orders,
                                  &sight->look.origin);
            sight->any_load = true;
        }
    }
}

enum outcome autopilot_look_at(struct redis *redis, struct arena *arena, struct str queue,
                               struct autopilot_sight *sight)
{
    const redisReply *reply =
        redis_call(redis, arena, redis_command_script(arena, SCRIPT_AUTOPILOT_LOOK, queue));
    enum outcome outcome = outcome_of(reply);

    *sight = (struct autopilot_sight){.enabled = false};
    if (outcome != OUTCOME_OK) {
        return outcome;
    }
    sight->version = redis_reply_int(reply, 1, 0);
    sight->look = (struct autopilot_look){
        .now_ms = redis_reply_int(reply, 2, 0),
        .moved = redis_reply_text(reply, 4).n > 0,
        .open = redis_reply_int(reply, 8, 0) == 1,
        .waiting = redis_reply_int(reply, 9, 0),
        .claimed = redis_reply_int(reply, 11, 0),
        .ready = redis_reply_int(reply, 17, 0),
        .unseen = redis_reply_int(reply, 12, 0),
        .admitted = redis_reply_int(reply, 13, 0),
        .withdrawn = redis_reply_int(reply, 14, 0),
    };
    sight->turn = redis_reply_int(reply, 15, 0);
    (void)autopilot_memory_read(redis_reply_text(reply, 16), &sight->memory);
    read_goal(arena, reply, sight);
    read_load(reply, sight);
    return OUTCOME_OK;
}

/* Adds '' if it is unknown. */
static void add_latency(struct redis_command *command, double ms)
{
    if (ms < 0) {
        redis_command_add(command, str_sized(NULL, 0));
    } else {
        redis_command_add_int(command, llround(ms));
    }
}

static void add_number(json_object *object, const char *name, double number)
{
    /* Three decimal places suffice. */
    json_object_object_add(object, name, queue_setting_number_json(round(number * 1000) / 1000));
}

static void add_ms(json_object *object, const char *name, double ms)
{
    json_object_object_add(object, name, ms < 0 ? NULL : json_object_new_int64(llround(ms)));
}

static json_object *figures(const struct autopilot_sight *sight,
                            const struct autopilot_verdict *verdict)
{
    char at[RFC3339_TEXT + 1];
    json_object *object = json_object_new_object();

    rfc3339_format(sight->look.now_ms, at);
    json_object_object_add(object, "at", json_object_new_string(at));
    add_number(object, "from", verdict->before);
    add_number(object, "to", verdict->rate);
    json_object_object_add(object, "reason",
                           json_object_new_string(autopilot_word(verdict->reason)));
    add_ms(object, "orderP95Ms", load_view_quantile(&sight->memory.order_view, 0.95));
    add_ms(object, "originP95Ms", load_view_quantile(&sight->memory.origin_view, 0.95));
    add_number(object, "dropShare", verdict->dropped);
    add_number(object, "noShowShare", verdict->no_shows);
    json_object_object_add(object, "waiting", json_object_new_int64(sight->look.waiting));
    return object;
}

enum outcome autopilot_note(struct redis *redis, struct arena *arena, struct str queue,
                            struct str owner, const struct autopilot_sight *sight,
                            const struct autopilot_verdict *verdict)
{
    struct redis_command *command = redis_command_script(arena, SCRIPT_AUTOPILOT_NOTE, queue);
    const struct load_view *orders = &sight->memory.order_view;
    char *memory = arena_alloc(arena, AUTOPILOT_MEMORY_TEXT);
    json_object *said = figures(sight, verdict);
    struct str text = str_of(
        arena_copy(arena, str_of(json_object_to_json_string_ext(said, JSON_C_TO_STRING_PLAIN))));

    (void)json_object_put(said);
    autopilot_memory_write(&sight->memory, memory);
    redis_command_add(command, owner);
    redis_command_add_int(command, sight->version);
    redis_command_add_int(command, sight->turn);
    redis_command_add(command, str_of(memory));
    redis_command_add(command, sight->enabled ? str_of(arena_format(arena, "%.6f", verdict->rate))
                                              : str_sized(NULL, 0));
    add_latency(command, load_view_quantile(orders, 0.5));
    add_latency(command, load_view_quantile(orders, 0.95));
    add_latency(command, load_view_quantile(orders, 0.99));
    add_latency(command, load_view_quantile(&sight->memory.origin_view, 0.95));
    redis_command_add(command, text);
    redis_command_add(command, verdict->moved ? text : str_sized(NULL, 0));
    return outcome_of(redis_call(redis, arena, command));
}

enum outcome autopilot_history_read(struct redis *redis, struct arena *arena, struct str queue,
                                    struct autopilot_history *history)
{
    const redisReply *reply =
        redis_call(redis, arena, redis_command_script(arena, SCRIPT_AUTOPILOT_READ, queue));
    enum outcome outcome = outcome_of(reply);

    *history = (struct autopilot_history){.move_count = 0};
    if (outcome != OUTCOME_OK) {
        return outcome;
    }
    struct str *moves = arena_alloc(arena, (reply->elements + 1) * sizeof(*moves));
    *history = (struct autopilot_history){
        .rate = redis_reply_text(reply, 1),
        .in_force_milli = redis_reply_int(reply, 2, 0),
        .floor = redis_reply_text(reply, 3),
        .ceiling = redis_reply_text(reply, 4),
        .setting = redis_reply_text(reply, 5),
        .last = redis_reply_text(reply, 6),
        .moves = moves,
    };
    for (size_t i = FIRST_MOVE; i < reply->elements; i++) {
        moves[history->move_count++] = redis_reply_text(reply, i);
    }
    return OUTCOME_OK;
}
