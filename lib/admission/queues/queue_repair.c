#include "lib/admission/queues/queue_repair.h"

#include "lib/store/redis_reply.h"

enum {
    REPAIR_CALLS = 10000
}; /* per part, of about a hundred members each; the next pass starts over */

static struct redis_command *drift_command(struct arena *arena, struct str queue, const char *part,
                                           int64_t from)
{
    struct redis_command *command = redis_command_script(arena, SCRIPT_DRIFT, queue);

    redis_command_add(command, str_of(part));
    redis_command_add_int(command, from);
    return command;
}

enum outcome places_mend(struct redis *redis, struct arena *arena, struct str queue,
                         int64_t *mended)
{
    static const char *const PARTS[] = {"ready", "claimed", "pickup", "places"};

    *mended = 0;
    for (size_t part = 0; part < sizeof(PARTS) / sizeof(*PARTS); part++) {
        int64_t from = 0;
        for (int call = 0; call < REPAIR_CALLS && (call == 0 || from > 0); call++) {
            const redisReply *reply =
                redis_call(redis, arena, drift_command(arena, queue, PARTS[part], from));
            enum outcome outcome = outcome_of(reply);
            if (outcome != OUTCOME_OK) {
                return outcome;
            }
            *mended += redis_reply_int(reply, 1, 0);
            from = redis_reply_int(reply, 2, 0);
            if (from < 0) {
                return OUTCOME_OK;
            }
        }
    }
    return OUTCOME_OK;
}

static enum outcome load_outcome(const redisReply *reply, int64_t *known)
{
    enum outcome outcome = outcome_of(reply);

    if (outcome == OUTCOME_OLDER) {
        *known = redis_reply_int(reply, 1, 0);
    }
    return outcome;
}

enum outcome spent_numbers_load(struct redis *redis, struct arena *arena, struct str queue,
                                int64_t incarnation, int64_t epoch, int64_t after,
                                const int64_t *numbers, size_t count, int64_t *known)
{
    /* Of a lost queue, and of one that is there. */
    static const enum script SCRIPTS[] = {SCRIPT_SPENT_LOAD, SCRIPT_SPENT_SETTLE};
    enum outcome outcome = OUTCOME_PRESENT;

    for (size_t i = 0; outcome == OUTCOME_PRESENT && i < sizeof(SCRIPTS) / sizeof(*SCRIPTS); i++) {
        struct redis_command *command = redis_command_script(arena, SCRIPTS[i], queue);
        redis_command_add_int(command, incarnation);
        redis_command_add_int(command, epoch);
        redis_command_add_int(command, after);
        for (size_t number = 0; number < count; number++) {
            redis_command_add_int(command, numbers[number]);
        }
        outcome = load_outcome(redis_call(redis, arena, command), known);
    }
    return outcome;
}

enum outcome unpaid_places_load(struct redis *redis, struct arena *arena, struct str queue,
                                int64_t incarnation, const struct str *words, size_t count,
                                int64_t *known)
{
    struct redis_command *command = redis_command_script(arena, SCRIPT_UNPAID_LOAD, queue);

    redis_command_add_int(command, incarnation);
    for (size_t i = 0; i < count; i++) {
        redis_command_add(command, words[i]);
    }
    return load_outcome(redis_call(redis, arena, command), known);
}

const redisReply *unpaid_places_read(struct redis *redis, struct arena *arena, struct str queue)
{
    struct redis_command *command = redis_command_new(arena, "HGETALL");

    redis_command_add(command, str_of(arena_format(arena, "sluice:{%.*s}:unpaid", STR_ARG(queue))));
    const redisReply *reply = redis_call(redis, arena, command);
    return reply != NULL && reply->type == REDIS_REPLY_ARRAY ? reply : NULL;
}
