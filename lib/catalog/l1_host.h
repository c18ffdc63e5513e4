/*
 * l1_host — the name that a host goes by among the hosts, kept in L1's folder with the boot it was
 * given in: times of an earlier boot's clock mean nothing.
 */
#ifndef SLUICE_CATALOG_L1_HOST_H
#define SLUICE_CATALOG_L1_HOST_H

#include <stdbool.h>

#include "lib/base/random.h"
#include "lib/catalog/host_lock.h"

struct l1_host {
    char name[RANDOM_ID_TEXT + 1];
};

/** A new name, for this process alone. */
void l1_host_invent(struct l1_host *host);

/** The name in `directory`; given anew, and with `forget(directory)` called before, where there
 *  is none or it is of another boot. Returns false with errno. */
bool l1_host_read(struct l1_host *host, struct host_locks *locks, const char *directory,
                  void (*forget)(const char *directory));

#endif
