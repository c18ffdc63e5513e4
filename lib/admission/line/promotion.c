#include "lib/admission/line/promotion.h"

#include <string.h>

#include "lib/base/digest.h"
#include "lib/base/random.h"
#include "lib/store/redis_reply.h"

enum {
    /* Redis serves nobody else during a call, which must stay well below 5 ms: with a million
     * members waiting, each member costs 7 to 8 us, and the call itself, including what it collects
     * and draws, up to 2 ms. */
    MOST_PER_CALL = 150
};

enum outcome promotion_lead(struct redis *redis, struct arena *arena, struct str queue,
                            struct str owner, int64_t lease_ms)
{
    struct redis_command *command = redis_command_script(arena, SCRIPT_LEADER_ACQUIRE, queue);

    redis_command_add(command, owner);
    redis_command_add_int(command, lease_ms);
    return outcome_of(redis_call(redis, arena, command));
}

enum outcome promotion_hand_over(struct redis *redis, struct arena *arena, struct str queue,
                                 struct str owner)
{
    struct redis_command *command = redis_command_script(arena, SCRIPT_LEADER_RELEASE, queue);

    redis_command_add(command, owner);
    return outcome_of(redis_call(redis, arena, command));
}

/* Rates and bursts may have a fraction, which admits nobody. */
static int64_t whole_part(struct str number)
{
    struct str whole;
    struct str fraction;
    int64_t read = MOST_PER_CALL;

    (void)str_split(number, '.', &whole, &fraction);
    (void)str_to_int64(whole, 0, 10000000, &read);
    return read > 0 ? read : 1;
}

bool promotion_read_pace(struct redis *redis, struct arena *arena, struct str queue,
                         struct promotion_pace *pace)
{
    struct redis_command *command = redis_command_new(arena, "HMGET");
    char *key = arena_format(arena, "sluice:{%.*s}:settings", STR_ARG(queue));

    redis_command_add(command, str_of(key));
    redis_command_add(command, STR("tickMs"));
    redis_command_add(command, STR("burst"));
    redis_command_add(command, STR("batchCap"));
    redis_command_add(command, STR("rateCeiling"));
    const redisReply *reply = redis_call(redis, arena, command);
    pace->tick_ms = redis_reply_int(reply, 0, 0);
    if (pace->tick_ms < 1) {
        return false;
    }
    int64_t burst = whole_part(redis_reply_text(reply, 1));
    int64_t ceiling = whole_part(redis_reply_text(reply, 3)) + 1;
    if (redis_reply_text(reply, 3).n > 0) {
        /* A burst that follows the rate can grow to what the ceiling yields. */
        int64_t reach = pace->tick_ms > 1000 ? ceiling * pace->tick_ms / 1000 : ceiling;
        burst = burst > reach ? burst : reach;
    }
    int64_t cap = redis_reply_int(reply, 2, MOST_PER_CALL);
    pace->most = burst < cap ? burst : cap;
    if (pace->most > MOST_PER_CALL) {
        pace->most = MOST_PER_CALL;
    }
    return true;
}

/* Each in the form of a place's record: admission id/entry token. */
static void add_tokens(struct arena *arena, struct redis_command *command, int64_t count)
{
    for (int64_t i = 0; i < count; i++) {
        char token[RANDOM_TOKEN_TEXT + 1];
        char *both = arena_alloc(arena, SHA256_TEXT + 1 + sizeof(token));

        random_token(token);
        sha256_text(str_of(token), both);
        both[SHA256_TEXT] = '/';
        memcpy(both + SHA256_TEXT + 1, token, sizeof(token));
        redis_command_add(command, str_of(both));
    }
}

enum outcome promotion_run(struct redis *redis, struct arena *arena, struct str queue,
                           struct str owner, const struct order_pool_life *life, int64_t silence_ms,
                           int64_t away_ms, bool goes_on, int64_t most, struct promotion_tick *tick)
{
    struct redis_command *command = redis_command_script(arena, SCRIPT_PROMOTE, queue);

    redis_command_add(command, owner);
    redis_command_add_int(command, life->seen_ms);
    redis_command_add_int(command, life->silent_ms);
    redis_command_add_int(command, silence_ms);
    redis_command_add_int(command, away_ms);
    redis_command_add_int(command, goes_on ? 1 : 0);
    add_tokens(arena, command, most);
    const redisReply *reply = redis_call(redis, arena, command);
    enum outcome outcome = outcome_of(reply);
    if (outcome == OUTCOME_OK) {
        *tick = (struct promotion_tick){
            .admitted = redis_reply_int(reply, 1, 0),
            .expired = redis_reply_int(reply, 2, 0),
            .withdrawn = redis_reply_int(reply, 3, 0),
            .more = redis_reply_int(reply, 4, 0) == 1,
            .waiting = redis_reply_int(reply, 5, 0),
            .ready = redis_reply_int(reply, 6, 0),
            .claimed = redis_reply_int(reply, 7, 0),
            .unpaid = redis_reply_int(reply, 8, 0),
            .frozen = redis_reply_int(reply, 10, 0) == 1,
            .draw_waits = redis_reply_int(reply, 11, 0) == 1,
            .highest_served = redis_reply_int(reply, 12, 0),
        };
    }
    return outcome;
}

const redisReply *promotion_queues(struct redis *redis, struct arena *arena)
{
    struct redis_command *command = redis_command_new(arena, "SMEMBERS");

    redis_command_add(command, STR("sluice:queues"));
    const redisReply *reply = redis_call(redis, arena, command);
    return reply != NULL && reply->type == REDIS_REPLY_ARRAY ? reply : NULL;
}

struct str *promotion_queue_ids(struct redis *redis, struct arena *arena, size_t *count)
{
    const redisReply *reply = promotion_queues(redis, arena);

    if (reply == NULL) {
        return NULL;
    }
    struct str *ids = arena_alloc(arena, (reply->elements + 1) * sizeof(*ids));
    for (size_t i = 0; i < reply->elements; i++) {
        ids[i] = redis_reply_text(reply, i);
    }
    *count = reply->elements;
    return ids;
}
