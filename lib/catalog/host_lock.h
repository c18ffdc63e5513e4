/*
 * host_lock — locks between the processes of one host, any number of them in one file. The kernel
 * releases a lock when its process ends, however it ends; no call here blocks.
 */
#ifndef SLUICE_CATALOG_HOST_LOCK_H
#define SLUICE_CATALOG_HOST_LOCK_H

#include <stdbool.h>

#include "lib/base/str.h"

struct host_locks {
    int fd; /* -1: no file, and every lock is free */
};

/** Opens the file `path`, creating it if missing. Returns false with errno set. */
bool host_locks_open(struct host_locks *locks, const char *path);

/** Closes the file, which releases this process's locks. Harmless if there is none. */
void host_locks_close(struct host_locks *locks);

/** Acquires the lock called `name`; true also if this process already holds it. False: another
 *  process holds it. */
bool host_lock_try(struct host_locks *locks, struct str name);

/** Releases the lock; harmless if it is not held. */
void host_lock_leave(struct host_locks *locks, struct str name);

#endif
