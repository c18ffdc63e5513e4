#include "lib/admission/gate/gate.h"

#include "lib/admission/line/line.h"
#include "lib/store/redis_reply.h"

enum { VIEW_FIRST_ENDED = 19 };

static bool is(const redisReply *reply, size_t index, struct str word)
{
    return str_equal(redis_reply_text(reply, index), word);
}

struct redis_command *gate_look(struct arena *arena, struct str queue)
{
    return redis_command_script(arena, SCRIPT_GATE_VIEW, queue);
}

enum outcome gate_read_view(const redisReply *reply, struct gate_view *view)
{
    enum outcome outcome = outcome_of(reply);

    if (outcome != OUTCOME_OK) {
        return outcome;
    }
    *view = (struct gate_view){
        .version = redis_reply_int(reply, 1, 0),
        .activation = redis_reply_text(reply, 2),
        .admit_when_idle = redis_reply_int(reply, 3, 0) == 1,
        .for_visitors = is(reply, 4, STR("visitor")),
        .bypass = redis_reply_text(reply, 5),
        .epoch = redis_reply_int(reply, 6, 0),
        .incarnation = redis_reply_int(reply, 7, 0),
        .renew_ms = redis_reply_int(reply, 8, 0),
        .queue_state = redis_reply_text(reply, 9),
        .waiting = redis_reply_int(reply, 10, 0),
        .rate_milli = redis_reply_int(reply, 11, 0),
        .now_ms = redis_reply_int(reply, 12, 0),
        .message = redis_reply_text(reply, 13),
        .opens_at_ms = redis_reply_int(reply, 14, -1),
        .closes_at_ms = redis_reply_int(reply, 15, -1),
        .pickup_seconds = redis_reply_int(reply, 16, 0),
        .entry_ttl_seconds = redis_reply_int(reply, 17, 0),
        .mode = redis_reply_text(reply, 18),
    };
    return outcome;
}

size_t gate_view_ended_count(const redisReply *reply)
{
    return reply->elements > VIEW_FIRST_ENDED ? reply->elements - VIEW_FIRST_ENDED : 0;
}

struct str gate_view_ended(const redisReply *reply, size_t index)
{
    return redis_reply_text(reply, VIEW_FIRST_ENDED + index);
}

struct redis_command *gate_check(struct arena *arena, const struct gate_caller *caller)
{
    struct redis_command *command = redis_command_script(arena, SCRIPT_GATE_CHECK, caller->queue);
    bool is_visitor = str_starts(caller->member, STR("v~"));

    redis_command_add(command, caller->member);
    if (caller->has_pass) {
        redis_command_add(command, caller->admission);
        redis_command_add_int(command, caller->seq);
        redis_command_add_int(command, caller->generation);
        redis_command_add_int(command, caller->epoch);
        redis_command_add_int(command, caller->incarnation);
    } else {
        for (int i = 0; i < 5; i++) {
            redis_command_add(command, STR(""));
        }
    }
    redis_command_add(command, is_visitor ? STR("1") : STR("0"));
    line_add_new_token(arena, command);
    redis_command_add(command, caller->has_pass ? caller->lane : STR(""));
    return command;
}

enum outcome gate_read_check(const redisReply *reply, struct gate_admission *admission)
{
    enum outcome outcome = outcome_of(reply);

    if (outcome == OUTCOME_ADMITTED) {
        *admission = (struct gate_admission){
            .admission = redis_reply_text(reply, 1),
            .seq = redis_reply_int(reply, 2, 0),
            .generation = redis_reply_int(reply, 3, 0),
            .epoch = redis_reply_int(reply, 4, 0),
            .incarnation = redis_reply_int(reply, 5, 0),
            .now_ms = redis_reply_int(reply, 6, 0),
            .ends_ms = redis_reply_int(reply, 7, 0),
        };
    }
    return outcome;
}

struct redis_command *gate_watch(struct arena *arena, struct str queue, struct str member)
{
    struct redis_command *command = redis_command_script(arena, SCRIPT_GATE_WATCH, queue);

    redis_command_add(command, member);
    return command;
}

enum outcome gate_read_watch(const redisReply *reply, struct gate_admission *admission)
{
    enum outcome outcome = outcome_of(reply);

    if (outcome == OUTCOME_WATCHED) {
        *admission = (struct gate_admission){.now_ms = redis_reply_int(reply, 1, 0),
                                             .ends_ms = redis_reply_int(reply, 2, 0)};
    }
    return outcome;
}
