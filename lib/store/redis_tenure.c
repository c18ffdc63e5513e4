#include "lib/store/redis_tenure.h"

#include "lib/store/redis_reply.h"

/* A field that the hash always has. */
static const struct str SINCE = {.p = "since", .n = 5};

struct redis_command *redis_tenure_ask(struct arena *arena)
{
    struct redis_command *command = redis_command_new(arena, "INFO");

    redis_command_add(command, STR("server"));
    redis_command_add(command, STR("replication"));
    return command;
}

/* The value of the line "name:value\r\n". */
static struct str line_of(struct str info, struct str name)
{
    while (info.n > 0) {
        struct str line;
        struct str key;
        struct str value;
        (void)str_split(info, '\n', &line, &info);
        if (str_split(line, ':', &key, &value) && str_equal(key, name)) {
            value.n -= value.n > 0 && value.p[value.n - 1] == '\r' ? 1 : 0;
            return value;
        }
    }
    return str_sized(NULL, 0);
}

static bool is_zeros(struct str text)
{
    for (size_t i = 0; i < text.n; i++) {
        if (text.p[i] != '0') {
            return false;
        }
    }
    return true;
}

bool redis_tenure_read(const redisReply *reply, struct redis_tenure *tenure)
{
    if (reply == NULL || reply->type != REDIS_REPLY_STRING) {
        return false;
    }
    struct str info = str_sized(reply->str, (size_t)reply->len);
    struct str run = line_of(info, STR("run_id"));
    struct str id = line_of(info, STR("master_replid"));
    if (run.n != REDIS_RUN_TEXT || id.n != REDIS_RUN_TEXT) {
        return false;
    }
    str_copy(run, tenure->run, sizeof(tenure->run));
    str_copy(id, tenure->id, sizeof(tenure->id));
    tenure->is_primary = str_equal(line_of(info, STR("role")), STR("master"));
    tenure->is_first = is_zeros(line_of(info, STR("master_replid2")));
    return true;
}

struct redis_command *redis_tenure_known(struct arena *arena, const struct redis_tenure *tenure)
{
    struct redis_command *command = redis_command_new(arena, "HMGET");

    redis_command_add(command, STR(REDIS_TENURES));
    redis_command_add(command, str_of(tenure->run));
    redis_command_add(command, SINCE);
    return command;
}

bool redis_tenure_is(const struct redis_tenure *tenure, struct str id)
{
    return str_equal(str_of(tenure->id), id) || (id.n > 0 && tenure->is_first);
}

bool redis_tenure_is_known(const redisReply *reply, const struct redis_tenure *tenure)
{
    if (reply == NULL || reply->type != REDIS_REPLY_ARRAY || reply->elements != 2) {
        return false;
    }
    struct str since = redis_reply_text(reply, 1);
    return since.n == 0 || redis_tenure_is(tenure, redis_reply_text(reply, 0));
}
