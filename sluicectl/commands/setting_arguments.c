#include "sluicectl/commands/setting_arguments.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sluicectl/invocation.h"
#include "sluicectl/output/table.h"

static const char *const UNITS[] = {"-per-second", "-seconds", "-ms"};

const char *setting_short_name(struct arena *arena, const struct queue_setting *setting)
{
    char *name = arena_alloc(arena, 2 * strlen(setting->name) + 1);
    size_t length = 0;

    for (const char *c = setting->name; *c != '\0'; c++) {
        if (isupper((unsigned char)*c)) {
            name[length++] = '-';
        }
        name[length++] = (char)tolower((unsigned char)*c);
    }
    for (size_t i = 0; i < sizeof(UNITS) / sizeof(UNITS[0]); i++) {
        size_t unit = strlen(UNITS[i]);
        if (length > unit && strcmp(name + length - unit, UNITS[i]) == 0) {
            name[length - unit] = '\0';
            break;
        }
    }
    return name;
}

static const struct queue_setting *setting_called(struct arena *arena, struct str name)
{
    for (int i = 0; i < QUEUE_SETTING_COUNT; i++) {
        const struct queue_setting *setting = queue_setting((enum queue_setting_number)i);
        if (str_equal(name, str_of(setting->name)) ||
            str_equal(name, str_of(setting_short_name(arena, setting)))) {
            return setting;
        }
    }
    return NULL;
}

static bool read_number(const char *text, json_object **value)
{
    char *end = NULL;
    int64_t whole = 0;

    if (str_to_int64(str_of(text), INT64_MIN, INT64_MAX, &whole)) {
        *value = json_object_new_int64(whole);
        return true;
    }
    double number = strtod(text, &end);
    if (end == text || *end != '\0' || !isfinite(number) || strpbrk(text, "xX \t") != NULL) {
        return false;
    }
    *value = json_object_new_double(number);
    return true;
}

static bool read_boolean(const char *text, json_object **value)
{
    bool yes = strcmp(text, "true") == 0 || strcmp(text, "yes") == 0;

    if (!yes && strcmp(text, "false") != 0 && strcmp(text, "no") != 0) {
        return false;
    }
    *value = json_object_new_boolean(yes);
    return true;
}

/** JSON of any type; strict, so that a typo is not sent as something else. */
static bool read_json(const char *text, json_object **value)
{
    json_tokener *tokener = json_tokener_new();

    json_tokener_set_flags(tokener, JSON_TOKENER_STRICT);
    *value = json_tokener_parse_ex(tokener, text, (int)strlen(text) + 1);
    bool whole = json_tokener_get_error(tokener) == json_tokener_success;
    json_tokener_free(tokener);
    return whole;
}

/** Empty text, "null" and, for the burst, "auto" mean null if the setting may be null. */
static bool is_null(const struct queue_setting *setting, const char *text)
{
    return strcmp(setting->default_json, "null") == 0 &&
           (text[0] == '\0' || strcmp(text, "null") == 0 ||
            (setting->kind == QUEUE_SETTING_KIND_NUMBER && strcmp(text, "auto") == 0));
}

static bool read_value(const struct queue_setting *setting, const char *text, json_object **value)
{
    *value = NULL;
    if (is_null(setting, text)) {
        return true;
    }
    switch (setting->kind) {
    case QUEUE_SETTING_KIND_INTEGER:
    case QUEUE_SETTING_KIND_NUMBER:
        return read_number(text, value);
    case QUEUE_SETTING_KIND_BOOLEAN:
        return read_boolean(text, value);
    case QUEUE_SETTING_KIND_JSON:
        return read_json(text, value);
    case QUEUE_SETTING_KIND_TEXT:
    case QUEUE_SETTING_KIND_TIME:
    case QUEUE_SETTING_KIND_CHOICE:
        break;
    }
    *value = json_object_new_string(text);
    return true;
}

static const char *kind_of(const struct queue_setting *setting)
{
    switch (setting->kind) {
    case QUEUE_SETTING_KIND_INTEGER:
    case QUEUE_SETTING_KIND_NUMBER:
        return "a number";
    case QUEUE_SETTING_KIND_BOOLEAN:
        return "true or false";
    default:
        return "JSON";
    }
}

json_object *setting_arguments_read(struct arena *arena, char **arguments, int count)
{
    json_object *settings = json_object_new_object();

    for (int i = 0; i < count; i++) {
        struct str name;
        struct str text;
        json_object *value = NULL;
        bool cut = str_split(str_of(arguments[i]), '=', &name, &text);
        const struct queue_setting *setting = cut ? setting_called(arena, name) : NULL;
        if (!cut) {
            (void)misused("'%s' does not have the form setting=value", arguments[i]);
        } else if (setting == NULL) {
            (void)misused("there is no setting '%.*s'; all are listed by: sluicectl help settings",
                          STR_ARG(name));
        } else if (!read_value(setting, arena_copy(arena, text), &value)) {
            (void)misused("%.*s must be %s, not '%.*s'", STR_ARG(name), kind_of(setting),
                          STR_ARG(text));
        } else {
            json_object_object_add(settings, setting->name, value);
            continue;
        }
        (void)json_object_put(settings);
        return NULL;
    }
    return settings;
}

void setting_arguments_help(struct arena *arena)
{
    struct table table;

    table_init(&table, arena, "lllll");
    table_add(&table, "NAME");
    table_add(&table, "ON THE WIRE");
    table_add(&table, "DEFAULT");
    table_add(&table, "RANGE");
    table_add(&table, "MEANING");
    for (int i = 0; i < QUEUE_SETTING_COUNT; i++) {
        const struct queue_setting *setting = queue_setting((enum queue_setting_number)i);
        bool ranged = setting->kind == QUEUE_SETTING_KIND_INTEGER ||
                      setting->kind == QUEUE_SETTING_KIND_NUMBER;
        table_add(&table, setting_short_name(arena, setting));
        table_add(&table, setting->name);
        table_add(&table, setting->default_json);
        table_add(&table, ranged ? arena_format(arena, "%" PRId64 "..%" PRId64 " %s",
                                                setting->minimum, setting->maximum, setting->unit)
                                 : "");
        table_add(&table, setting->description);
    }
    table_print(&table);
}
