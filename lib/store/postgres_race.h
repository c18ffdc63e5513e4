/*
 * postgres_race — connections to several servers being made at once, each asked for its age as soon
 * as it is up. Internal to postgres_hosts.c.
 */
#ifndef SLUICE_STORE_POSTGRES_RACE_H
#define SLUICE_STORE_POSTGRES_RACE_H

#include <stddef.h>
#include <stdint.h>

#include <libpq-fe.h>

/** Which history a server writes on. */
struct postgres_age {
    char cluster[24]; /* its identifier; "" where the server does not tell */
    int64_t timeline; /* grows with each promotion; 0: a standby, or not told */
};

enum racer_stage {
    RACER_CONNECTING,
    RACER_ASKED,
    RACER_ANSWERED, /* connected; `age` is as far known as the server tells it */
    RACER_OVER      /* no use: `error` says why */
};

struct racer {
    PGconn *connection; /* the caller's to finish, at every stage */
    enum racer_stage stage;
    PostgresPollingStatusType wants;
    struct postgres_age age;
    char error[160];
};

/** `connection` is what PQconnectStartParams() gave. */
void racer_start(struct racer *racer, PGconn *connection);

/** Goes on with all of them until `deadline` (clock_monotonic_ms), or until those that are not
 *  through have had a moment longer than the first that is. Whoever is not through then is
 *  RACER_OVER. */
void racers_run(struct racer *racers, size_t count, int64_t deadline);

#endif
