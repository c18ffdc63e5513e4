/*
 * postgres_race — connects to several servers in parallel, and queries each for its history as soon
 * as it is connected. Internal to postgres_hosts.c.
 */
#ifndef SLUICE_STORE_POSTGRES_RACE_H
#define SLUICE_STORE_POSTGRES_RACE_H

#include <stddef.h>
#include <stdint.h>

#include <libpq-fe.h>

/** The history that a server writes to. */
struct postgres_age {
    char cluster[24]; /* system identifier; "" if the server does not reveal it */
    int64_t timeline; /* grows with each promotion; 0: a standby, or not revealed */
};

enum racer_stage {
    RACER_CONNECTING,
    RACER_ASKED,
    RACER_ANSWERED, /* connected; `age` is filled as far as the server reveals it */
    RACER_OVER      /* failed: `error` says why */
};

struct racer {
    PGconn *connection; /* to be finished by the caller, at every stage */
    enum racer_stage stage;
    PostgresPollingStatusType wants;
    struct postgres_age age;
    char error[160];
};

/** Starts a racer; `connection` is the result of PQconnectStartParams(). */
void racer_start(struct racer *racer, PGconn *connection);

/** Drives all of them until `deadline` (clock_monotonic_ms), or until a short grace period after
 *  the first has answered. Those that have not answered then are RACER_OVER. */
void racers_run(struct racer *racers, size_t count, int64_t deadline);

#endif
