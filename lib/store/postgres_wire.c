#include "lib/store/postgres_wire.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "lib/base/clock.h"

/* Waits until the socket is ready for one of `events`; 0 at the deadline, else the events that
 * occurred. */
static short wait_until(PGconn *connection, short events, int64_t deadline)
{
    struct pollfd watched = {.fd = PQsocket(connection), .events = events};

    for (;;) {
        int64_t left = deadline - clock_monotonic_ms();
        int ready = poll(&watched, 1, left < 0 ? 0 : (int)left);
        if (ready > 0) {
            return watched.revents;
        }
        if (ready == 0 || errno != EINTR) {
            return 0;
        }
    }
}

static void drop_notice(void *nothing, const char *message)
{
    (void)nothing;
    (void)message;
}

void wire_forget_unsent(const PGconn *connection)
{
    const struct linger nothing = {.l_onoff = 1, .l_linger = 0};

    (void)setsockopt(PQsocket(connection), SOL_SOCKET, SO_LINGER, &nothing, sizeof(nothing));
}

void wire_silence_notices(PGconn *connection)
{
    (void)PQsetNoticeProcessor(connection, drop_notice, NULL);
}

void wire_say_why(const PGconn *connection, char *error, size_t size)
{
    const char *why = connection == NULL ? "out of memory" : PQerrorMessage(connection);

    (void)snprintf(error, size, "%.*s", (int)strcspn(why, "\n"), why);
}

PGconn *wire_connect(const char *conninfo, int64_t deadline, char *error, size_t size)
{
    const char *const names[] = {"fallback_application_name", "client_encoding", "dbname", NULL};
    const char *const values[] = {program_invocation_short_name, "UTF8", conninfo, NULL};
    PGconn *connection = PQconnectStartParams(names, values, 1);
    PostgresPollingStatusType state = PGRES_POLLING_WRITING;

    if (connection != NULL) {
        wire_silence_notices(connection);
    }
    while (connection != NULL && PQstatus(connection) != CONNECTION_BAD) {
        if (wait_until(connection, state == PGRES_POLLING_READING ? POLLIN : POLLOUT, deadline) ==
            0) {
            (void)snprintf(error, size, "the server does not answer");
            PQfinish(connection);
            return NULL;
        }
        state = PQconnectPoll(connection);
        if (state == PGRES_POLLING_OK && PQsetnonblocking(connection, 1) == 0) {
            return connection;
        }
        if (state == PGRES_POLLING_OK || state == PGRES_POLLING_FAILED) {
            break;
        }
    }
    wire_say_why(connection, error, size);
    PQfinish(connection);
    return NULL;
}

bool wire_is_fresh(PGconn *connection)
{
    while (wait_until(connection, POLLIN, 0) != 0) {
        if (PQconsumeInput(connection) == 0) {
            return false;
        }
    }
    return PQstatus(connection) == CONNECTION_OK;
}

bool wire_send(PGconn *connection, int64_t deadline)
{
    int left;

    /* Reads meanwhile: a server that cannot send may not read either. */

    while ((left = PQflush(connection)) > 0) {
        short ready = wait_until(connection, POLLIN | POLLOUT, deadline);
        if (ready == 0 || ((ready & POLLIN) != 0 && PQconsumeInput(connection) == 0)) {
            return false;
        }
    }
    return left == 0;
}

/* Keeps the error, if any, else the latest result. */
static void keep(PGresult **kept, PGresult *next)
{
    if (*kept != NULL && PQresultStatus(*kept) == PGRES_FATAL_ERROR) {
        PQclear(next);
        return;
    }
    PQclear(*kept);
    *kept = next;
}

enum wire wire_receive(PGconn *connection, int64_t deadline, PGresult **result)
{
    *result = NULL;
    /* Rows precede the commit: only the end of the answer confirms it. */
    for (;;) {
        while (PQisBusy(connection) != 0) {
            if (wait_until(connection, POLLIN, deadline) == 0 || PQconsumeInput(connection) == 0) {
                return WIRE_SILENT;
            }
        }
        PGresult *next = PQgetResult(connection);
        if (next == NULL) {
            return PQstatus(connection) == CONNECTION_OK ? WIRE_DONE : WIRE_SILENT;
        }
        keep(result, next);
    }
}

enum wire wire_exchange(PGconn *connection, int64_t deadline, PGresult **result)
{
    *result = NULL;
    return wire_send(connection, deadline) ? wire_receive(connection, deadline, result)
                                           : WIRE_UNSENT;
}
