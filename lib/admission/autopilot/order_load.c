#include "lib/admission/autopilot/order_load.h"

#include <math.h>

static const char *const BUCKET_NAMES[LOAD_BUCKETS] = {
    "b0",  "b1",  "b2",  "b3",  "b4",  "b5",  "b6",  "b7",  "b8",  "b9",  "b10",
    "b11", "b12", "b13", "b14", "b15", "b16", "b17", "b18", "b19", "b20", "b21",
    "b22", "b23", "b24", "b25", "b26", "b27", "b28", "b29", "b30", "b31"};

double order_load_bucket_end(int bucket)
{
    return exp2(bucket / 2.0);
}

int order_load_bucket(double ms)
{
    int bucket = 0;

    while (bucket < LOAD_BUCKETS - 1 && ms > order_load_bucket_end(bucket)) {
        bucket++;
    }
    return bucket;
}

struct str order_load_answered(int64_t ms)
{
    return str_of(BUCKET_NAMES[order_load_bucket((double)ms)]);
}

struct str order_load_error(void)
{
    return STR("errors");
}

struct str order_load_timeout(void)
{
    return STR("timeouts");
}

enum outcome order_load_add(struct redis *redis, struct arena *arena, struct str queue,
                            struct str field)
{
    struct redis_command *command = redis_command_script(arena, SCRIPT_LOAD_ADD, queue);

    redis_command_add(command, field);
    redis_command_add(command, STR("1"));
    return outcome_of(redis_call(redis, arena, command));
}

static void add_field(struct redis_command *command, struct str name, int64_t count)
{
    if (count > 0) {
        redis_command_add(command, name);
        redis_command_add_int(command, count);
    }
}

enum outcome order_load_add_counts(struct redis *redis, struct arena *arena, struct str queue,
                                   enum load_source source, const struct load_counts *counts)
{
    struct redis_command *command = redis_command_script(arena, SCRIPT_LOAD_ADD, queue);
    bool orders = source == LOAD_ORDERS;

    for (int i = 0; i < LOAD_BUCKETS; i++) {
        add_field(command, str_of(orders ? BUCKET_NAMES[i] : arena_format(arena, "o%d", i)),
                  counts->buckets[i]);
    }
    add_field(command, orders ? order_load_error() : STR("oErrors"), counts->errors);
    add_field(command, orders ? order_load_timeout() : STR("oTimeouts"), counts->timeouts);
    if (orders) {
        add_field(command, STR("busy"), counts->busy);
    }
    return outcome_of(redis_call(redis, arena, command));
}

void order_load_read_field(struct str field, int64_t count, struct load_counts *orders,
                           struct load_counts *origin)
{
    const struct {
        struct str name;
        int64_t *into;
    } others[] = {
        {STR("errors"), &orders->errors},      {STR("timeouts"), &orders->timeouts},
        {STR("busy"), &orders->busy},          {STR("oErrors"), &origin->errors},
        {STR("oTimeouts"), &origin->timeouts},
    };
    int64_t bucket = 0;

    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        if (str_equal(field, others[i].name)) {
            *others[i].into = count;
            return;
        }
    }
    if (field.n > 1 && (field.p[0] == 'b' || field.p[0] == 'o') &&
        str_to_int64(str_sized(field.p + 1, field.n - 1), 0, LOAD_BUCKETS - 1, &bucket)) {
        (field.p[0] == 'b' ? orders : origin)->buckets[bucket] = count;
    }
}
