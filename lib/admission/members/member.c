#include "lib/admission/members/member.h"

#include "lib/admission/line/line.h"
#include "lib/store/redis_reply.h"

struct redis_command *member_end(struct arena *arena, struct str queue, struct str member,
                                 struct str admission)
{
    struct redis_command *command = redis_command_script(arena, SCRIPT_MEMBER_END, queue);

    redis_command_add(command, member);
    redis_command_add(command, admission);
    return command;
}

struct redis_command *member_admit(struct arena *arena, struct str queue, struct str member)
{
    struct redis_command *command = redis_command_script(arena, SCRIPT_MEMBER_ADMIT, queue);

    redis_command_add(command, member);
    line_add_new_token(arena, command);
    return command;
}

struct redis_command *member_find(struct arena *arena, struct str queue, struct str member)
{
    struct redis_command *command = redis_command_script(arena, SCRIPT_MEMBER_FIND, queue);

    redis_command_add(command, member);
    return command;
}

enum outcome member_read_place(const redisReply *reply, struct member_place *place)
{
    enum outcome outcome = outcome_of(reply);

    if (outcome == OUTCOME_OK) {
        *place = (struct member_place){
            .kind = redis_reply_text(reply, 1),
            .seq = redis_reply_int(reply, 2, 0),
            .generation = redis_reply_int(reply, 3, 0),
            .rank = redis_reply_int(reply, 4, -1),
            .ends_ms = redis_reply_int(reply, 5, 0),
            .has_seen_token = redis_reply_int(reply, 6, 0) == 1,
            .unpaid_order = redis_reply_text(reply, 7),
            .queue_state = redis_reply_text(reply, 8),
            .now_ms = redis_reply_int(reply, 9, 0),
        };
    }
    return outcome;
}
