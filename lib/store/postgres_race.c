#include "lib/store/postgres_race.h"

#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "lib/base/clock.h"
#include "lib/store/postgres_hosts.h"
#include "lib/store/postgres_wire.h"
#include "lib/store/queries.h"

/* How much longer than the fastest the others may take. A slower server cannot be distinguished
 * from one that is down, and every connection made while one is down waits this long. */
enum { MOMENT_MS = 200 };

static void give_up(struct racer *racer)
{
    racer->stage = RACER_OVER;
    wire_say_why(racer->connection, racer->error, sizeof(racer->error));
}

void racer_start(struct racer *racer, PGconn *connection)
{
    *racer = (struct racer){.connection = connection, .wants = PGRES_POLLING_WRITING};
    if (connection == NULL || PQstatus(connection) == CONNECTION_BAD) {
        give_up(racer);
        return;
    }
    wire_silence_notices(connection);
}

static void ask(struct racer *racer)
{
    const struct query_text *age = query_text(QUERY_SESSION_AGE);

    if (PQsetnonblocking(racer->connection, 1) != 0 ||
        PQsendQueryParams(racer->connection, age->text, 0, NULL, NULL, NULL, NULL, 0) == 0) {
        give_up(racer);
        return;
    }
    racer->stage = RACER_ASKED;
}

static void continue_connecting(struct racer *racer)
{
    racer->wants = PQconnectPoll(racer->connection);
    if (racer->wants == PGRES_POLLING_OK) {
        ask(racer);
    } else if (racer->wants == PGRES_POLLING_FAILED) {
        give_up(racer);
    }
}

/* A server that refuses the query is accepted, with its age unknown. */
static void store_age(struct racer *racer, const PGresult *result)
{
    if (PQresultStatus(result) != PGRES_TUPLES_OK) {
        return;
    }
    (void)snprintf(racer->age.cluster, sizeof(racer->age.cluster), "%s", PQgetvalue(result, 0, 0));
    (void)str_to_int64(str_of(PQgetvalue(result, 0, 1)), 0, INT64_MAX, &racer->age.timeline);
}

static void continue_reading(struct racer *racer)
{
    if (PQflush(racer->connection) < 0 || PQconsumeInput(racer->connection) == 0) {
        give_up(racer);
        return;
    }
    while (PQisBusy(racer->connection) == 0) {
        PGresult *result = PQgetResult(racer->connection);
        if (result == NULL) {
            racer->stage = RACER_ANSWERED;
            break;
        }
        store_age(racer, result);
        PQclear(result);
    }
    if (PQstatus(racer->connection) != CONNECTION_OK) {
        give_up(racer);
    }
}

static bool is_running(const struct racer *racer)
{
    return racer->stage == RACER_CONNECTING || racer->stage == RACER_ASKED;
}

static short events_of(const struct racer *racer)
{
    if (racer->stage == RACER_CONNECTING) {
        return racer->wants == PGRES_POLLING_READING ? POLLIN : POLLOUT;
    }
    return PQflush(racer->connection) > 0 ? POLLIN | POLLOUT : POLLIN;
}

/* Polls all running racers once. False if none is running. */
static bool poll_racers(struct racer *racers, size_t count, int64_t deadline)
{
    struct pollfd watched[POSTGRES_HOSTS_MOST];
    struct racer *whose[POSTGRES_HOSTS_MOST];
    nfds_t n = 0;

    for (size_t i = 0; i < count; i++) {
        if (is_running(&racers[i])) {
            watched[n] = (struct pollfd){.fd = PQsocket(racers[i].connection),
                                         .events = events_of(&racers[i])};
            whose[n++] = &racers[i];
        }
    }
    int64_t left = deadline - clock_monotonic_ms();
    if (n == 0 || poll(watched, n, left < 0 ? 0 : (int)left) < 0) {
        return n > 0;
    }
    for (nfds_t i = 0; i < n; i++) {
        if (watched[i].revents != 0) {
            (whose[i]->stage == RACER_CONNECTING ? continue_connecting
                                                 : continue_reading)(whose[i]);
        }
    }
    return true;
}

static bool has_any_answered(const struct racer *racers, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (racers[i].stage == RACER_ANSWERED) {
            return true;
        }
    }
    return false;
}

void racers_run(struct racer *racers, size_t count, int64_t deadline)
{
    bool through = false;

    while (clock_monotonic_ms() < deadline && poll_racers(racers, count, deadline)) {
        if (!through && has_any_answered(racers, count)) {
            int64_t moment = clock_monotonic_ms() + MOMENT_MS;
            through = true;
            deadline = moment < deadline ? moment : deadline;
        }
    }
    for (size_t i = 0; i < count; i++) {
        if (is_running(&racers[i])) {
            racers[i].stage = RACER_OVER;
            (void)snprintf(racers[i].error, sizeof(racers[i].error), "it does not answer");
        }
    }
}
