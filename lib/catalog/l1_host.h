/*
 * l1_host — this host's name among the hosts, stored in L1's directory with the id of the boot it
 * was created in: times of an earlier boot's monotonic clock are meaningless.
 */
#ifndef SLUICE_CATALOG_L1_HOST_H
#define SLUICE_CATALOG_L1_HOST_H

#include <stdbool.h>

#include "lib/base/random.h"
#include "lib/catalog/host_lock.h"

struct l1_host {
    char name[RANDOM_ID_TEXT + 1];
};

/** Creates a new name, for this process alone. */
void l1_host_invent(struct l1_host *host);

/** Reads the name in `directory`; if there is none or it is of another boot, calls
 *  `forget(directory)` and creates a new one. Returns false with errno set. */
bool l1_host_read(struct l1_host *host, struct host_locks *locks, const char *directory,
                  void (*forget)(const char *directory));

#endif
