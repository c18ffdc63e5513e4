#include "lib/admission/queues/queue_setting_value.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "lib/admission/autopilot/autopilot_setting.h"
#include "lib/admission/gate/gate_bypass.h"
#include "lib/base/clock.h"

enum {
    NUMBER_TEXT = 64,
    POLL_TIERS_MAX = 10,
    POLL_RANK_MAX = 1000000000,
    POLL_SECONDS_MAX = 3600,
    /* Six decimal places, which a double represents well enough to be shown unchanged. */
    STEPS_PER_UNIT = 1000000
};

/* What a client's own arithmetic may add to a number, as in 100 * 1.1 = 110.00000000000001. */
static const double ARITHMETIC_ERROR = 1e-9;

bool queue_setting_refuse(struct arena *arena, struct queue_settings_fault *fault, const char *name,
                          const char *below, const char *format, ...)
{
    char sentence[512];
    va_list arguments;

    va_start(arguments, format);
    (void)vsnprintf(sentence, sizeof(sentence), format, arguments);
    va_end(arguments);
    fault->pointer = arena_format(arena, "/%s%s", name, below);
    fault->sentence = arena_copy(arena, str_of(sentence));
    return false;
}

const char *json_pointer_token(struct arena *arena, const char *name)
{
    char *token = arena_alloc(arena, 2 * strlen(name) + 1);
    size_t length = 0;

    for (; *name != '\0'; name++) {
        if (*name == '~' || *name == '/') {
            token[length++] = '~';
            token[length++] = *name == '~' ? '0' : '1';
        } else {
            token[length++] = *name;
        }
    }
    return token;
}

static double rounded_to_step(double number)
{
    return round(number * STEPS_PER_UNIT) / STEPS_PER_UNIT;
}

json_object *queue_setting_number_json(double number)
{
    char text[NUMBER_TEXT];

    number = rounded_to_step(number);
    if (number == floor(number)) {
        return json_object_new_int64((int64_t)number);
    }
    int length = snprintf(text, sizeof(text), "%.6f", number);
    while (length > 1 && text[length - 1] == '0') {
        text[--length] = '\0';
    }
    return json_object_new_double_s(number, text);
}

/** Reads a JSON number within the row's range. */
static bool number_in_range(const struct queue_setting *setting, json_object *value, double *number)
{
    if (!json_object_is_type(value, json_type_int) &&
        !json_object_is_type(value, json_type_double)) {
        return false;
    }
    *number = json_object_get_double(value);
    return isfinite(*number) && *number >= (double)setting->minimum &&
           *number <= (double)setting->maximum;
}

/** True for numbers without a fraction (1e2 and 100.0 included) within bounds, returned in
 *  `*number`. */
static bool whole_number(json_object *value, int64_t minimum, int64_t maximum, int64_t *number)
{
    const struct queue_setting range = {.minimum = minimum, .maximum = maximum};
    double read = 0;

    if (!number_in_range(&range, value, &read) || read != floor(read)) {
        return false;
    }
    *number = (int64_t)read;
    return true;
}

static bool check_number(const struct queue_setting *setting, json_object *value,
                         struct arena *arena, json_object **checked,
                         struct queue_settings_fault *fault)
{
    bool whole = setting->kind == QUEUE_SETTING_KIND_INTEGER;
    double number = 0;

    if (!number_in_range(setting, value, &number) || (whole && number != floor(number))) {
        return queue_setting_refuse(arena, fault, setting->name, "",
                                    "%s must be %s from %" PRId64 " to %" PRId64 " (%s)%s",
                                    setting->name, whole ? "a whole number" : "a number",
                                    setting->minimum, setting->maximum, setting->unit,
                                    strcmp(setting->default_json, "null") == 0 ? " or null" : "");
    }
    double rounded = rounded_to_step(number);
    if (fabs(number - rounded) > ARITHMETIC_ERROR || (rounded == 0 && number != 0)) {
        return queue_setting_refuse(arena, fault, setting->name, "",
                                    "%s must have at most 6 decimal places", setting->name);
    }
    *checked = queue_setting_number_json(number);
    return true;
}

static bool check_text(const struct queue_setting *setting, json_object *value, struct arena *arena,
                       json_object **checked, struct queue_settings_fault *fault)
{
    if (!json_object_is_type(value, json_type_string)) {
        return queue_setting_refuse(arena, fault, setting->name, "",
                                    "%s must be a text of at most %" PRId64 " bytes or null",
                                    setting->name, setting->maximum);
    }
    const char *text = json_object_get_string(value);
    int length = json_object_get_string_len(value);
    if (length > setting->maximum) {
        return queue_setting_refuse(arena, fault, setting->name, "",
                                    "%s must be at most %" PRId64 " bytes of UTF-8, it has %d",
                                    setting->name, setting->maximum, length);
    }
    for (int i = 0; i < length; i++) {
        unsigned char c = (unsigned char)text[i];
        if ((c < ' ' && c != '\n' && c != '\t') || c == 0x7f) {
            return queue_setting_refuse(
                arena, fault, setting->name, "",
                "%s must not hold control characters other than line breaks and tabs",
                setting->name);
        }
    }
    *checked = length > 0 ? json_object_new_string_len(text, length) : NULL;
    return true;
}

static bool check_time(const struct queue_setting *setting, json_object *value, struct arena *arena,
                       json_object **checked, struct queue_settings_fault *fault)
{
    char text[RFC3339_TEXT + 1];
    int64_t ms = 0;

    if (!json_object_is_type(value, json_type_string) ||
        !rfc3339_parse(
            str_sized(json_object_get_string(value), (size_t)json_object_get_string_len(value)),
            &ms)) {
        return queue_setting_refuse(
            arena, fault, setting->name, "",
            "%s must be a time from 1970 to 9998 by RFC 3339 with its zone, "
            "like 2026-01-31T12:00:00Z, or null",
            setting->name);
    }
    rfc3339_format(ms, text);
    *checked = json_object_new_string(text);
    return true;
}

/** The allowed words are the part of the description before its colon. */
static bool check_choice(const struct queue_setting *setting, json_object *value,
                         struct arena *arena, json_object **checked,
                         struct queue_settings_fault *fault)
{
    struct str words;
    struct str meaning;
    struct str word;
    struct str rest;

    (void)str_split(str_of(setting->description), ':', &words, &meaning);
    rest = words;
    while (json_object_is_type(value, json_type_string) && rest.n > 0) {
        (void)str_split(rest, '|', &word, &rest);
        if (str_equal(word, str_sized(json_object_get_string(value),
                                      (size_t)json_object_get_string_len(value)))) {
            *checked = json_object_get(value);
            return true;
        }
    }
    return queue_setting_refuse(arena, fault, setting->name, "", "%s must be one of %.*s",
                                setting->name, STR_ARG(words));
}

/** Checks one row of pollTiers; `*previous` is the last rank of the row before. */
static bool check_tier(const struct queue_setting *setting, json_object *tier, size_t index,
                       bool last, int64_t *previous, struct arena *arena, json_object *tiers,
                       struct queue_settings_fault *fault)
{
    const char *row = arena_format(arena, "/%zu", index);
    json_object *up_to = NULL;
    json_object *seconds_given = NULL;
    int64_t seconds = 0;

    if (!json_object_is_type(tier, json_type_object) || json_object_object_length(tier) != 2 ||
        !json_object_object_get_ex(tier, "upToRank", &up_to) ||
        !json_object_object_get_ex(tier, "seconds", &seconds_given)) {
        return queue_setting_refuse(arena, fault, setting->name, row,
                                    "each tier must have exactly upToRank and seconds");
    }
    if (!whole_number(seconds_given, 1, POLL_SECONDS_MAX, &seconds)) {
        return queue_setting_refuse(
            arena, fault, setting->name, arena_format(arena, "%s/seconds", row),
            "seconds must be a whole number from 1 to %d", POLL_SECONDS_MAX);
    }
    if (last != (up_to == NULL)) {
        return queue_setting_refuse(arena, fault, setting->name,
                                    arena_format(arena, "%s/upToRank", row),
                                    "upToRank must be null in the last tier, which takes all ranks "
                                    "beyond, and a number in the others");
    }
    json_object *checked = json_object_new_object();
    if (!last) {
        int64_t rank = 0;
        if (!whole_number(up_to, *previous + 1, POLL_RANK_MAX, &rank)) {
            (void)json_object_put(checked);
            return queue_setting_refuse(arena, fault, setting->name,
                                        arena_format(arena, "%s/upToRank", row),
                                        "upToRank must be a whole number from %" PRId64 " to %d, "
                                        "larger from tier to tier",
                                        *previous + 1, POLL_RANK_MAX);
        }
        *previous = rank;
        up_to = json_object_new_int64(rank);
    }
    json_object_object_add(checked, "upToRank", up_to);
    json_object_object_add(checked, "seconds", json_object_new_int64(seconds));
    json_object_array_add(tiers, checked);
    return true;
}

static bool check_poll_tiers(const struct queue_setting *setting, json_object *value,
                             struct arena *arena, json_object **checked,
                             struct queue_settings_fault *fault)
{
    size_t count =
        json_object_is_type(value, json_type_array) ? json_object_array_length(value) : 0;
    int64_t previous = -1;

    if (count < 1 || count > POLL_TIERS_MAX) {
        return queue_setting_refuse(arena, fault, setting->name, "",
                                    "pollTiers must be null or an array of 1 to %d tiers, each "
                                    "{\"upToRank\", \"seconds\"}",
                                    POLL_TIERS_MAX);
    }
    json_object *tiers = json_object_new_array();
    for (size_t i = 0; i < count; i++) {
        if (!check_tier(setting, json_object_array_get_idx(value, i), i, i + 1 == count, &previous,
                        arena, tiers, fault)) {
            (void)json_object_put(tiers);
            return false;
        }
    }
    *checked = tiers;
    return true;
}

bool queue_setting_check(const struct queue_setting *setting, json_object *value,
                         struct arena *arena, json_object **checked,
                         struct queue_settings_fault *fault)
{
    *checked = NULL;
    if (value == NULL && strcmp(setting->default_json, "null") == 0) {
        return true;
    }
    switch (setting->kind) {
    case QUEUE_SETTING_KIND_INTEGER:
    case QUEUE_SETTING_KIND_NUMBER:
        return check_number(setting, value, arena, checked, fault);
    case QUEUE_SETTING_KIND_BOOLEAN:
        if (!json_object_is_type(value, json_type_boolean)) {
            return queue_setting_refuse(arena, fault, setting->name, "", "%s must be true or false",
                                        setting->name);
        }
        *checked = json_object_get(value);
        return true;
    case QUEUE_SETTING_KIND_TEXT:
        return check_text(setting, value, arena, checked, fault);
    case QUEUE_SETTING_KIND_TIME:
        return check_time(setting, value, arena, checked, fault);
    case QUEUE_SETTING_KIND_CHOICE:
        return check_choice(setting, value, arena, checked, fault);
    case QUEUE_SETTING_KIND_JSON:
        if (setting == queue_setting(QUEUE_SETTING_pollTiers)) {
            return check_poll_tiers(setting, value, arena, checked, fault);
        }
        if (setting == queue_setting(QUEUE_SETTING_autopilot)) {
            return autopilot_setting_check(value, arena, checked, fault);
        }
        if (setting == queue_setting(QUEUE_SETTING_bypass)) {
            *checked = gate_bypass_check(value, arena, fault) ? json_object_get(value) : NULL;
            return *checked != NULL;
        }
        break;
    }
    return queue_setting_refuse(arena, fault, setting->name, "",
                                "only null is offered by this version for %s", setting->name);
}

bool queue_setting_is_known(const char *name)
{
    for (int i = 0; i < QUEUE_SETTING_COUNT; i++) {
        if (strcmp(queue_setting((enum queue_setting_number)i)->name, name) == 0) {
            return true;
        }
    }
    return false;
}

void queue_settings_keep_unknown(json_object *base, json_object *merged)
{
    if (base == NULL) {
        return;
    }
    json_object_object_foreach(base, name, value)
    {
        if (!queue_setting_is_known(name)) {
            json_object_object_add(merged, name, json_object_get(value));
        }
    }
}
