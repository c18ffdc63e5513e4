#include "lib/settings/settings.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/arena.h"
#include "lib/base/str.h"
#include "lib/settings/endpoint.h"
#include "lib/settings/settings_row.h"
#include "lib/settings/text_file.h"

enum { SHOWN_VALUE_MAX = 60 };

enum {
#define SETTING(name, kind, minimum, maximum, default_text, unit, description) ROW_OF_##name,
#include "lib/settings/settings.tbl"
#undef SETTING
    ROW_COUNT
};

__attribute__((format(printf, 2, 3))) static bool refuse(char error[SETTINGS_ERROR],
                                                         const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    (void)vsnprintf(error, SETTINGS_ERROR, format, arguments);
    va_end(arguments);
    return false;
}

/* Sets one value; `where`, for error messages, is "FILE:LINE", the variable or "default". */
static bool set_value(struct settings *settings, const struct setting_row *row, struct str value,
                      const char *where, char error[SETTINGS_ERROR])
{
    char allowed[SETTING_ALLOWED];

    if (setting_set(settings, row, value)) {
        return true;
    }
    setting_allowed(row, allowed);
    if (row->kind == SETTING_CONNINFO) {
        return refuse(error, "%s: %s must be %s", where, row->name, allowed);
    }
    bool cut = value.n > SHOWN_VALUE_MAX;
    return refuse(error, "%s: %s must be %s, not '%.*s%s'", where, row->name, allowed,
                  cut ? SHOWN_VALUE_MAX : (int)value.n, value.n == 0 ? "" : value.p,
                  cut ? "…" : "");
}

static bool set_defaults(struct settings *settings, char error[SETTINGS_ERROR])
{
    for (size_t i = 0; i < setting_row_count(); i++) {
        const struct setting_row *row = setting_row(i);
        if (!set_value(settings, row, str_of(row->initial), "default", error)) {
            return false;
        }
    }
    return true;
}

/* Reads one line of the file. `set_in` holds the line in which each row was set, 0: not yet. */
static bool read_line(struct settings *settings, struct str line, const char *path, int number,
                      int set_in[ROW_COUNT], char error[SETTINGS_ERROR])
{
    struct str name;
    struct str value;
    size_t i;

    if (line.n > 0 && line.p[line.n - 1] == '\r') {
        line.n--;
    }
    line = str_trim(line);
    if (line.n == 0 || line.p[0] == '#') {
        return true;
    }
    if (!str_split(line, '=', &name, &value)) {
        return refuse(error, "%s:%d: not of the form 'key = value'", path, number);
    }
    name = str_trim(name);
    if (!setting_row_find(name, &i)) {
        return refuse(error, "%s:%d: there is no setting '%.*s'", path, number,
                      name.n > SHOWN_VALUE_MAX ? SHOWN_VALUE_MAX : (int)name.n,
                      name.n == 0 ? "" : name.p);
    }
    if (set_in[i] != 0) {
        return refuse(error, "%s:%d: %s is set twice, first in line %d", path, number,
                      setting_row(i)->name, set_in[i]);
    }
    set_in[i] = number;
    const char *where = arena_format(settings->memory, "%s:%d", path, number);
    return set_value(settings, setting_row(i), str_trim(value), where, error);
}

static bool read_file(struct settings *settings, const char *path, char error[SETTINGS_ERROR])
{
    int set_in[ROW_COUNT] = {0};
    char reason[TEXT_FILE_ERROR];
    char *bytes;
    size_t length;

    if (!text_file_read(path, SETTINGS_FILE_MAX, &bytes, &length, reason)) {
        return refuse(error, "%s", reason);
    }
    struct str rest = str_sized(bytes, length);
    bool good = true;
    for (int number = 1; good && rest.n > 0; number++) {
        struct str line;
        (void)str_split(rest, '\n', &line, &rest);
        good = read_line(settings, line, path, number, set_in, error);
    }
    free(bytes);
    return good;
}

static bool read_environment(struct settings *settings, char error[SETTINGS_ERROR])
{
    for (size_t i = 0; i < setting_row_count(); i++) {
        const struct setting_row *row = setting_row(i);
        char *variable = arena_format(settings->memory, "SLUICE_%s", row->name);
        for (char *c = variable; *c != '\0'; c++) {
            *c = (char)toupper((unsigned char)*c);
        }
        const char *value = getenv(variable);
        if (value != NULL && !set_value(settings, row, str_of(value), variable, error)) {
            return false;
        }
    }
    return true;
}

static bool are_endpoints(const char *name, const char *text, size_t most,
                          char error[SETTINGS_ERROR])
{
    struct endpoint endpoints[ENDPOINTS_MAX];
    size_t count = endpoint_list(str_of(text), endpoints);

    if (text[0] == '\0' || (count > 0 && count <= most)) {
        return true;
    }
    return refuse(error, most == 1 ? "%s must be host:port" : "%s must be 1 to 16 of host:port",
                  name);
}

static bool redis_fits(const struct settings *settings, char error[SETTINGS_ERROR])
{
    const char *const ways[] = {settings->redis_socket, settings->redis_address,
                                settings->redis_sentinels, settings->redis_cluster};
    int set = 0;

    for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
        set += ways[i][0] != '\0' ? 1 : 0;
    }
    if (set > 1) {
        return refuse(error, "only one of redis_socket, redis_address, redis_sentinels and "
                             "redis_cluster may be set");
    }
    if (settings->redis_user[0] != '\0' && settings->redis_password_file[0] == '\0') {
        return refuse(error, "redis_user needs redis_password_file");
    }
    if (settings->redis_sentinel_user[0] != '\0' &&
        settings->redis_sentinel_password_file[0] == '\0') {
        return refuse(error, "redis_sentinel_user needs redis_sentinel_password_file");
    }
    return are_endpoints("redis_address", settings->redis_address, 1, error) &&
           are_endpoints("redis_sentinels", settings->redis_sentinels, ENDPOINTS_MAX, error) &&
           are_endpoints("redis_cluster", settings->redis_cluster, ENDPOINTS_MAX, error);
}

static bool fit_together(const struct settings *settings, char error[SETTINGS_ERROR])
{
    if (settings->lock_timeout_ms >= settings->statement_timeout_ms) {
        return refuse(error, "lock_timeout_ms (%lld) must be below statement_timeout_ms (%lld)",
                      (long long)settings->lock_timeout_ms,
                      (long long)settings->statement_timeout_ms);
    }
    return redis_fits(settings, error);
}

bool settings_load(const char *path, struct settings *settings, char error[SETTINGS_ERROR])
{
    memset(settings, 0, sizeof(*settings));
    settings->memory = arena_new();
    bool has_file = path != NULL && path[0] != '\0';
    if (set_defaults(settings, error) && (!has_file || read_file(settings, path, error)) &&
        read_environment(settings, error) && fit_together(settings, error)) {
        return true;
    }
    settings_free(settings);
    return false;
}

void settings_free(struct settings *settings)
{
    arena_free(settings->memory);
    memset(settings, 0, sizeof(*settings));
}

static const struct setting_row *text_row(struct str name)
{
    size_t i;

    if (!setting_row_find(name, &i) || setting_row(i)->kind == SETTING_INTEGER ||
        setting_row(i)->kind == SETTING_BOOLEAN) {
        abort();
    }
    return setting_row(i);
}

static bool is_one_set(struct settings *settings, struct str names)
{
    bool more = true;

    while (more) {
        struct str name;
        more = str_split(names, '|', &name, &names);
        if ((*setting_text(settings, text_row(name)))[0] != '\0') {
            return true;
        }
    }
    return false;
}

/* Refuses with "a, b or c must be set: …". */
static bool refuse_missing(struct str names, char error[SETTINGS_ERROR])
{
    struct str rest = names;
    struct str name;
    char list[SETTINGS_ERROR / 2] = "";
    size_t length = 0;
    bool more = true;

    while (more && length < sizeof(list)) {
        bool first = rest.p == names.p;
        more = str_split(rest, '|', &name, &rest);
        const char *separator = more ? ", " : " or ";
        int written = snprintf(list + length, sizeof(list) - length, "%s%.*s",
                               first ? "" : separator, STR_ARG(name));
        length += written > 0 ? (size_t)written : 0;
    }
    (void)str_split(names, '|', &name, &rest);
    return refuse(error, "%s must be set: %s", list, text_row(name)->description);
}

bool settings_require(const struct settings *settings, const char *const names[],
                      char error[SETTINGS_ERROR])
{
    struct settings copy = *settings;

    for (size_t n = 0; names[n] != NULL; n++) {
        if (!is_one_set(&copy, str_of(names[n]))) {
            return refuse_missing(str_of(names[n]), error);
        }
    }
    return true;
}
