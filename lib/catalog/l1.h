/*
 * l1 — the catalogue in this host's memory: an LMDB file on a tmpfs, mapped by all processes of the
 * host. It is a cache and nothing else: where it is full, damaged or held up by somebody, things go
 * on without it.
 *
 * A folder holds the file, its lock file, the host's name and the locks of host_lock.h. Readers
 * take no lock. A process that dies while it writes leaves nothing half-written; one that dies
 * while it reads leaves a slot, which the next one clears.
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

/** Opens the folder `directory` (borrowed; made where it is not there), with room for `mib` MiB.
 *  Never NULL: while it cannot be used, that is logged and nothing is found in it: it must be
 *  our user's, writable for nobody else, no link, and while it is in use what the name leads to.
 *  NULL or "": there is none. */
struct l1 *l1_open(const char *directory, int64_t mib);

/** NULL is allowed. */
void l1_close(struct l1 *l1);

/** What this host calls itself before the others: 22 characters, the same for all processes of
 *  the folder, another one when the folder becomes another. */
const char *l1_host(const struct l1 *l1);

/** The locks of the host; never NULL. Without a folder every lock is free. */
struct host_locks *l1_locks(struct l1 *l1);

/** Looks an object up; `arena` gets a copy of the text, NULL: the text is not wanted. Returns
 *  false where it is not there. */
bool l1_read(struct l1 *l1, const struct catalog_key *key, struct arena *arena,
             struct catalog_entry *entry);

/** Keeps an object, unless the answer to a later question is there already. What has run out
 *  makes room; an object of more than a quarter of the room is not kept. Returns whether the
 *  file holds it now. */
bool l1_write(struct l1 *l1, const struct catalog_key *key, const struct catalog_entry *entry,
              int64_t now_us);

#endif
