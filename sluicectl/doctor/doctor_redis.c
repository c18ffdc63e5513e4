#include <inttypes.h>
#include <string.h>

#include "lib/store/redis.h"
#include "sluicectl/doctor/doctor.h"

enum { OLDEST_MAJOR = 7, MEMORY_PERCENT_MAX = 80 };

/** The value of `name` in INFO; empty if missing. */
static struct str info_of(struct str info, const char *name)
{
    struct str rest = info;

    while (rest.n > 0) {
        struct str line;
        struct str key;
        struct str value;
        (void)str_split(rest, '\n', &line, &rest);
        if (line.n > 0 && line.p[line.n - 1] == '\r') {
            line.n--;
        }
        if (str_split(line, ':', &key, &value) && str_equal(key, str_of(name))) {
            return value;
        }
    }
    return str_sized(NULL, 0);
}

static int64_t info_number(struct str info, const char *name)
{
    int64_t number = 0;

    (void)str_to_int64(info_of(info, name), 0, INT64_MAX, &number);
    return number;
}

/** A setting of Redis; empty if CONFIG is not permitted. */
static struct str config_of(struct doctor *doctor, struct redis *redis, const char *name)
{
    struct redis_command *command = redis_command_new(doctor->arena, "CONFIG");

    redis_command_add(command, STR("GET"));
    redis_command_add(command, str_of(name));
    const redisReply *reply = redis_call(redis, doctor->arena, command);
    if (reply == NULL || reply->type != REDIS_REPLY_ARRAY || reply->elements < 2) {
        return str_sized(NULL, 0);
    }
    return str_sized(reply->element[1]->str, reply->element[1]->len);
}

static void check_version(struct doctor *doctor, struct str info)
{
    struct str version = info_of(info, "redis_version");
    struct str major;
    struct str rest;
    int64_t number = 0;

    (void)str_split(version, '.', &major, &rest);
    (void)str_to_int64(major, 0, 1000, &number);
    doctor_check(doctor, "redis.version", number >= OLDEST_MAJOR, FINDING_FAIL,
                 "Sluice needs Redis 7.0 or later: older ones do not limit scripts to the keys "
                 "that they declare.",
                 "Redis has version %.*s", STR_ARG(version));
}

static void check_memory(struct doctor *doctor, struct str info)
{
    struct str policy = info_of(info, "maxmemory_policy");
    int64_t most = info_number(info, "maxmemory");
    int64_t used = info_number(info, "used_memory");

    doctor_check(doctor, "redis.maxmemory-policy", str_equal(policy, STR("noeviction")),
                 FINDING_FAIL,
                 "Set maxmemory-policy noeviction (CONFIG SET, and in redis.conf): with any other "
                 "Redis may evict members from the line when memory is short.",
                 "maxmemory-policy is %.*s", STR_ARG(policy));
    if (most == 0) {
        doctor_note(
            doctor, "redis.memory", FINDING_WARN,
            "Set maxmemory (CONFIG SET, and in redis.conf) to two fifths of the machine's "
            "memory, or half if Redis is alone there: without it the kernel kills Redis when "
            "memory is short, and nothing warns before. sluicectl plan computes what a "
            "crowd needs.",
            "%" PRId64 " MiB are used, without a limit", used / 1024 / 1024);
    } else {
        doctor_check(doctor, "redis.memory", used < most / 100 * MEMORY_PERCENT_MAX, FINDING_FAIL,
                     "Raise maxmemory: when it is used up, no one can enter. sluicectl plan "
                     "computes what a crowd needs.",
                     "%" PRId64 " MiB are used, of at most %" PRId64, used / 1024 / 1024,
                     most / 1024 / 1024);
    }
}

static void check_persistence(struct doctor *doctor, struct redis *redis, struct str info)
{
    struct str sync = config_of(doctor, redis, "appendfsync");
    bool writes = str_equal(info_of(info, "aof_enabled"), STR("1"));
    struct str status = info_of(info, "aof_last_write_status");

    doctor_check(doctor, "redis.append-only", writes, FINDING_FAIL,
                 "Set appendonly yes (CONFIG SET, and in redis.conf): without it a restart loses "
                 "the whole line, which is then rebuilt from the members' tickets.",
                 writes ? "the append-only file is on" : "the append-only file is off");
    if (writes && sync.n > 0) {
        doctor_check(doctor, "redis.appendfsync", !str_equal(sync, STR("no")), FINDING_FAIL,
                     "Set appendfsync everysec: a crash then loses one second of the line, not "
                     "everything that the kernel had not written yet.",
                     "appendfsync is %.*s", STR_ARG(sync));
    }
    if (writes) {
        doctor_check(doctor, "redis.append-only-write", str_equal(status, STR("ok")), FINDING_FAIL,
                     "Check Redis's log and its disk: it refuses writes until this is resolved.",
                     "the last write of the append-only file: %.*s", STR_ARG(status));
    }
}

static void check_role(struct doctor *doctor, struct redis *redis, struct str info)
{
    struct str role = info_of(info, "role");
    struct str least = config_of(doctor, redis, "min-replicas-to-write");
    int64_t replicas = info_number(info, "connected_slaves");

    doctor_check(doctor, "redis.role", str_equal(role, STR("master")), FINDING_FAIL,
                 "Name the primary in redis_socket or redis_address: a replica accepts no writes.",
                 "this Redis is a %.*s", STR_ARG(role));
    if (replicas > 0 && least.n > 0) {
        doctor_check(doctor, "redis.min-replicas", !str_equal(least, STR("0")), FINDING_WARN,
                     "Set min-replicas-to-write 1 and min-replicas-max-lag 10: that limits how "
                     "many extra members a failover can admit.",
                     "%" PRId64 " replicas, min-replicas-to-write is %.*s", replicas,
                     STR_ARG(least));
    }
}

static void check_clock(struct doctor *doctor, struct redis *redis)
{
    const redisReply *reply =
        redis_call(redis, doctor->arena, redis_command_new(doctor->arena, "TIME"));
    int64_t seconds;
    int64_t micros;

    if (reply != NULL && reply->type == REDIS_REPLY_ARRAY && reply->elements == 2 &&
        str_to_int64(str_sized(reply->element[0]->str, reply->element[0]->len), 0,
                     INT64_MAX / 1000000, &seconds) &&
        str_to_int64(str_sized(reply->element[1]->str, reply->element[1]->len), 0, 999999,
                     &micros)) {
        doctor_clock(doctor, "redis.clock", "Redis's", seconds * 1000 + micros / 1000);
    }
}

/* Where Redis is according to the settings. */
static const char *place_of(const struct settings *settings)
{
    const char *const ways[] = {settings->redis_socket, settings->redis_address,
                                settings->redis_sentinels, settings->redis_cluster};
    size_t way = 0;

    while (way + 1 < sizeof(ways) / sizeof(ways[0]) && ways[way][0] == '\0') {
        way++;
    }
    return ways[way];
}

void doctor_redis(struct doctor *doctor)
{
    const char *where = doctor->has_settings ? place_of(&doctor->settings) : "";
    if (where[0] == '\0') {
        return;
    }
    struct redis *redis = redis_new_unguarded(&doctor->settings, doctor->settings.redis_timeout_ms);
    const redisReply *reply =
        redis_call(redis, doctor->arena, redis_command_new(doctor->arena, "INFO"));
    if (reply == NULL || reply->type != REDIS_REPLY_STRING) {
        doctor_note(doctor, "redis.reach", FINDING_FAIL,
                    "Start Redis, or correct its settings; the programs' user must be allowed to "
                    "use it. Until then no one can enter or be admitted.",
                    "%s: %s", where, redis_error(redis));
    } else {
        struct str info = str_sized(reply->str, reply->len);
        doctor_note(doctor, "redis.reach", FINDING_OK, "", "%s answers", where);
        check_version(doctor, info);
        check_memory(doctor, info);
        check_persistence(doctor, redis, info);
        check_role(doctor, redis, info);
        check_clock(doctor, redis);
    }
    redis_free(redis);
}
