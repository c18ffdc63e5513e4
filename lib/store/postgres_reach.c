#include "lib/store/postgres_reach.h"

#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <libpq-fe.h>

/* With this port libpq resolves all options, and then connects nowhere. */
static const char NO_PORT[] = "0";

static const char *const FILES[] = {"passfile",    "servicefile", "sslcert",  "sslkey",
                                    "sslrootcert", "sslcrl",      "sslcrldir"};

static bool has_text(const char *text)
{
    return text != NULL && text[0] != '\0';
}

/* libpq's message about a conninfo that it cannot parse may quote a password. */
static void write_error(const char *conninfo, const PGconn *connection, char error[SETTINGS_ERROR])
{
    PQconninfoOption *read = PQconninfoParse(conninfo, NULL);

    if (read == NULL) {
        (void)snprintf(error, SETTINGS_ERROR,
                       "postgres_conninfo must be of libpq's form: key=value with spaces between, "
                       "or postgresql://…");
    } else {
        const char *why = PQerrorMessage(connection);
        (void)snprintf(error, SETTINGS_ERROR, "postgres_conninfo is refused: %.*s",
                       (int)strcspn(why, "\n"), why);
    }
    PQconninfoFree(read);
}

/* The options in force; NULL, with one sentence in `error`, if libpq refuses them. */
static PQconninfoOption *options_of(const char *conninfo, char error[SETTINGS_ERROR])
{
    const char *const names[] = {"dbname", "port", NULL};
    const char *const values[] = {conninfo, NO_PORT, NULL};
    PGconn *connection = PQconnectStartParams(names, values, 1);
    PQconninfoOption *options = NULL;

    if (connection == NULL) {
        abort();
    }
    const char *port = PQport(connection);
    if (port != NULL && strcmp(port, NO_PORT) == 0) {
        options = PQconninfo(connection);
    } else {
        write_error(conninfo, connection, error);
    }
    PQfinish(connection);
    return options;
}

/* `hosts` may be a comma-separated list. */
static bool is_remote(const char *hosts)
{
    for (const char *host = hosts; host != NULL; host = strchr(host, ',')) {
        host += *host == ',' ? 1 : 0;
        if (*host != '/' && *host != '@' && *host != '\0') {
            return true;
        }
    }
    return false;
}

static bool is_file(const char *keyword)
{
    for (size_t i = 0; i < sizeof(FILES) / sizeof(FILES[0]); i++) {
        if (strcmp(keyword, FILES[i]) == 0) {
            return true;
        }
    }
    return false;
}

/* Values that are no file names: all of the system's certificates, a key in a device. */
static bool is_no_file(const char *keyword, const char *value)
{
    return (strcmp(keyword, "sslrootcert") == 0 && strcmp(value, "system") == 0) ||
           (strcmp(keyword, "sslkey") == 0 && strchr(value, ':') != NULL);
}

static void add(struct postgres_reach *reach, struct arena *arena, const char *path, bool alone)
{
    if (reach->count == POSTGRES_FILES_MOST) {
        abort();
    }
    reach->files[reach->count].path = arena_copy(arena, str_of(path));
    reach->files[reach->count].alone = alone;
    reach->count++;
}

static bool add_named(struct postgres_reach *reach, struct arena *arena, const char *name,
                      const char *path, char error[SETTINGS_ERROR])
{
    if (path[0] != '/') {
        (void)snprintf(error, SETTINGS_ERROR,
                       "postgres_conninfo: %s must be an absolute path, not '%.60s'", name, path);
        return false;
    }
    add(reach, arena, path, false);
    return true;
}

static const char *home(void)
{
    const char *named = getenv("HOME");

    if (!has_text(named)) {
        const struct passwd *user = getpwuid(geteuid());
        named = user == NULL ? NULL : user->pw_dir;
    }
    return has_text(named) && named[0] == '/' ? named : NULL;
}

/* Adds the files that libpq looks for in the home directory by default. */
static void add_home(struct postgres_reach *reach, struct arena *arena, bool has_service)
{
    static const char *const NAMES[] = {".pgpass", ".postgresql", ".pg_service.conf"};
    const char *at = home();
    size_t count = has_service ? 3 : 2;

    for (size_t i = 0; at != NULL && i < count; i++) {
        add(reach, arena, arena_format(arena, "%s/%s", at, NAMES[i]), true);
    }
}

/* Whether it is a default in the home directory, which was added already. */
static bool is_at_home(const struct postgres_reach *reach, const char *path)
{
    for (size_t i = 0; i < reach->count; i++) {
        if (reach->files[i].alone && strcmp(reach->files[i].path, path) == 0) {
            return true;
        }
    }
    return false;
}

static bool add_service(struct postgres_reach *reach, struct arena *arena,
                        char error[SETTINGS_ERROR])
{
    static const char *const PLACES[] = {"PGSERVICEFILE", "PGSYSCONFDIR"};

    reach->has_network = true;
    for (size_t i = 0; i < sizeof(PLACES) / sizeof(PLACES[0]); i++) {
        const char *named = getenv(PLACES[i]);
        if (has_text(named) && !add_named(reach, arena, PLACES[i], named, error)) {
            return false;
        }
    }
    return true;
}

static bool add_option(struct postgres_reach *reach, struct arena *arena,
                       const PQconninfoOption *option, char error[SETTINGS_ERROR])
{
    if (!has_text(option->val)) {
        return true;
    }
    if (strcmp(option->keyword, "host") == 0 || strcmp(option->keyword, "hostaddr") == 0) {
        reach->has_network = reach->has_network || is_remote(option->val);
        return true;
    }
    if (!is_file(option->keyword) || is_no_file(option->keyword, option->val) ||
        is_at_home(reach, option->val)) {
        return true;
    }
    return add_named(reach, arena, option->keyword, option->val, error);
}

/* PQconninfo() does not list the service. */
static bool names_service(const char *conninfo)
{
    PQconninfoOption *named = PQconninfoParse(conninfo, NULL);
    bool found = has_text(getenv("PGSERVICE"));

    for (const PQconninfoOption *o = named; !found && o != NULL && o->keyword != NULL; o++) {
        found = strcmp(o->keyword, "service") == 0 && has_text(o->val);
    }
    PQconninfoFree(named);
    return found;
}

bool postgres_reach_find(const char *conninfo, struct arena *arena, struct postgres_reach *reach,
                         char error[SETTINGS_ERROR])
{
    PQconninfoOption *options = options_of(conninfo, error);

    *reach = (struct postgres_reach){.count = 0};
    if (options == NULL) {
        return false;
    }
    bool has_service = names_service(conninfo);
    add_home(reach, arena, has_service);
    bool good = !has_service || add_service(reach, arena, error);
    for (const PQconninfoOption *o = options; good && o->keyword != NULL; o++) {
        good = add_option(reach, arena, o, error);
    }
    PQconninfoFree(options);
    return good;
}

bool postgres_reach_check(const struct settings *settings, char error[SETTINGS_ERROR])
{
    struct postgres_reach reach;

    if (!settings->sandbox || settings->postgres_conninfo[0] == '\0') {
        return true;
    }
    struct arena *arena = arena_new();
    bool good = postgres_reach_find(settings->postgres_conninfo, arena, &reach, error);
    arena_free(arena);
    return good;
}
