#include "lib/admission/autopilot/autopilot_setting.h"

#include <math.h>
#include <string.h>

#include "lib/admission/queues/queue_setting_value.h"

enum { LATENCY_MOST_MS = 60000, RATE_MOST = 100000, THOUSANDTHS = 1000 };

static const char SETTING_NAME[] = "autopilot";

/* A field: its range and its default. */
struct field {
    const char *name;
    bool is_switch;
    bool may_be_null;
    double least;
    double most;
    double usual; /* default; of a switch 0 or 1; unused if null is the default */
};

static const struct field FIELDS[] = {
    {.name = "enabled", .is_switch = true, .usual = 1},
    {.name = "orderP95Ms", .least = 1, .most = LATENCY_MOST_MS, .usual = 200},
    {.name = "originP95Ms", .may_be_null = true, .least = 1, .most = LATENCY_MOST_MS},
    {.name = "maxErrorPercent", .least = 0, .most = 100, .usual = 0.1},
    {.name = "floor", .least = 0.1, .most = RATE_MOST, .usual = 1},
    {.name = "ceiling", .may_be_null = true, .least = 0.1, .most = RATE_MOST},
    {.name = "noShows", .is_switch = true, .usual = 1},
};

enum { FIELD_COUNT = sizeof(FIELDS) / sizeof(FIELDS[0]) };

static const struct field *field_named(const char *name)
{
    for (size_t i = 0; i < FIELD_COUNT; i++) {
        if (strcmp(FIELDS[i].name, name) == 0) {
            return &FIELDS[i];
        }
    }
    return NULL;
}

static json_object *usual_value(const struct field *field)
{
    if (field->may_be_null) {
        return NULL;
    }
    return field->is_switch ? json_object_new_boolean(field->usual > 0)
                            : queue_setting_number_json(field->usual);
}

static double rounded_to_thousandth(double number)
{
    return round(number * THOUSANDTHS) / THOUSANDTHS;
}

/* At most three decimal places, so that the value is shown as it was sent, save for what a client's
 * own arithmetic adds to a number. */
static bool number_is_fit(const struct field *field, json_object *value)
{
    double number = json_object_get_double(value);
    double rounded = rounded_to_thousandth(number);

    return (json_object_is_type(value, json_type_int) ||
            json_object_is_type(value, json_type_double)) &&
           isfinite(number) && number >= field->least && number <= field->most &&
           fabs(number - rounded) < 1e-6 && (rounded != 0 || number == 0);
}

static bool check_field(const struct field *field, json_object *value, struct arena *arena,
                        json_object *complete, struct queue_settings_fault *fault)
{
    const char *below = arena_format(arena, "/%s", field->name);

    if (value == NULL && field->may_be_null) {
        json_object_object_add(complete, field->name, NULL);
        return true;
    }
    if (field->is_switch) {
        if (!json_object_is_type(value, json_type_boolean)) {
            return queue_setting_refuse(arena, fault, SETTING_NAME, below,
                                        "%s must be true or false", field->name);
        }
        json_object_object_add(complete, field->name, json_object_get(value));
        return true;
    }
    if (!number_is_fit(field, value)) {
        return queue_setting_refuse(
            arena, fault, SETTING_NAME, below,
            "%s must be a number from %g to %.0f with at most 3 decimal places%s", field->name,
            field->least, field->most, field->may_be_null ? ", or null" : "");
    }
    json_object_object_add(
        complete, field->name,
        queue_setting_number_json(rounded_to_thousandth(json_object_get_double(value))));
    return true;
}

static double number_in(json_object *value, const char *name, double otherwise)
{
    json_object *number = NULL;

    return json_object_object_get_ex(value, name, &number) && number != NULL
               ? json_object_get_double(number)
               : otherwise;
}

static bool switch_in(json_object *value, const char *name)
{
    return json_object_get_boolean(json_object_object_get(value, name)) != 0;
}

static bool fill(json_object *value, struct arena *arena, json_object *complete,
                 struct queue_settings_fault *fault)
{
    for (size_t i = 0; i < FIELD_COUNT; i++) {
        json_object *given = NULL;
        if (!json_object_object_get_ex(value, FIELDS[i].name, &given)) {
            json_object_object_add(complete, FIELDS[i].name, usual_value(&FIELDS[i]));
        } else if (!check_field(&FIELDS[i], given, arena, complete, fault)) {
            return false;
        }
    }
    if (number_in(complete, "floor", 0) > number_in(complete, "ceiling", RATE_MOST)) {
        return queue_setting_refuse(arena, fault, SETTING_NAME, "/floor",
                                    "floor must not be above ceiling");
    }
    return true;
}

bool autopilot_setting_check(json_object *value, struct arena *arena, json_object **checked,
                             struct queue_settings_fault *fault)
{
    if (!json_object_is_type(value, json_type_object)) {
        return queue_setting_refuse(arena, fault, SETTING_NAME, "",
                                    "autopilot must be null or an object of enabled, orderP95Ms, "
                                    "originP95Ms, maxErrorPercent, floor, ceiling and noShows");
    }
    json_object_object_foreach(value, name, unused)
    {
        (void)unused;
        if (field_named(name) == NULL) {
            return queue_setting_refuse(arena, fault, SETTING_NAME,
                                        arena_format(arena, "/%s", json_pointer_token(arena, name)),
                                        "There is no such field of autopilot");
        }
    }
    json_object *complete = json_object_new_object();
    if (!fill(value, arena, complete, fault)) {
        (void)json_object_put(complete);
        return false;
    }
    *checked = complete;
    return true;
}

bool autopilot_setting_goal(json_object *value, double rate, struct autopilot_goal *goal)
{
    if (!json_object_is_type(value, json_type_object) || !switch_in(value, "enabled") ||
        !(rate > 0)) {
        return false;
    }
    goal->start = rate;
    goal->ceiling = number_in(value, "ceiling", rate);
    goal->floor = fmin(number_in(value, "floor", 1), fmin(goal->ceiling, rate));
    goal->order_p95_ms = number_in(value, "orderP95Ms", 200);
    goal->origin_p95_ms = number_in(value, "originP95Ms", goal->order_p95_ms);
    goal->most_dropped = number_in(value, "maxErrorPercent", 0.1) / 100;
    goal->no_shows = switch_in(value, "noShows");
    return true;
}
