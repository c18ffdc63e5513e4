#include "lib/admission/seats/seats.h"
#include "lib/base/random.h"
#include "lib/store/redis_reply.h"

/* No step keeps Redis for more than a few milliseconds. */
enum { PUBLISHED_PER_STEP = 100, LOADED_PER_STEP = 500 };

static const char *state_word(struct arena *arena, char state)
{
    return arena_format(arena, "%c", state);
}

static bool publish_step(struct redis *redis, struct arena *arena, const struct show_ref *show,
                         const struct seat_state *states, size_t count, bool correct, int64_t *news)
{
    struct redis_command *command =
        redis_command_show_script(arena, SCRIPT_SEATS_PUBLISH, show->queue, show->show);

    redis_command_add(command, correct ? STR("1") : STR("0"));
    for (size_t i = 0; i < count; i++) {
        const struct seat_state *it = &states[i];
        redis_command_add(command, it->seat);
        redis_command_add_int(command, it->change);
        redis_command_add(command, str_of(state_word(arena, it->state)));
        redis_command_add(command, it->state == 'F' ? STR("") : it->member);
        redis_command_add(command, it->state == 'F' ? STR("") : it->order);
    }
    const redisReply *reply = redis_call(redis, arena, command);
    *news = redis_reply_int(reply, 1, 0);
    return outcome_of(reply) == OUTCOME_OK;
}

static bool publish(struct redis *redis, struct arena *arena, const struct show_ref *show,
                    const struct seat_state *states, size_t count, bool correct, int64_t *applied)
{
    int64_t all = 0;

    for (size_t at = 0; at < count; at += PUBLISHED_PER_STEP) {
        size_t n = count - at < PUBLISHED_PER_STEP ? count - at : PUBLISHED_PER_STEP;
        int64_t news = 0;
        if (!publish_step(redis, arena, show, &states[at], n, correct, &news)) {
            return false;
        }
        all += news;
    }
    if (applied != NULL) {
        *applied = all;
    }
    return true;
}

bool seats_publish(struct redis *redis, struct arena *arena, const struct show_ref *show,
                   const struct seat_state *states, size_t count, int64_t *applied)
{
    return publish(redis, arena, show, states, count, false, applied);
}

bool seats_correct(struct redis *redis, struct arena *arena, const struct show_ref *show,
                   const struct seat_state *states, size_t count, int64_t *applied)
{
    return publish(redis, arena, show, states, count, true, applied);
}

/* "change/state/member/order"; anything else counts as never published. */
static void read_record(struct str record, struct seat_state *state)
{
    struct str change;
    struct str word;

    if (str_split(record, '/', &change, &record) && str_split(record, '/', &word, &record) &&
        word.n == 1 && str_to_int64(change, 1, INT64_MAX, &state->change)) {
        state->state = word.p[0];
        (void)str_split(record, '/', &state->member, &state->order);
    }
}

bool seat_states_known(struct redis *redis, struct arena *arena, const struct show_ref *show,
                       const struct str *seats, size_t count, struct seat_state *states)
{
    struct redis_command *command = redis_command_new(arena, "HMGET");

    if (count == 0) {
        return true;
    }
    redis_command_add(command, redis_command_show_key(arena, show->queue, show->show, "taken"));
    for (size_t i = 0; i < count; i++) {
        redis_command_add(command, seats[i]);
    }
    const redisReply *reply = redis_call(redis, arena, command);
    if (reply == NULL || reply->type != REDIS_REPLY_ARRAY || reply->elements != count) {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        states[i] = (struct seat_state){.seat = seats[i], .state = 'F'};
        read_record(redis_reply_text(reply, i), &states[i]);
    }
    return true;
}

enum outcome seats_load(struct redis *redis, struct arena *arena, const struct show_ref *show,
                        const struct show_rules *rules, const struct str *seats, size_t count)
{
    char loader[RANDOM_ID_TEXT + 1];
    size_t at = 0;

    random_id(loader);
    do {
        size_t n = count - at < LOADED_PER_STEP ? count - at : LOADED_PER_STEP;
        struct redis_command *command =
            redis_command_show_script(arena, SCRIPT_SEATS_LOAD, show->queue, show->show);
        redis_command_add(command, str_of(loader));
        redis_command_add_int(command, rules->version);
        redis_command_add_int(command, rules->updated_us);
        redis_command_add_int(command, rules->max_seats);
        redis_command_add_int(command, rules->hold_ttl_ms);
        redis_command_add_int(command, (int64_t)count);
        redis_command_add_int(command, (int64_t)at);
        for (size_t i = 0; i < n; i++) {
            redis_command_add(command, seats[at + i]);
        }
        enum outcome outcome = outcome_of(redis_call(redis, arena, command));
        if (outcome != OUTCOME_LOADED) {
            return outcome;
        }
        at += n;
    } while (at < count);
    return OUTCOME_LOADED;
}

enum outcome seats_known(struct redis *redis, struct arena *arena, const struct show_ref *show,
                         struct show_known *known)
{
    const redisReply *reply =
        redis_call(redis, arena,
                   redis_command_show_script(arena, SCRIPT_SEATS_KNOWN, show->queue, show->show));
    enum outcome outcome = outcome_of(reply);

    *known = (struct show_known){0};
    if (outcome == OUTCOME_OK) {
        known->version = redis_reply_int(reply, 1, 0);
        known->held = redis_reply_int(reply, 2, 0);
        known->updated_us = redis_reply_int(reply, 3, 0);
        known->highest = redis_reply_int(reply, 4, 0);
    } else if (outcome == OUTCOME_NOT_FOUND) {
        known->highest = redis_reply_int(reply, 2, 0);
    }
    return outcome;
}

bool seats_forget(struct redis *redis, struct arena *arena, const struct show_ref *show)
{
    return outcome_of(redis_call(redis, arena,
                                 redis_command_show_script(arena, SCRIPT_SEATS_FORGET, show->queue,
                                                           show->show))) == OUTCOME_OK;
}
