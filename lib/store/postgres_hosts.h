/*
 * postgres_hosts — which of the servers that a conninfo names is the one to write to. libpq asks
 * them one after another and gives each all the time there is, so that a silent first one keeps it
 * from the second for ever; here all are asked at once. Of several that take writes the one
 * promoted last is taken, and none that is older than one already written to: a primary that comes
 * back after its fail-over as if nothing had happened gets nothing. Internal to postgres.c.
 */
#ifndef SLUICE_STORE_POSTGRES_HOSTS_H
#define SLUICE_STORE_POSTGRES_HOSTS_H

#include <stddef.h>
#include <stdint.h>

#include <libpq-fe.h>

struct postgres_hosts;

enum { POSTGRES_HOSTS_MOST = 8 };

/** The servers of `conninfo` (borrowed). Never NULL. */
struct postgres_hosts *postgres_hosts_new(const char *conninfo);

void postgres_hosts_free(struct postgres_hosts *hosts);

/** How many they are; 1 also where only libpq knows (from its environment, a service file) or
 *  nobody does. */
size_t postgres_hosts_count(const struct postgres_hosts *hosts);

/** Host and port of one of several, "" for what is left to libpq. */
const char *postgres_hosts_name(const struct postgres_hosts *hosts, size_t index);
const char *postgres_hosts_port(const struct postgres_hosts *hosts, size_t index);

/** A connection to the one to write to (or whichever target_session_attrs asks for; among
 *  several it is read-write where nothing is asked for), until `deadline` (clock_monotonic_ms).
 *  NULL where there is none: `error` of `size` bytes says why. */
PGconn *postgres_hosts_connect(struct postgres_hosts *hosts, int64_t deadline, char *error,
                               size_t size);

#endif
