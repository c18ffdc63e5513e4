/*
 * postgres_reach — the files and network access that libpq needs for a conninfo, including what its
 * service, PG… variables and defaults add.
 */
#ifndef SLUICE_STORE_POSTGRES_REACH_H
#define SLUICE_STORE_POSTGRES_REACH_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/base/arena.h"
#include "lib/settings/settings.h"

enum { POSTGRES_FILES_MOST = 16 };

struct postgres_reach {
    /* A server is, or may be (a service can change), reached by something other than a Unix
     * socket. */
    bool has_network;
    size_t count;
    struct {
        const char *path; /* absolute; may be missing */
        bool alone;       /* nothing beside it is needed */
    } files[POSTGRES_FILES_MOST];
};

/** Determines it without connecting; paths live in the arena. Returns false, with one sentence in
 *  `error`, if libpq refuses the conninfo (for example an undefined service), or a path is not
 *  absolute. */
bool postgres_reach_find(const char *conninfo, struct arena *arena, struct postgres_reach *reach,
                         char error[SETTINGS_ERROR]);

/** Whether the sandbox, if enabled, can grant it: a check of the settings (struct program). True
 *  for an empty postgres_conninfo. */
bool postgres_reach_check(const struct settings *settings, char error[SETTINGS_ERROR]);

#endif
