#include "lib/admission/seats/seats.h"

#include "lib/admission/seats/seats_record.h"
#include "lib/store/redis_reply.h"

/* How long after a claim's lease its seats stay guarded: by then reconcile has settled it. */
enum { GUARD_MARGIN_MS = 60000 };

static void add_seats(struct redis_command *command, const struct str *seats, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        redis_command_add(command, seats[i]);
    }
}

/* Reads the words after the first one. */
static void read_refusal(struct arena *arena, const redisReply *reply, enum outcome outcome,
                         struct seat_refusal *refusal)
{
    *refusal = (struct seat_refusal){0};
    if (outcome == OUTCOME_NOT_FOUND) {
        refusal->queue_deleted = str_equal(redis_reply_text(reply, 1), STR("deleted"));
    } else if (outcome == OUTCOME_TOO_MANY_SEATS) {
        refusal->most = redis_reply_int(reply, 1, 0);
    } else if (outcome == OUTCOME_SEATS_TAKEN || outcome == OUTCOME_UNKNOWN_SEAT ||
               outcome == OUTCOME_SEAT_NOT_HELD) {
        struct str *seats = arena_alloc(arena, reply->elements * sizeof(*seats));
        for (size_t i = 1; i < reply->elements; i++) {
            seats[i - 1] = redis_reply_text(reply, i);
        }
        refusal->seats = seats;
        refusal->count = reply->elements - 1;
    }
}

static void read_holds(struct arena *arena, const redisReply *reply, struct seat_holds *holds)
{
    holds->now_ms = redis_reply_int(reply, 1, 0);
    seats_record_holds(arena, redis_reply_text(reply, 2), holds);
}

enum outcome seats_hold(struct redis *redis, struct arena *arena, const struct show_ref *show,
                        struct str member, struct str entry_token, const struct str *seats,
                        size_t count, bool replace, struct seat_holds *holds,
                        struct seat_refusal *refusal)
{
    struct redis_command *command =
        redis_command_show_script(arena, SCRIPT_SEATS_HOLD, show->queue, show->show);
    char admission[SHA256_TEXT + 1];

    sha256_text(entry_token, admission);
    redis_command_add(command, member);
    redis_command_add(command, str_of(admission));
    redis_command_add(command, replace ? STR("1") : STR("0"));
    add_seats(command, seats, count);
    const redisReply *reply = redis_call(redis, arena, command);
    enum outcome outcome = outcome_of(reply);
    if (outcome == OUTCOME_HELD) {
        read_holds(arena, reply, holds);
    }
    read_refusal(arena, reply, outcome, refusal);
    return outcome;
}

enum outcome seats_release(struct redis *redis, struct arena *arena, const struct show_ref *show,
                           struct str member, const struct str *seats, size_t count,
                           struct seat_refusal *refusal)
{
    struct redis_command *command =
        redis_command_show_script(arena, SCRIPT_SEATS_RELEASE, show->queue, show->show);

    redis_command_add(command, member);
    add_seats(command, seats, count);
    const redisReply *reply = redis_call(redis, arena, command);
    enum outcome outcome = outcome_of(reply);
    read_refusal(arena, reply, outcome, refusal);
    return outcome;
}

enum outcome seats_mine(struct redis *redis, struct arena *arena, const struct show_ref *show,
                        struct str member, struct seat_holds *holds)
{
    struct redis_command *command =
        redis_command_show_script(arena, SCRIPT_SEATS_MINE, show->queue, show->show);

    redis_command_add(command, member);
    const redisReply *reply = redis_call(redis, arena, command);
    enum outcome outcome = outcome_of(reply);
    if (outcome == OUTCOME_OK) {
        read_holds(arena, reply, holds);
    }
    return outcome;
}

enum outcome seats_claim(struct redis *redis, struct arena *arena, struct claim *claim,
                         struct str show, const struct str *seats, size_t count,
                         int64_t least_lease_ms, struct seat_refusal *refusal)
{
    struct redis_command *command =
        redis_command_show_script(arena, SCRIPT_CLAIM_SEATS, claim->queue, show);

    claim->show = show;
    redis_command_add(command, claim->member);
    redis_command_add(command, str_of(claim->admission));
    redis_command_add(command, str_of(claim->id));
    redis_command_add(command, str_of(claim->key_hash));
    redis_command_add_int(command, least_lease_ms);
    redis_command_add_int(command, GUARD_MARGIN_MS);
    add_seats(command, seats, count);
    const redisReply *reply = redis_call(redis, arena, command);
    enum outcome outcome = claim_read(reply, claim);
    read_refusal(arena, reply, outcome, refusal);
    return outcome;
}
