#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "lib/admission/opening_plan.h"
#include "lib/admission/queues/queue_setting_value.h"
#include "sluicectl/commands.h"
#include "sluicectl/output/table.h"

enum { PERCENT = 100, MIB = 1 << 20, PICKUP_USUAL_S = 90, LEVEL_USUAL_MS = 200 };

/* Parses a decimal number of an option; false, with a message, if it is out of range. */
static bool read_number(const char *option, const char *text, double least, double most,
                        double otherwise, double *number)
{
    char *end;

    *number = otherwise;
    if (text[0] == '\0') {
        return true;
    }
    *number = strtod(text, &end);
    if (*end != '\0' || end == text || !(*number >= least && *number <= most)) {
        (void)misused("--%s must be a number from %g to %.10g", option, least, most);
        return false;
    }
    return true;
}

static bool read_plan(const struct invocation *invocation, struct opening_plan *plan)
{
    *plan = (struct opening_plan){.users = invocation->users,
                                  .arrive_s = invocation->arrive_s,
                                  .max_active = invocation->active,
                                  .visit_s = invocation->visit_s,
                                  .pickup_s = PICKUP_USUAL_S,
                                  .order_p95_ms = LEVEL_USUAL_MS};
    if (!read_number("rate", invocation->rate, 0.01, 100000, 50, &plan->rate) ||
        !read_number("no-show", invocation->no_show, 0, 0.95, 0, &plan->no_shows) ||
        !read_number("capacity", invocation->capacity, 0, 1000000, 0, &plan->capacity) ||
        !read_number("ceiling", invocation->ceiling, 0.01, 100000, 0, &plan->ceiling)) {
        return false;
    }
    plan->autopilot = plan->ceiling > 0;
    if (plan->autopilot && plan->ceiling < plan->rate) {
        (void)misused("--ceiling must not be below --rate");
        return false;
    }
    return true;
}

static void add(json_object *object, const char *name, double number)
{
    json_object_object_add(object, name,
                           queue_setting_number_json(round(number * PERCENT) / PERCENT));
}

static json_object *forecast_json(const struct invocation *invocation,
                                  const struct opening_forecast *forecast)
{
    json_object *object = scratch_object(invocation);

    json_object_object_add(object, "complete", json_object_new_boolean(forecast->complete));
    add(object, "lastAdmittedAfterSeconds", (double)forecast->ends_s);
    add(object, "waitP50Seconds", forecast->wait_p50_s);
    add(object, "waitP95Seconds", forecast->wait_p95_s);
    add(object, "longestWaitSeconds", forecast->wait_longest_s);
    add(object, "longestLine", (double)forecast->longest_line);
    add(object, "mostActive", (double)forecast->most_active);
    add(object, "pollsPerSecondAtMost", forecast->most_polls);
    add(object, "pollsPerSecondOnAverage", forecast->mean_polls);
    add(object, "entriesPerSecondAtMost", forecast->most_entries);
    add(object, "ordersPerSecondAtMost", forecast->most_orders);
    add(object, "ratePerSecondAtTheEnd", forecast->last_rate);
    json_object_object_add(object, "overloaded", json_object_new_boolean(forecast->overloaded));
    json_object_object_add(object, "limitedByPlaces",
                           json_object_new_boolean(forecast->room_limits));
    add(object, "redisMiB", (double)forecast->redis_bytes / MIB);
    add(object, "queueWorkers", (double)forecast->queue_workers);
    add(object, "orderWorkers", (double)forecast->order_workers);
    return object;
}

static void print_duration(struct table *table, struct arena *arena, const char *what,
                           double seconds)
{
    int64_t whole = llround(seconds);

    table_add(table, what);
    table_add(table, arena_format(arena, "%lld:%02lld:%02lld", (long long)(whole / 3600),
                                  (long long)(whole / 60 % 60), (long long)(whole % 60)));
}

static void print_number(struct table *table, struct arena *arena, const char *what, double number)
{
    table_add(table, what);
    table_add(table, arena_format(arena, number < 10 ? "%.1f" : "%.0f", number));
}

static void say_what_follows(const struct opening_plan *plan,
                             const struct opening_forecast *forecast)
{
    if (!forecast->complete) {
        printf("After a week members would still wait: the rate is too low for so many.\n");
    }
    if (forecast->room_limits) {
        printf("The places are the limit, not the rate: raise --active to admit faster.\n");
    }
    if (forecast->overloaded) {
        printf("There are more orders than --capacity allows: %s\n",
               plan->autopilot ? "the autopilot lowers the rate at times."
                               : "lower --rate, or let the autopilot do it (--ceiling).");
    }
}

static void print_forecast(const struct invocation *invocation, const struct opening_plan *plan,
                           const struct opening_forecast *forecast)
{
    struct arena *arena = invocation->arena;
    struct table table;

    table_init(&table, arena, "lr");
    print_duration(&table, arena, "the last one is admitted after", (double)forecast->ends_s);
    print_duration(&table, arena, "half wait no longer than", forecast->wait_p50_s);
    print_duration(&table, arena, "95 of 100 wait no longer than", forecast->wait_p95_s);
    print_number(&table, arena, "longest line", (double)forecast->longest_line);
    print_number(&table, arena, "most places taken at once", (double)forecast->most_active);
    print_number(&table, arena, "polls a second, at most", forecast->most_polls);
    print_number(&table, arena, "polls a second, on average", forecast->mean_polls);
    print_number(&table, arena, "entries a second, at most", forecast->most_entries);
    print_number(&table, arena, "orders a second, at most", forecast->most_orders);
    print_number(&table, arena, "rate at the end", forecast->last_rate);
    print_number(&table, arena, "MiB of Redis for it", (double)forecast->redis_bytes / MIB);
    print_number(&table, arena, "queue workers (a core each)", (double)forecast->queue_workers);
    print_number(&table, arena, "order workers", (double)forecast->order_workers);
    table_print(&table);
    say_what_follows(plan, forecast);
}

enum exit_code command_plan(const struct command *command, const struct invocation *invocation)
{
    struct opening_plan plan;
    struct opening_forecast forecast;

    (void)command;
    if (!read_plan(invocation, &plan)) {
        return EXIT_USAGE;
    }
    opening_plan_run(&plan, &forecast);
    if (invocation->json) {
        print_json(forecast_json(invocation, &forecast));
    } else {
        print_forecast(invocation, &plan, &forecast);
    }
    return EXIT_DONE;
}
