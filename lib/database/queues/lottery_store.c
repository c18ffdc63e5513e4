#include "lib/database/queues/lottery_store.h"

#include "lib/admission/lottery/lottery.h"
#include "lib/store/redis_reply.h"

/** Reads the hash and ranges of a closed list. False if Redis did not answer. */
static bool read_closed_list(struct redis *redis, struct arena *arena,
                             const struct queue_row *queue, struct str *list_hash,
                             struct str *ranges)
{
    struct redis_command *command = redis_command_new(arena, "HMGET");

    redis_command_add(command,
                      str_of(arena_format(arena, "sluice:{%.*s}:state", STR_ARG(queue->id))));
    redis_command_add(command, STR("epoch"));
    redis_command_add(command, STR("drawList"));
    redis_command_add(command, STR("drawRanges"));
    const redisReply *reply = redis_call(redis, arena, command);
    if (reply == NULL) {
        return false;
    }
    /* A list of another epoch belongs to another draw. */
    if (redis_reply_int(reply, 0, -1) == queue->epoch) {
        *list_hash = redis_reply_text(reply, 1);
        *ranges = redis_reply_text(reply, 2);
    }
    return true;
}

static enum postgres_outcome record(struct postgres *postgres, struct arena *arena,
                                    const struct queue_row *queue, struct str list_hash,
                                    struct str ranges)
{
    char seed[LOTTERY_SEED_TEXT + 1];
    const PGresult *result;

    lottery_seed(arena, queue->lottery_secret, queue->id, queue->epoch, list_hash, ranges, seed);
    const char *const parameters[] = {
        arena_copy(arena, queue->id),
        arena_int(arena, queue->epoch),
        arena_copy(arena, list_hash),
        arena_copy(arena, ranges),
        seed,
    };
    return postgres_query(postgres, arena, QUERY_LOTTERY_PUT_DOWN, parameters, &result);
}

enum lottery_step lottery_hold(struct postgres *postgres, struct redis *redis, struct arena *arena,
                               const struct queue_row *queue)
{
    struct str list_hash = {0};
    struct str ranges = {0};
    struct queue_row drawn;
    bool found;

    if (queue->lottery_secret.n == 0 || queue->lottery_draw.n > 0) {
        return LOTTERY_NOTHING_DUE;
    }
    if (!read_closed_list(redis, arena, queue, &list_hash, &ranges)) {
        return LOTTERY_REDIS_SILENT;
    }
    if (list_hash.n == 0 || ranges.n == 0) {
        return LOTTERY_NOTHING_DUE;
    }
    if (record(postgres, arena, queue, list_hash, ranges) != POSTGRES_OK ||
        queue_store_get(postgres, arena, queue->id, &found, &drawn) != POSTGRES_OK) {
        return LOTTERY_POSTGRES_SILENT;
    }
    if (!found || drawn.lottery_draw.n == 0) {
        return LOTTERY_NOTHING_DUE;
    }
    return queue_publish_change(redis, arena, &drawn) == OUTCOME_ADMISSION_UNAVAILABLE
               ? LOTTERY_REDIS_SILENT
               : LOTTERY_HELD;
}
