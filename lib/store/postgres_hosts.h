/*
 * postgres_hosts — finds the server to write to among those that a conninfo names. libpq tries them
 * in turn and gives each the full timeout, so that a silent first server keeps it from the second
 * forever; here all are tried in parallel. Of several that take writes the most recently promoted
 * one is chosen, but never one older than one that was already written to: a former primary that
 * returns after a fail-over, unaware of it, is not used. Internal to postgres.c.
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

/** Releases the list; connections made with it stay open. */
void postgres_hosts_free(struct postgres_hosts *hosts);

/** The number of servers; 1 also if only libpq knows it (from its environment or a service
 *  file). */
size_t postgres_hosts_count(const struct postgres_hosts *hosts);

/** Host and port of one of several servers, "" for what is left to libpq. */
const char *postgres_hosts_name(const struct postgres_hosts *hosts, size_t index);
const char *postgres_hosts_port(const struct postgres_hosts *hosts, size_t index);

/** Connects, until `deadline` (clock_monotonic_ms), to the server to write to, or to one that fits
 *  target_session_attrs (default among several servers: read-write). NULL if there is none:
 *  `error` of `size` bytes says why. */
PGconn *postgres_hosts_connect(struct postgres_hosts *hosts, int64_t deadline, char *error,
                               size_t size);

#endif
