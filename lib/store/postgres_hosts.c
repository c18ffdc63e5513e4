#include "lib/store/postgres_hosts.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/log.h"
#include "lib/store/postgres_race.h"
#include "lib/store/postgres_wire.h"

/* What the conninfo has for each server, as a comma-separated list. */
enum list { LIST_HOST, LIST_HOSTADDR, LIST_PORT, LIST_COUNT };

static const char *const LIST_NAMES[LIST_COUNT] = {"host", "hostaddr", "port"};

/* libpq knows about forty keywords; three are ours, plus the terminator. */
enum { KEYWORDS_MOST = 64 };

struct postgres_hosts {
    const char *conninfo;
    PQconninfoOption *options;
    char *lists[LIST_COUNT]; /* split at their commas */
    size_t lengths[LIST_COUNT];
    const char *values[LIST_COUNT][POSTGRES_HOSTS_MOST];
    size_t count;
    bool too_many;
    struct postgres_age newest; /* of all servers that were written to */
};

/* Splits a copy of `text` at its commas. */
static void cut(struct postgres_hosts *hosts, enum list list, const char *text)
{
    char *piece = strdup(text);

    if (piece == NULL) {
        abort();
    }
    hosts->lists[list] = piece;
    while (piece != NULL) {
        char *comma = strchr(piece, ',');
        if (comma != NULL) {
            *comma++ = '\0';
        }
        if (hosts->lengths[list] == POSTGRES_HOSTS_MOST) {
            hosts->too_many = true;
            return;
        }
        hosts->values[list][hosts->lengths[list]++] = piece;
        piece = comma;
    }
}

static void read_lists(struct postgres_hosts *hosts)
{
    for (const PQconninfoOption *option = hosts->options; option->keyword != NULL; option++) {
        for (int list = 0; list < LIST_COUNT; list++) {
            if (strcmp(option->keyword, LIST_NAMES[list]) == 0 && option->val != NULL) {
                cut(hosts, (enum list)list, option->val);
            }
        }
    }
}

/* Whether the lists have matching lengths; otherwise libpq reports the error. */
static bool fits(const struct postgres_hosts *hosts, size_t count)
{
    size_t names = hosts->lengths[LIST_HOST];
    size_t ports = hosts->lengths[LIST_PORT];

    return (names == 0 || names == count) && (ports <= 1 || ports == count);
}

struct postgres_hosts *postgres_hosts_new(const char *conninfo)
{
    struct postgres_hosts *hosts = calloc(1, sizeof(*hosts));

    if (hosts == NULL) {
        abort();
    }
    hosts->conninfo = conninfo;
    hosts->count = 1;
    hosts->options = PQconninfoParse(conninfo, NULL);
    if (hosts->options != NULL) {
        read_lists(hosts);
        size_t addresses = hosts->lengths[LIST_HOSTADDR];
        size_t count = addresses > 0 ? addresses : hosts->lengths[LIST_HOST];
        hosts->count = count > 1 && fits(hosts, count) ? count : 1;
    }
    return hosts;
}

void postgres_hosts_free(struct postgres_hosts *hosts)
{
    for (int list = 0; list < LIST_COUNT; list++) {
        free(hosts->lists[list]);
    }
    PQconninfoFree(hosts->options);
    free(hosts);
}

size_t postgres_hosts_count(const struct postgres_hosts *hosts)
{
    return hosts->count;
}

static const char *value_of(const struct postgres_hosts *hosts, enum list list, size_t index)
{
    size_t length = hosts->lengths[list];

    if (length == 0) {
        return "";
    }
    return hosts->values[list][length == 1 ? 0 : index];
}

const char *postgres_hosts_name(const struct postgres_hosts *hosts, size_t index)
{
    const char *name = value_of(hosts, LIST_HOST, index);

    return *name == '\0' ? value_of(hosts, LIST_HOSTADDR, index) : name;
}

const char *postgres_hosts_port(const struct postgres_hosts *hosts, size_t index)
{
    return value_of(hosts, LIST_PORT, index);
}

static bool is_list(const char *keyword)
{
    for (int list = 0; list < LIST_COUNT; list++) {
        if (strcmp(keyword, LIST_NAMES[list]) == 0) {
            return true;
        }
    }
    return false;
}

/* Of a repeated keyword libpq uses the last: our defaults precede the conninfo's values. */
static PGconn *begin(const struct postgres_hosts *hosts, size_t index)
{
    const char *names[KEYWORDS_MOST] = {"fallback_application_name", "client_encoding",
                                        "target_session_attrs"};
    const char *values[KEYWORDS_MOST] = {program_invocation_short_name, "UTF8", "read-write"};
    size_t n = 3;

    for (const PQconninfoOption *option = hosts->options;
         option->keyword != NULL && n < KEYWORDS_MOST - LIST_COUNT - 1; option++) {
        if (option->val != NULL && !is_list(option->keyword)) {
            names[n] = option->keyword;
            values[n++] = option->val;
        }
    }
    for (int list = 0; list < LIST_COUNT; list++) {
        names[n] = LIST_NAMES[list];
        values[n++] = value_of(hosts, (enum list)list, index);
    }
    return PQconnectStartParams(names, values, 0);
}

/* A server with an older timeline than one already written to is accepted only as part of another
 * cluster: a database restored from a backup starts over. */
static bool has_older_timeline(const struct postgres_hosts *hosts, const struct postgres_age *age)
{
    return age->timeline > 0 && age->timeline < hosts->newest.timeline &&
           strcmp(age->cluster, hosts->newest.cluster) == 0;
}

static bool is_better(const struct racer *racer, const struct racer *best)
{
    return best == NULL || racer->age.timeline > best->age.timeline;
}

/* Chooses among the servers that answered; the others' errors are collected in `error`. */
static struct racer *choose(struct postgres_hosts *hosts, struct racer *racers, char *error,
                            size_t size)
{
    struct racer *best = NULL;
    size_t writers = 0;
    size_t length = 0;

    *error = '\0';
    for (size_t i = 0; i < hosts->count; i++) {
        struct racer *racer = &racers[i];
        const char *why = racer->error;
        if (racer->stage == RACER_ANSWERED) {
            writers += racer->age.timeline > 0;
            why = "it takes writes, but another one was promoted after it";
            if (!has_older_timeline(hosts, &racer->age)) {
                best = is_better(racer, best) ? racer : best;
                continue;
            }
        }
        int added = snprintf(error + length, size - length, "%s%s: %s", length == 0 ? "" : "; ",
                             postgres_hosts_name(hosts, i), why);
        length += added < 0 ? 0 : (size_t)added;
        length = length < size ? length : size - 1;
    }
    if (writers > 1) {
        log_event(LOG_LEVEL_WARNING, "postgres.two_primaries",
                  LOG_FIELDS(LOG_INT("servers", (int64_t)writers)));
    }
    return best;
}

static PGconn *race(struct postgres_hosts *hosts, int64_t deadline, char *error, size_t size)
{
    struct racer racers[POSTGRES_HOSTS_MOST] = {0};
    PGconn *connection = NULL;

    for (size_t i = 0; i < hosts->count; i++) {
        racer_start(&racers[i], begin(hosts, i));
    }
    racers_run(racers, hosts->count, deadline);
    struct racer *best = choose(hosts, racers, error, size);
    if (best != NULL) {
        connection = best->connection;
        best->connection = NULL;
        if (best->age.timeline > 0) {
            hosts->newest = best->age;
        }
    }
    for (size_t i = 0; i < hosts->count; i++) {
        PQfinish(racers[i].connection);
    }
    return connection;
}

PGconn *postgres_hosts_connect(struct postgres_hosts *hosts, int64_t deadline, char *error,
                               size_t size)
{
    if (hosts->too_many) {
        (void)snprintf(error, size, "postgres_conninfo names more than %d servers",
                       POSTGRES_HOSTS_MOST);
        return NULL;
    }
    if (hosts->count == 1) {
        return wire_connect(hosts->conninfo, deadline, error, size);
    }
    return race(hosts, deadline, error, size);
}
