/*
 * postgres_wire — libpq without its blocking calls: connecting, sending and receiving, each with a
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
    WIRE_UNSENT, /* sent in part at most: the server never got the end, so it did nothing */
    WIRE_SILENT  /* sent, but the answer is incomplete: timeout, or the connection broke */
};

/** Connects until `deadline` (clock_monotonic_ms). NULL if it fails: `error` of `size` bytes
 *  says why. DNS look-ups of names in the conninfo are not bounded by the deadline. */
PGconn *wire_connect(const char *conninfo, int64_t deadline, char *error, size_t size);

/** The first line of libpq's message about a failed connection (NULL: no connection object); the
 *  rest is advice. */
void wire_say_why(const PGconn *connection, char *error, size_t size);

/** Discards unsent data when this connection is closed. Otherwise the kernel keeps sending for
 *  minutes, and a statement that was given up would be executed when the network is back, after
 *  later writes. */
void wire_forget_unsent(const PGconn *connection);

/** Keeps the server's notices out of our log. */
void wire_silence_notices(PGconn *connection);

/** False if the server has closed this idle connection. Does not block. */
bool wire_is_fresh(PGconn *connection);

/** Sends the queued data, until `deadline`. False if some of it could not be sent. */
bool wire_send(PGconn *connection, int64_t deadline);

/** Receives the complete answer to what was sent, until `deadline`; does not block if it has
 *  arrived. `*result` is the error if there was one, else the last result; NULL if none came.
 *  It is the caller's. */
enum wire wire_receive(PGconn *connection, int64_t deadline, PGresult **result);

/** wire_send() and wire_receive(). */
enum wire wire_exchange(PGconn *connection, int64_t deadline, PGresult **result);

#endif
