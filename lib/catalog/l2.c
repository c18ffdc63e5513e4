#include "lib/catalog/l2.h"

#include <stdio.h>

#include "lib/base/clock.h"
#include "lib/base/random.h"
#include "lib/store/redis_command.h"
#include "lib/store/redis_reply.h"

enum {
    AT_STATE,
    AT_FLIGHT,
    AT_GENERATION,
    AT_STAMP,
    AT_LEFT,
    AT_STALE_LEFT,
    AT_COST,
    AT_EXISTS,
    AT_VERSION,
    AT_ETAG,
    AT_TEXT
};

void l2_token(char token[L2_TOKEN_TEXT + 1], const char *host)
{
    char random[RANDOM_ID_TEXT + 1];

    random_id(random);
    (void)snprintf(token, L2_TOKEN_TEXT + 1, "%s/%s", host, random);
}

static struct redis_command *command_of(struct arena *arena, enum script script,
                                        const struct catalog_key *key)
{
    return redis_command_script(arena, script, str_of(key->text));
}

static enum l2_state state_of(struct str word)
{
    static const struct {
        struct str word;
        enum l2_state state;
    } WORDS[] = {
        {STR("NONE"), L2_NONE}, {STR("GOOD"), L2_GOOD}, {STR("DUE"), L2_DUE}, {STR("OLD"), L2_OLD}};

    for (size_t i = 0; i < sizeof(WORDS) / sizeof(WORDS[0]); i++) {
        if (str_equal(word, WORDS[i].word)) {
            return WORDS[i].state;
        }
    }
    return L2_SILENT;
}

static void read_entry(const redisReply *reply, int64_t asked_at, struct l2_answer *answer)
{
    struct catalog_entry *entry = &answer->entry;
    int64_t left = redis_reply_int(reply, AT_LEFT, 0);

    entry->generation = redis_reply_int(reply, AT_GENERATION, 0);
    entry->stamp = redis_reply_int(reply, AT_STAMP, 0);
    /* Counted from before the query: slightly too short rather than too long. */
    entry->started = asked_at;
    entry->l2_until = asked_at + left;
    entry->stale_until = asked_at + redis_reply_int(reply, AT_STALE_LEFT, 0);
    entry->l2_cost = redis_reply_int(reply, AT_COST, 0);
    entry->l1_cost = clock_monotonic_us() - asked_at;
    entry->exists = redis_reply_int(reply, AT_EXISTS, 0) == 1;
    entry->version = redis_reply_int(reply, AT_VERSION, 0);
    str_copy(redis_reply_text(reply, AT_ETAG), entry->etag, sizeof(entry->etag));
    entry->text = redis_reply_text(reply, AT_TEXT);
    answer->has_run_out = left == 0;
}

void l2_read(struct redis *redis, struct arena *arena, const struct l2_question *question,
             struct l2_answer *answer)
{
    struct redis_command *command = command_of(arena, SCRIPT_CATALOG_READ, question->key);
    int64_t asked_at = clock_monotonic_us();

    *answer = (struct l2_answer){.state = L2_SILENT};
    redis_command_add(command, str_of(question->token));
    redis_command_add(command, str_of(question->dead_host));
    redis_command_add_int(command, question->lock_us);
    redis_command_add(command, str_of(arena_format(arena, "%.6f", question->draw)));
    redis_command_add_int(command, question->known);
    redis_command_add(command, question->fly ? STR("1") : STR("0"));
    const redisReply *reply = redis_call(redis, arena, command);
    if (reply == NULL || reply->type != REDIS_REPLY_ARRAY || reply->elements != AT_TEXT + 1) {
        return;
    }
    answer->state = state_of(redis_reply_text(reply, AT_STATE));
    struct str flight = redis_reply_text(reply, AT_FLIGHT);
    answer->flight = str_equal(flight, STR("MINE"))    ? L2_FLIGHT_MINE
                     : str_equal(flight, STR("OTHER")) ? L2_FLIGHT_OTHER
                                                       : L2_FLIGHT_NO;
    read_entry(reply, asked_at, answer);
    /* As the script decides it: a text may also be empty. */
    answer->has_text = answer->entry.stamp != 0 && answer->entry.stamp != question->known;
}

enum l2_filled l2_fill(struct redis *redis, struct arena *arena, const struct catalog_key *key,
                       const char *token, bool go_on, int64_t good_ms, int64_t stale_ms,
                       struct catalog_entry *entry)
{
    struct redis_command *command = command_of(arena, SCRIPT_CATALOG_FILL, key);

    redis_command_add(command, str_of(token));
    redis_command_add_int(command, entry->generation);
    redis_command_add(command, go_on ? STR("1") : STR("0"));
    redis_command_add_int(command, good_ms);
    redis_command_add_int(command, stale_ms);
    redis_command_add_int(command, entry->l2_cost);
    redis_command_add(command, entry->exists ? STR("1") : STR("0"));
    redis_command_add_int(command, entry->version);
    redis_command_add(command, str_of(entry->etag));
    redis_command_add(command, entry->text);
    const redisReply *reply = redis_call(redis, arena, command);
    struct str word = reply != NULL ? redis_reply_text(reply, 0) : str_sized(NULL, 0);
    bool overtaken = str_equal(word, STR("OVERTAKEN"));
    if (!overtaken && !str_equal(word, STR("STORED"))) {
        return L2_LOST;
    }
    entry->generation = redis_reply_int(reply, 1, 0);
    entry->stamp = redis_reply_int(reply, 2, 0);
    return overtaken ? L2_OVERTAKEN : L2_STORED;
}

void l2_release(struct redis *redis, struct arena *arena, const struct catalog_key *key,
                const char *token)
{
    struct redis_command *command = command_of(arena, SCRIPT_CATALOG_RELEASE, key);

    redis_command_add(command, str_of(token));
    (void)redis_call(redis, arena, command);
}

bool l2_outdate(struct redis *redis, struct arena *arena, const struct catalog_key *key)
{
    struct redis_command *command = command_of(arena, SCRIPT_CATALOG_OUTDATE, key);

    redis_command_add(command, STR(L2_CHANNEL));
    redis_command_add(command, str_of(key->text));
    return redis_call(redis, arena, command) != NULL;
}
