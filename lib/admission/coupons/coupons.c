#include "lib/admission/coupons/coupons.h"

#include "lib/store/redis_reply.h"

enum { WORDS_PER_EVENT = 3 };

enum outcome coupon_standing_read(struct redis *redis, struct arena *arena, struct str queue,
                                  struct str event, struct coupon_standing *standing)
{
    struct redis_command *command = redis_command_script(arena, SCRIPT_COUPON_STANDING, queue);

    redis_command_add(command, event);
    const redisReply *reply = redis_call(redis, arena, command);
    standing->coupons = redis_reply_int(reply, 1, 0);
    standing->issued = redis_reply_int(reply, 2, 0);
    standing->gone = redis_reply_int(reply, 3, 0) == 1;
    return outcome_of(reply);
}

enum outcome coupons_known(struct redis *redis, struct arena *arena, struct str queue,
                           int64_t *change, const struct known_coupons **known, size_t *count)
{
    struct redis_command *command = redis_command_script(arena, SCRIPT_COUPONS_KNOWN, queue);

    redis_command_add_int(command, 2 * COUPON_EVENTS_MAX);
    const redisReply *reply = redis_call(redis, arena, command);
    enum outcome outcome = outcome_of(reply);
    *count = 0;
    if (outcome != OUTCOME_OK) {
        return outcome;
    }
    *change = redis_reply_int(reply, 1, 0);
    struct known_coupons *found = arena_alloc(arena, (reply->elements + 1) * sizeof(*found));
    for (size_t at = 2; at + WORDS_PER_EVENT <= reply->elements; at += WORDS_PER_EVENT) {
        found[*count].event = redis_reply_text(reply, at);
        found[*count].record = redis_reply_text(reply, at + 1);
        found[*count].owners = redis_reply_int(reply, at + 2, 0);
        (*count)++;
    }
    *known = found;
    return outcome;
}

bool coupon_owners_publish(struct redis *redis, struct arena *arena, struct str queue,
                           struct str event, bool have, const struct str *members, size_t count,
                           int64_t *changed)
{
    struct redis_command *command = redis_command_script(arena, SCRIPT_COUPON_OWNERS, queue);

    redis_command_add(command, event);
    redis_command_add(command, have ? STR("add") : STR("drop"));
    for (size_t i = 0; i < count; i++) {
        redis_command_add(command, members[i]);
    }
    const redisReply *reply = redis_call(redis, arena, command);
    *changed = redis_reply_int(reply, 1, 0);
    return outcome_of(reply) == OUTCOME_LOADED;
}

bool coupon_owners_read(struct redis *redis, struct arena *arena, struct str queue,
                        struct str event, struct str after, const struct str **members,
                        size_t *count)
{
    struct redis_command *command = redis_command_new(arena, "ZRANGEBYLEX");

    redis_command_add(command,
                      str_of(arena_format(arena, "sluice:{%.*s}:couponOwners", STR_ARG(queue))));
    redis_command_add(command,
                      str_of(arena_format(arena, "(%.*s/%.*s", STR_ARG(event), STR_ARG(after))));
    redis_command_add(command, str_of(arena_format(arena, "(%.*s0", STR_ARG(event))));
    redis_command_add(command, STR("LIMIT"));
    redis_command_add_int(command, 0);
    redis_command_add_int(command, COUPON_OWNERS_PER_CALL);
    const redisReply *reply = redis_call(redis, arena, command);
    if (reply == NULL || reply->type != REDIS_REPLY_ARRAY) {
        return false;
    }
    struct str *found = arena_alloc(arena, (reply->elements + 1) * sizeof(*found));
    *count = reply->elements;
    for (size_t i = 0; i < *count; i++) {
        struct str event_again;
        (void)str_split(redis_reply_text(reply, i), '/', &event_again, &found[i]);
    }
    *members = found;
    return true;
}
