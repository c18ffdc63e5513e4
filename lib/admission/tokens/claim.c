#include "lib/admission/tokens/claim.h"

#include "lib/store/redis_reply.h"

enum { WORDS_PER_OVERDUE_CLAIM = 4 };

void claim_prepare(struct claim *claim, struct str queue, struct str member, struct str entry_token,
                   struct str key)
{
    *claim = (struct claim){.queue = queue, .member = member};
    sha256_text(entry_token, claim->admission);
    random_id(claim->id);
    if (key.n > 0) {
        sha256_text(key, claim->key_hash);
    }
}

enum outcome claim_take(struct redis *redis, struct arena *arena, struct claim *claim,
                        int64_t least_lease_ms)
{
    struct redis_command *command = redis_command_script(arena, SCRIPT_CLAIM, claim->queue);

    redis_command_add(command, claim->member);
    redis_command_add(command, str_of(claim->admission));
    redis_command_add(command, str_of(claim->id));
    redis_command_add(command, str_of(claim->key_hash));
    redis_command_add_int(command, least_lease_ms);
    redis_command_add(command, claim->event);
    return claim_read(redis_call(redis, arena, command), claim);
}

enum outcome claim_read(const redisReply *reply, struct claim *claim)
{
    enum outcome outcome = outcome_of(reply);

    claim->coupons = claim->issued = -1;
    if (outcome == OUTCOME_CLAIMED) {
        claim->lease_ms = redis_reply_int(reply, 1, 0);
        claim->seq = redis_reply_int(reply, 2, 0);
        claim->epoch = redis_reply_int(reply, 3, 0);
        claim->incarnation = redis_reply_int(reply, 4, 0);
        claim->place_until_payment = str_equal(redis_reply_text(reply, 5), STR("payment"));
        claim->coupons = redis_reply_int(reply, 6, -1);
        claim->issued = redis_reply_int(reply, 7, -1);
    } else if (outcome == OUTCOME_SOLD_OUT) {
        claim->coupons = redis_reply_int(reply, 1, -1);
    } else if (outcome == OUTCOME_NOT_FOUND) {
        claim->queue_deleted = str_equal(redis_reply_text(reply, 1), STR("deleted"));
        claim->show_unknown = str_equal(redis_reply_text(reply, 1), STR("show"));
    } else if (outcome == OUTCOME_REPLAY) {
        claim->order = redis_reply_text(reply, 1);
    }
    return outcome;
}

enum outcome claim_consume(struct redis *redis, struct arena *arena, const struct claim *claim,
                           struct str order, int64_t tombstone_ms, bool keep_place)
{
    struct redis_command *command = redis_command_script(arena, SCRIPT_CONSUME, claim->queue);

    redis_command_add(command, claim->member);
    redis_command_add(command, str_of(claim->admission));
    redis_command_add(command, str_of(claim->key_hash));
    redis_command_add(command, order);
    redis_command_add_int(command, tombstone_ms);
    redis_command_add(command, keep_place ? STR("1") : STR("0"));
    redis_command_add(command, claim->event);
    redis_command_add(command, claim->load);
    return outcome_of(redis_call(redis, arena, command));
}

enum outcome claim_release(struct redis *redis, struct arena *arena, const struct claim *claim)
{
    enum script script = claim->show.n > 0 ? SCRIPT_RELEASE_SEATS : SCRIPT_RELEASE;
    struct redis_command *command =
        redis_command_show_script(arena, script, claim->queue, claim->show);

    redis_command_add(command, claim->member);
    redis_command_add(command, str_of(claim->admission));
    redis_command_add(command, str_of(claim->id));
    redis_command_add(command, claim->load);
    return outcome_of(redis_call(redis, arena, command));
}

enum outcome claims_overdue(struct redis *redis, struct arena *arena, struct str queue,
                            int64_t most, struct claim **claims, size_t *count)
{
    struct redis_command *command = redis_command_script(arena, SCRIPT_CLAIMS_OVERDUE, queue);

    redis_command_add_int(command, most);
    const redisReply *reply = redis_call(redis, arena, command);
    enum outcome outcome = outcome_of(reply);
    if (outcome != OUTCOME_OK) {
        return outcome;
    }
    *count = (reply->elements - 1) / WORDS_PER_OVERDUE_CLAIM;
    *claims = arena_alloc(arena, (*count + 1) * sizeof(**claims));
    for (size_t i = 0; i < *count; i++) {
        struct claim *claim = &(*claims)[i];
        size_t at = 1 + i * WORDS_PER_OVERDUE_CLAIM;
        claim->queue = queue;
        claim->member = redis_reply_text(reply, at);
        str_copy(redis_reply_text(reply, at + 1), claim->admission, sizeof(claim->admission));
        str_copy(redis_reply_text(reply, at + 2), claim->id, sizeof(claim->id));
        str_copy(redis_reply_text(reply, at + 3), claim->key_hash, sizeof(claim->key_hash));
    }
    return OUTCOME_OK;
}

enum outcome place_free(struct redis *redis, struct arena *arena, struct str queue,
                        struct str member, struct str order)
{
    struct redis_command *command = redis_command_script(arena, SCRIPT_PLACE_FREE, queue);

    redis_command_add(command, member);
    redis_command_add(command, order);
    return outcome_of(redis_call(redis, arena, command));
}
