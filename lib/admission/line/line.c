#include "lib/admission/line/line.h"

#include "lib/admission/line/codes.h"
#include "lib/base/digest.h"
#include "lib/base/random.h"
#include "lib/store/redis_reply.h"

static struct redis_command *for_caller(struct arena *arena, enum script script,
                                        const struct line_caller *caller)
{
    struct redis_command *command = redis_command_script(arena, script, caller->queue);

    redis_command_add(command, caller->member);
    if (caller->has_ticket) {
        redis_command_add_int(command, caller->seq);
        redis_command_add_int(command, caller->generation);
        redis_command_add_int(command, caller->epoch);
        redis_command_add_int(command, caller->incarnation);
        redis_command_add(command, caller->lane.n > 0 ? caller->lane : STR("main"));
    } else {
        for (int i = 0; i < 5; i++) {
            redis_command_add(command, STR(""));
        }
    }
    redis_command_add(command, caller->by_visitor ? STR("1") : STR("0"));
    return command;
}

void line_add_new_token(struct arena *arena, struct redis_command *command)
{
    char *token = arena_alloc(arena, RANDOM_TOKEN_TEXT + 1);
    char *admission = arena_alloc(arena, SHA256_TEXT + 1);

    random_token(token);
    sha256_text(str_of(token), admission);
    redis_command_add(command, str_of(token));
    redis_command_add(command, str_of(admission));
}

struct redis_command *line_enter(struct arena *arena, const struct line_caller *caller,
                                 enum line_entry entry)
{
    static const struct str MODES[] = {
        [LINE_TAKE_OVER] = {.p = "take_over", .n = 9},
        [LINE_STAY] = {.p = "stay", .n = 4},
        [LINE_AT_ONCE] = {.p = "at_once", .n = 7},
    };
    struct redis_command *command = for_caller(arena, SCRIPT_ENTER, caller);

    redis_command_add(command, MODES[entry]);
    line_add_new_token(arena, command);
    redis_command_add(command, code_hash(arena, caller->code));
    redis_command_add(command, caller->is_unproven ? STR("1") : STR("0"));
    redis_command_add(command, caller->proof);
    return command;
}

struct redis_command *line_position(struct arena *arena, const struct line_caller *caller)
{
    return for_caller(arena, SCRIPT_POSITION, caller);
}

struct redis_command *line_leave(struct arena *arena, const struct line_caller *caller)
{
    return for_caller(arena, SCRIPT_LEAVE, caller);
}

struct redis_command *line_state(struct arena *arena, struct str queue)
{
    return redis_command_script(arena, SCRIPT_QUEUE_STATE, queue);
}

enum outcome line_read_position(const redisReply *reply, struct line_position *position)
{
    enum outcome outcome = outcome_of(reply);

    if (outcome != OUTCOME_OK && outcome != OUTCOME_ENTERED && outcome != OUTCOME_ALREADY) {
        return outcome;
    }
    struct str status = redis_reply_text(reply, 2);
    *position = (struct line_position){
        .queue_state = redis_reply_text(reply, 1),
        .status = str_equal(status, STR("READY"))     ? LINE_READY
                  : str_equal(status, STR("WAITING")) ? LINE_WAITING
                                                      : LINE_NOT_ENTERED,
        .rank = redis_reply_int(reply, 3, -1),
        .waiting = redis_reply_int(reply, 4, 0),
        .entry_token = redis_reply_text(reply, 5),
        .token_ends_ms = redis_reply_int(reply, 6, 0),
        .ordering = redis_reply_int(reply, 7, 0) == 1,
        .rate_milli = redis_reply_int(reply, 8, 0),
        .seq = redis_reply_int(reply, 9, 0),
        .generation = redis_reply_int(reply, 10, 0),
        .epoch = redis_reply_int(reply, 11, 0),
        .incarnation = redis_reply_int(reply, 12, 0),
        .now_ms = redis_reply_int(reply, 13, 0),
        .on_hold = str_equal(redis_reply_text(reply, 14), STR("hold")),
        .poll_tiers = redis_reply_text(reply, 15),
        .lane = redis_reply_text(reply, 16),
        .exact_only = redis_reply_int(reply, 17, 0) == 1,
    };
    return outcome;
}

enum outcome line_read_state(const redisReply *reply, struct line_state *state)
{
    enum outcome outcome = outcome_of(reply);

    if (outcome != OUTCOME_OK) {
        return outcome;
    }
    *state = (struct line_state){
        .queue_state = redis_reply_text(reply, 1),
        .waiting = redis_reply_int(reply, 2, 0),
        .head_seq = redis_reply_int(reply, 3, 0),
        .last_seq = redis_reply_int(reply, 4, 0),
        .admitted_milli = redis_reply_int(reply, 5, 0),
        .epoch = redis_reply_int(reply, 6, 0),
        .incarnation = redis_reply_int(reply, 7, 0),
        .now_ms = redis_reply_int(reply, 8, 0),
        .message = redis_reply_text(reply, 9),
        .opens_at_ms = redis_reply_int(reply, 10, -1),
        .closes_at_ms = redis_reply_int(reply, 11, -1),
        .departures = reply->elements > 12 ? reply->element[12] : NULL,
        .activation = redis_reply_text(reply, 13),
        .mode = redis_reply_text(reply, 14),
        .uncounted_to = redis_reply_int(reply, 15, 0),
        .uncounted = redis_reply_int(reply, 16, 0),
    };
    return outcome;
}

enum outcome line_read_left(const redisReply *reply, int64_t *seq)
{
    enum outcome outcome = outcome_of(reply);

    *seq = outcome == OUTCOME_LEFT ? redis_reply_int(reply, 1, 0) : 0;
    return outcome;
}

bool line_refusal_has_ended(const redisReply *reply)
{
    return str_equal(redis_reply_text(reply, 1), STR("ended"));
}

bool line_settings_missing(const redisReply *reply)
{
    return outcome_of(reply) == OUTCOME_NOT_FOUND &&
           str_equal(redis_reply_text(reply, 1), STR("unknown"));
}

struct redis_command *line_memory_ask(struct arena *arena)
{
    struct redis_command *command = redis_command_new(arena, "HMGET");

    redis_command_add(command, STR("sluice:tenures"));
    redis_command_add(command, STR("complete"));
    return command;
}

bool line_memory_is_there(const redisReply *reply)
{
    struct str complete = redis_reply_text(reply, 0);

    /* Replies of scripts start with a word, this one is a number. */
    return complete.n > 0 && complete.p[0] >= '0' && complete.p[0] <= '9';
}
