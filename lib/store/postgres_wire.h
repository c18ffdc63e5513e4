/*
 * postgres_wire — libpq without its blocking calls: connecting, sending and reading, each up to a
 * deadline. Internal to postgres.c and its parts.
 */
#ifndef SLUICE_STORE_POSTGRES_WIRE_H
#define SLUICE_STORE_POSTGRES_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <libpq-fe.h>

enum wire {
    WIRE_DONE,   /* the answer is complete */
    WIRE_UNSENT, /* not all of it could be sent: the server never got the end, so it did nothing */
    WIRE_SILENT /* sent, but the answer is not complete: the time is over, or the connection broke */
};

/** Connects until `deadline` (clock_monotonic_ms). NULL where it fails: `error` of `size` bytes
 *  says why. Names in the conninfo that must be looked up in DNS are looked up without a
 *  deadline. */
PGconn *wire_connect(const char *conninfo, int64_t deadline, char *error, size_t size);

/** The first line of what libpq says of a connection that failed (NULL: of none); the rest is
 *  advice. */
void wire_say_why(const PGconn *connection, char *error, size_t size);

/** What this connection has not sent yet is not sent when it is closed. Else the kernel goes on
 *  trying for minutes, and a statement that was given up is carried out when the network is
 *  back, over what was written meanwhile. */
void wire_forget_unsent(const PGconn *connection);

/** Notices of the server are not written to our log. */
void wire_silence_notices(PGconn *connection);

/** False where the server has ended this idle connection. Takes no time. */
bool wire_is_fresh(PGconn *connection);

/** Sends what is queued, until `deadline`. False where not all of it could be sent. */
bool wire_send(PGconn *connection, int64_t deadline);

/** Reads the whole answer to what was sent, until `deadline`; takes no time where it is there
 *  already. `*result` is the error where there was one, else the last result; NULL where none
 *  came. It is the caller's. */
enum wire wire_receive(PGconn *connection, int64_t deadline, PGresult **result);

/** wire_send() and wire_receive(). */
enum wire wire_exchange(PGconn *connection, int64_t deadline, PGresult **result);

#endif
