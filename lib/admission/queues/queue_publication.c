#include "lib/admission/queues/queue_publication.h"

#include "lib/admission/lottery/lottery.h"
#include "lib/admission/queues/queue_settings.h"
#include "lib/store/redis_reply.h"

static void add_field(struct redis_command *command, struct str name, struct str value)
{
    redis_command_add(command, name);
    redis_command_add(command, value);
}

static void add_field_int(struct redis_command *command, struct str name, int64_t value)
{
    redis_command_add(command, name);
    redis_command_add_int(command, value);
}

/* Before the draw nobody outside Redis and PostgreSQL sees the secret; its commitment is public. */
static void add_lottery(struct arena *arena, struct redis_command *command,
                        const struct queue_publication *publication)
{
    char *commitment = arena_alloc(arena, LOTTERY_COMMITMENT_TEXT + 1);

    if (publication->lottery_secret.n > 0) {
        lottery_commitment(publication->lottery_secret, commitment);
    }
    add_field(command, STR("lotterySecret"), publication->lottery_secret);
    add_field(command, STR("lotteryCommitment"), str_of(commitment));
    add_field(command, STR("lotteryDraw"), publication->lottery_draw);
}

static void add_rates(struct arena *arena, struct redis_command *command, json_object *settings)
{
    struct queue_rates rates;

    queue_settings_rates(arena, settings, &rates);
    add_field(command, STR("rateFloor"), rates.floor);
    add_field(command, STR("rateCeiling"), rates.ceiling);
    add_field(command, STR("burstAuto"), rates.burst_is_automatic ? STR("1") : STR("0"));
}

struct redis_command *queue_publication_announce(struct arena *arena, struct str queue,
                                                 struct str name)
{
    struct redis_command *command = redis_command_new(arena, "HSET");

    redis_command_add(command, str_of(arena_format(arena, "sluice:{%.*s}:state", STR_ARG(queue))));
    redis_command_add(command, STR("announced"));
    redis_command_add(command, name);
    return command;
}

struct redis_command *queue_publication_publish(struct arena *arena,
                                                const struct queue_publication *publication)
{
    struct str fields[2 * QUEUE_SETTING_COUNT];
    struct redis_command *command =
        redis_command_script(arena, SCRIPT_QUEUE_PUBLISH, publication->queue);

    static const struct str INTENTS[] = {
        [QUEUE_PUBLISH_CREATE] = {.p = "create", .n = 6},
        [QUEUE_PUBLISH_CHANGE] = {.p = "change", .n = 6},
        [QUEUE_PUBLISH_RECOVER] = {.p = "recover", .n = 7},
    };

    redis_command_add(command, INTENTS[publication->intent]);
    redis_command_add_int(command, publication->version);
    redis_command_add_int(command, publication->epoch);
    redis_command_add_int(command, publication->incarnation);
    redis_command_add_int(command, publication->seq_floor);
    redis_command_add_int(command, publication->recovery_ms);
    redis_command_add_int(command, QUEUE_SETTING_COUNT);
    redis_command_add(command, publication->announced);
    queue_settings_flatten(arena, publication->settings, fields);
    for (size_t i = 0; i < QUEUE_SETTING_COUNT; i++) {
        add_field(command, fields[2 * i], fields[2 * i + 1]);
    }
    add_field_int(command, STR("version"), publication->version);
    add_field_int(command, STR("epoch"), publication->epoch);
    add_field_int(command, STR("incarnation"), publication->incarnation);
    add_field(command, STR("operatorState"), publication->operator_state);
    add_field(command, STR("deleted"), publication->deleted ? STR("1") : STR("0"));
    add_rates(arena, command, publication->settings);
    add_lottery(arena, command, publication);
    return command;
}

struct redis_command *queue_publication_version(struct arena *arena, struct str queue)
{
    struct redis_command *command = redis_command_new(arena, "HMGET");

    redis_command_add(command,
                      str_of(arena_format(arena, "sluice:{%.*s}:settings", STR_ARG(queue))));
    redis_command_add(command, STR("version"));
    redis_command_add(command, STR("publisherKnew"));
    redis_command_add(command, STR("incarnation"));
    redis_command_add(command, STR("lockedVersion"));
    redis_command_add(command, STR("epoch"));
    redis_command_add(command, STR("deleted"));
    return command;
}

int64_t queue_publication_read_version(const redisReply *reply)
{
    int64_t version = -1;

    (void)str_to_int64(redis_reply_text(reply, 0), 0, INT64_MAX, &version);
    return version;
}

bool queue_publication_read_locked(const redisReply *reply)
{
    struct str locked = redis_reply_text(reply, 3);

    return locked.n > 0 && str_equal(locked, redis_reply_text(reply, 0));
}

int64_t queue_publication_read_incarnation(const redisReply *reply)
{
    int64_t incarnation = 0;

    (void)str_to_int64(redis_reply_text(reply, 2), 0, INT64_MAX, &incarnation);
    return incarnation;
}

int64_t queue_publication_read_epoch(const redisReply *reply)
{
    return redis_reply_int(reply, 4, 0);
}

bool queue_publication_read_deleted(const redisReply *reply)
{
    return str_equal(redis_reply_text(reply, 5), STR("1"));
}

bool queue_publication_read_whole(const redisReply *reply)
{
    int64_t knew = 0;

    return str_to_int64(redis_reply_text(reply, 1), 0, INT64_MAX, &knew) &&
           knew >= QUEUE_SETTING_COUNT;
}

struct redis_command *queue_publication_lock(struct arena *arena, struct str queue, int64_t version,
                                             enum queue_lock_scope scope)
{
    struct redis_command *command = redis_command_script(arena, SCRIPT_QUEUE_LOCK, queue);

    redis_command_add_int(command, version);
    redis_command_add(command, scope == QUEUE_LOCK_ALL ? STR("all") : STR("line"));
    return command;
}

enum outcome queue_publication_read_lock(const redisReply *reply, struct queue_occupancy *who)
{
    enum outcome outcome = outcome_of(reply);

    *who = (struct queue_occupancy){0};
    if (outcome == OUTCOME_QUEUE_BUSY) {
        who->waiting = redis_reply_int(reply, 1, 0);
        who->away = redis_reply_int(reply, 2, 0);
        who->ready = redis_reply_int(reply, 3, 0);
        who->claimed = redis_reply_int(reply, 4, 0);
        who->unpaid = redis_reply_int(reply, 5, 0);
        who->pickup = redis_reply_int(reply, 6, 0);
    } else if (outcome != OUTCOME_OK && outcome != OUTCOME_OLDER && outcome != OUTCOME_NOT_FOUND) {
        return OUTCOME_ADMISSION_UNAVAILABLE;
    }
    return outcome;
}

struct redis_command *queue_publication_listed(struct arena *arena, struct str queue, bool listed)
{
    struct redis_command *command = redis_command_new(arena, listed ? "SADD" : "SREM");

    redis_command_add(command, STR("sluice:queues"));
    redis_command_add(command, queue);
    return command;
}
