/*
 * l1 — cache level 1: the catalogue in this host's memory, an LMDB file on a tmpfs that all
 * processes of the host map. It is only a cache: if it is full, damaged or blocked, lookups go
 * on without it.
 *
 * Its directory holds the file, its lock file, the host's name and the locks of host_lock.h.
 * Readers take no lock. A process that dies while writing leaves nothing half-written; one that
 * dies while reading leaves a reader slot, which the next process clears.
 */
#ifndef SLUICE_CATALOG_L1_H
#define SLUICE_CATALOG_L1_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/arena.h"
#include "lib/catalog/entry.h"
#include "lib/catalog/host_lock.h"

struct l1;

enum { L1_HOST_TEXT = 22 };

/** Opens `directory` (borrowed; created if missing) with room for `mib` MiB. Never NULL: an
 *  unusable directory is logged, and lookups then find nothing. It must belong to our user, be
 *  writable by no other, be no link, and keep its name while in use. NULL or "": no L1. */
struct l1 *l1_open(const char *directory, int64_t mib);

/** NULL is allowed. */
void l1_close(struct l1 *l1);

/** The name of this host among the hosts: 22 characters, the same for all processes that share the
 *  directory; a new one if the directory is replaced. */
const char *l1_host(const struct l1 *l1);

/** The locks of the host; never NULL. Without a folder every lock is free. */
struct host_locks *l1_locks(struct l1 *l1);

/** Looks up an object; its text is copied into `arena` (NULL: without text). Returns false if it
 *  is not cached. */
bool l1_read(struct l1 *l1, const struct catalog_key *key, struct arena *arena,
             struct catalog_entry *entry);

/** Stores an object, unless the answer to a later query is stored already. Expired entries make
 *  room; an object larger than a quarter of the room is not stored. Returns whether the file now
 *  holds it. */
bool l1_write(struct l1 *l1, const struct catalog_key *key, const struct catalog_entry *entry,
              int64_t now_us);

#endif
