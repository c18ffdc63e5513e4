/*
 * host_lock — locks between the processes of one host, any number in one file. The kernel gives a
 * lock back when its process ends, however it ends; nobody waits for one here.
 */
#ifndef SLUICE_CATALOG_HOST_LOCK_H
#define SLUICE_CATALOG_HOST_LOCK_H

#include <stdbool.h>

#include "lib/base/str.h"

struct host_locks {
    int fd; /* -1: there is no file, and every lock is free */
};

/** Opens the file `path`, made where it is not there. Returns false with errno. */
bool host_locks_open(struct host_locks *locks, const char *path);

void host_locks_close(struct host_locks *locks);

/** Takes the lock called `name`; true at once where this process has it already. False: another
 *  has it. */
bool host_lock_try(struct host_locks *locks, struct str name);

void host_lock_leave(struct host_locks *locks, struct str name);

#endif
