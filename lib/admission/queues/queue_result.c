#include "lib/admission/queues/queue_result.h"

#include "lib/store/redis_reply.h"

struct redis_command *queue_result_ask(struct arena *arena, struct str queue)
{
    return redis_command_script(arena, SCRIPT_RESULT, queue);
}

enum outcome queue_result_read(const redisReply *reply, struct queue_result *result)
{
    enum outcome outcome = outcome_of(reply);

    if (outcome == OUTCOME_OK) {
        *result = (struct queue_result){
            .queue_state = redis_reply_text(reply, 1),
            .entered = redis_reply_int(reply, 2, 0),
            .admitted = redis_reply_int(reply, 3, 0),
            .consumed = redis_reply_int(reply, 4, 0),
            .left = redis_reply_int(reply, 5, 0),
            .expired = redis_reply_int(reply, 6, 0),
            .last_served_seq = redis_reply_int(reply, 7, 0),
            .first_admitted_ms = redis_reply_int(reply, 8, 0),
            .last_admitted_ms = redis_reply_int(reply, 9, 0),
            .last_wait_ms = redis_reply_int(reply, 10, 0),
            .longest_wait_ms = redis_reply_int(reply, 11, 0),
            .sold_out_ms = redis_reply_int(reply, 12, 0),
            .opens_at_ms = redis_reply_int(reply, 13, -1),
            .closes_at_ms = redis_reply_int(reply, 14, -1),
            .epoch = redis_reply_int(reply, 15, 0),
            .now_ms = redis_reply_int(reply, 16, 0),
        };
    }
    return outcome;
}
