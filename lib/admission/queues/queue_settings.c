#include "lib/admission/queues/queue_settings.h"

#include <inttypes.h>
#include <string.h>

#include "lib/admission/autopilot/autopilot_setting.h"
#include "lib/admission/queues/queue_setting_value.h"
#include "lib/base/clock.h"

static const struct queue_setting SETTINGS[QUEUE_SETTING_COUNT] = {
#define SETTING(name, kind, minimum, maximum, default_json, unit, description)                     \
    {#name, QUEUE_SETTING_KIND_##kind, minimum, maximum, default_json, unit, description},
#include "lib/admission/queues/queue_settings.tbl"
#undef SETTING
};

/* Other fields that GET shows beside the settings. */
static const char *const SURROUNDINGS[] = {
    "queue",       "id",      "state",     "epoch",     "operatorState",
    "incarnation", "version", "createdAt", "updatedAt", "lotteryCommitment"};

/** The parameters of a merge into a complete set. */
struct merge {
    struct arena *arena;
    struct queue_settings_fault *fault;
    json_object *base; /* NULL: the defaults */
    json_object *given;
    bool surroundings_allowed;
};

static void release_json(void *object)
{
    (void)json_object_put(object);
}

const struct queue_setting *queue_setting(enum queue_setting_number number)
{
    return &SETTINGS[number];
}

static bool is_surroundings(const char *name)
{
    for (size_t i = 0; i < sizeof(SURROUNDINGS) / sizeof(SURROUNDINGS[0]); i++) {
        if (strcmp(SURROUNDINGS[i], name) == 0) {
            return true;
        }
    }
    return false;
}

/** The setting's default: a new reference. */
static json_object *default_value(const struct queue_setting *setting)
{
    return json_tokener_parse(setting->default_json);
}

/* Before other values existed, entryCaptcha was false; files and PostgreSQL may still have that. */
static bool is_old_spelling(const struct queue_setting *setting, json_object *value)
{
    return setting == &SETTINGS[QUEUE_SETTING_entryCaptcha] &&
           json_object_is_type(value, json_type_boolean) && !json_object_get_boolean(value);
}

/** The setting's value in a complete or older set: a new reference. */
static json_object *value_of(json_object *settings, const struct queue_setting *setting)
{
    json_object *value = NULL;

    if (!json_object_object_get_ex(settings, setting->name, &value) ||
        is_old_spelling(setting, value)) {
        return default_value(setting);
    }
    if (json_object_is_type(value, json_type_double)) {
        return queue_setting_number_json(json_object_get_double(value));
    }
    return json_object_get(value);
}

static double number_of(json_object *settings, enum queue_setting_number number)
{
    json_object *value = value_of(settings, &SETTINGS[number]);
    double read = json_object_get_double(value);

    (void)json_object_put(value);
    return read;
}

/** A time setting in ms since 1970, -1 for none. */
static int64_t time_of(json_object *settings, enum queue_setting_number number)
{
    json_object *value = value_of(settings, &SETTINGS[number]);
    int64_t ms = -1;

    if (value != NULL && !rfc3339_parse(str_of(json_object_get_string(value)), &ms)) {
        ms = -1;
    }
    (void)json_object_put(value);
    return ms;
}

static double larger(double a, double b)
{
    return a > b ? a : b;
}

/** The admissions that one tick yields. */
static double tick_tokens(json_object *settings)
{
    return number_of(settings, QUEUE_SETTING_ratePerSecond) *
           number_of(settings, QUEUE_SETTING_tickMs) / 1000;
}

/** The automatic burst for rate and tick: at least one member, or nobody would ever be admitted. */
static double automatic_burst(json_object *settings)
{
    return larger(1,
                  larger(number_of(settings, QUEUE_SETTING_ratePerSecond), tick_tokens(settings)));
}

/** True if both are shown as the same number. */
static bool same_number(double a, double b)
{
    return a - b < 1e-6 && b - a < 1e-6;
}

static bool refuse_unknown(const struct merge *merge)
{
    json_object_object_foreach(merge->given, name, value)
    {
        (void)value;
        if (queue_setting_is_known(name)) {
            continue;
        }
        if (!is_surroundings(name)) {
            return queue_setting_refuse(merge->arena, merge->fault,
                                        json_pointer_token(merge->arena, name), "",
                                        "There is no setting of that name");
        }
        if (!merge->surroundings_allowed) {
            return queue_setting_refuse(merge->arena, merge->fault, name, "",
                                        "%s is no setting and cannot be changed here; the state is "
                                        "changed by the actions",
                                        name);
        }
    }
    return true;
}

/* The previous release has a boolean there and would refuse every change of a queue that has a
 * word: "none" is therefore omitted. */
static bool is_omitted(const struct queue_setting *setting, json_object *value)
{
    return setting == &SETTINGS[QUEUE_SETTING_entryCaptcha] &&
           strcmp(json_object_get_string(value), "none") == 0;
}

static bool merge_value(const struct merge *merge, const struct queue_setting *setting,
                        json_object *merged)
{
    json_object *value = NULL;

    if (json_object_object_get_ex(merge->given, setting->name, &value) &&
        !is_old_spelling(setting, value)) {
        if (!queue_setting_check(setting, value, merge->arena, &value, merge->fault)) {
            return false;
        }
    } else {
        value = value == NULL ? value_of(merge->base, setting) : default_value(setting);
    }
    if (is_omitted(setting, value)) {
        (void)json_object_put(value);
        return true;
    }
    json_object_object_add(merged, setting->name, value);
    return true;
}

/* The admissions that one tick yields at the autopilot's ceiling. */
static double most_tick_tokens(json_object *settings)
{
    json_object *value = value_of(settings, &SETTINGS[QUEUE_SETTING_autopilot]);
    double tokens = tick_tokens(settings);
    struct autopilot_goal goal;

    if (autopilot_setting_goal(value, number_of(settings, QUEUE_SETTING_ratePerSecond), &goal)) {
        tokens = larger(tokens, goal.ceiling * number_of(settings, QUEUE_SETTING_tickMs) / 1000);
    }
    (void)json_object_put(value);
    return tokens;
}

/** A given burst that equals the automatic one becomes automatic, so that it follows the rate. */
static bool settle_burst(const struct merge *merge, json_object *merged)
{
    const char *name = SETTINGS[QUEUE_SETTING_burst].name;
    double least = larger(1, most_tick_tokens(merged));
    double burst = number_of(merged, QUEUE_SETTING_burst);

    if (json_object_object_get(merged, name) == NULL) {
        return true;
    }
    if (json_object_object_get_ex(merge->given, name, NULL) &&
        same_number(burst, automatic_burst(merged))) {
        json_object_object_add(merged, name, NULL);
        return true;
    }
    if (burst < least && !same_number(burst, least)) {
        json_object *shown = queue_setting_number_json(least);
        (void)queue_setting_refuse(
            merge->arena, merge->fault, name, "",
            "burst must be null (automatic) or a number from %s (what "
            "ratePerSecond, or the autopilot's ceiling, brings in one tickMs, which would be lost "
            "otherwise) to %" PRId64,
            json_object_get_string(shown), SETTINGS[QUEUE_SETTING_burst].maximum);
        (void)json_object_put(shown);
        return false;
    }
    return true;
}

/* The longest pause of the queue's own poll tiers, 0 without any. */
static int64_t longest_poll_s(json_object *merged)
{
    json_object *tiers = value_of(merged, &SETTINGS[QUEUE_SETTING_pollTiers]);
    int64_t longest = 0;

    for (size_t i = 0; tiers != NULL && i < json_object_array_length(tiers); i++) {
        json_object *tier = json_object_array_get_idx(tiers, i);
        int64_t seconds = json_object_get_int64(json_object_object_get(tier, "seconds"));
        longest = seconds > longest ? seconds : longest;
    }
    (void)json_object_put(tiers);
    return longest;
}

static bool is_lottery(json_object *merged)
{
    json_object *mode = value_of(merged, &SETTINGS[QUEUE_SETTING_mode]);
    bool is = strcmp(json_object_get_string(mode), "lottery") == 0;

    (void)json_object_put(mode);
    return is;
}

static bool check_together(const struct merge *merge, json_object *merged)
{
    int64_t opens = time_of(merged, QUEUE_SETTING_opensAt);
    int64_t closes = time_of(merged, QUEUE_SETTING_closesAt);

    if (opens >= 0 && closes >= 0 && opens >= closes) {
        return queue_setting_refuse(merge->arena, merge->fault, "closesAt", "",
                                    "closesAt must be later than opensAt");
    }
    if (opens < 0 && is_lottery(merged)) {
        return queue_setting_refuse(merge->arena, merge->fault, "opensAt", "",
                                    "a lottery must have its opensAt: the draw is among those who "
                                    "entered before");
    }
    if (number_of(merged, QUEUE_SETTING_pickupSeconds) <= (double)longest_poll_s(merged)) {
        return queue_setting_refuse(merge->arena, merge->fault, "pickupSeconds", "",
                                    "pickupSeconds must be above the longest pause of pollTiers, "
                                    "or a client that polls as asked never sees the token");
    }
    return true;
}

/** Merges base and given into a complete, validated set; NULL with the fault filled. */
static json_object *merged_settings(const struct merge *merge)
{
    json_object *merged = json_object_new_object();

    arena_on_reset(merge->arena, release_json, merged);
    if (!refuse_unknown(merge)) {
        return NULL;
    }
    for (size_t i = 0; i < QUEUE_SETTING_COUNT; i++) {
        if (!merge_value(merge, &SETTINGS[i], merged)) {
            return NULL;
        }
    }
    queue_settings_keep_unknown(merge->base, merged);
    if (!settle_burst(merge, merged) || !check_together(merge, merged)) {
        return NULL;
    }
    return merged;
}

json_object *queue_settings_replace(struct arena *arena, json_object *given,
                                    struct queue_settings_fault *fault)
{
    const struct merge merge = {
        .arena = arena, .fault = fault, .given = given, .surroundings_allowed = true};

    return merged_settings(&merge);
}

json_object *queue_settings_change(struct arena *arena, json_object *stored, json_object *given,
                                   struct queue_settings_fault *fault)
{
    const struct merge merge = {.arena = arena, .fault = fault, .base = stored, .given = given};

    return merged_settings(&merge);
}

/** The value in force: an automatic burst as its number. A new reference. */
static json_object *value_in_force(json_object *stored, const struct queue_setting *setting)
{
    json_object *value = value_of(stored, setting);

    if (value == NULL && setting == &SETTINGS[QUEUE_SETTING_burst]) {
        return queue_setting_number_json(automatic_burst(stored));
    }
    return value;
}

void queue_settings_show(json_object *stored, json_object *answer)
{
    for (size_t i = 0; i < QUEUE_SETTING_COUNT; i++) {
        json_object_object_add(answer, SETTINGS[i].name, value_in_force(stored, &SETTINGS[i]));
    }
}

static struct str flat_value(struct arena *arena, const struct queue_setting *setting,
                             json_object *value)
{
    int64_t ms = 0;

    if (value == NULL) {
        return str_sized(NULL, 0);
    }
    switch (setting->kind) {
    case QUEUE_SETTING_KIND_TIME:
        return rfc3339_parse(str_of(json_object_get_string(value)), &ms)
                   ? str_of(arena_int(arena, ms))
                   : str_sized(NULL, 0);
    case QUEUE_SETTING_KIND_BOOLEAN:
        return json_object_get_boolean(value) ? STR("1") : STR("0");
    case QUEUE_SETTING_KIND_TEXT:
    case QUEUE_SETTING_KIND_CHOICE:
        return str_of(arena_copy(arena, str_of(json_object_get_string(value))));
    case QUEUE_SETTING_KIND_INTEGER:
    case QUEUE_SETTING_KIND_NUMBER:
    case QUEUE_SETTING_KIND_JSON:
        break;
    }
    return str_of(
        arena_copy(arena, str_of(json_object_to_json_string_ext(
                              value, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE))));
}

void queue_settings_flatten(struct arena *arena, json_object *stored,
                            struct str fields[2 * QUEUE_SETTING_COUNT])
{
    for (size_t i = 0; i < QUEUE_SETTING_COUNT; i++) {
        json_object *value = value_in_force(stored, &SETTINGS[i]);
        fields[2 * i] = str_of(SETTINGS[i].name);
        fields[2 * i + 1] = flat_value(arena, &SETTINGS[i], value);
        (void)json_object_put(value);
    }
}

void queue_settings_rates(struct arena *arena, json_object *stored, struct queue_rates *rates)
{
    json_object *autopilot = value_of(stored, &SETTINGS[QUEUE_SETTING_autopilot]);
    struct autopilot_goal goal;

    *rates =
        (struct queue_rates){.burst_is_automatic = json_object_object_get(stored, "burst") == NULL};
    if (autopilot_setting_goal(autopilot, number_of(stored, QUEUE_SETTING_ratePerSecond), &goal)) {
        rates->floor = str_of(arena_format(arena, "%.6f", goal.floor));
        rates->ceiling = str_of(arena_format(arena, "%.6f", goal.ceiling));
    }
    (void)json_object_put(autopilot);
}

const char *queue_settings_state(json_object *stored, const char *operator_state, bool sold_out,
                                 int64_t now_ms)
{
    int64_t opens = time_of(stored, QUEUE_SETTING_opensAt);
    int64_t closes = time_of(stored, QUEUE_SETTING_closesAt);

    if (closes >= 0 && now_ms >= closes) {
        return "CLOSED";
    }
    if (sold_out || strcmp(operator_state, "SOLD_OUT") == 0) {
        return "SOLD_OUT";
    }
    if (opens >= 0 && now_ms < opens) {
        return "PRE_OPEN";
    }
    return operator_state;
}
