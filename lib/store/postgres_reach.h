/*
 * postgres_reach — what of the machine libpq needs for a conninfo, with what its service, PG…
 * variables and defaults add.
 */
#ifndef SLUICE_STORE_POSTGRES_REACH_H
#define SLUICE_STORE_POSTGRES_REACH_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/base/arena.h"
#include "lib/settings/settings.h"

enum { POSTGRES_FILES_MOST = 16 };

struct postgres_reach {
    bool
        has_network; /* a server is not reached by a Unix socket, or may not be: a service can change */
    size_t count;
    struct {
        const char *path; /* absolute; need not be there */
        bool alone;       /* nothing beside it is needed */
    } files[POSTGRES_FILES_MOST];
};

/** Finds it, without asking any server; paths are the arena's. Returns false, with a sentence in
 *  `error`, where libpq refuses the conninfo (a service that is in no file, say), or a file has
 *  no absolute path. */
bool postgres_reach_find(const char *conninfo, struct arena *arena, struct postgres_reach *reach,
                         char error[SETTINGS_ERROR]);

/** Whether that can be had in the sandbox, where there is one: a check of the settings (struct
 *  program). An empty postgres_conninfo is none. */
bool postgres_reach_check(const struct settings *settings, char error[SETTINGS_ERROR]);

#endif
