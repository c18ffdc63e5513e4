/*
 * confinement — what a program of ours leaves itself of the machine (lib/base/sandbox.h), by its
 * settings: the stores that it speaks to, the files that it reads again when they change, the
 * folders that it shares with others of its host.
 */
#ifndef SLUICE_STORE_CONFINEMENT_H
#define SLUICE_STORE_CONFINEMENT_H

#include <stdbool.h>

#include "lib/settings/settings.h"

struct confinement {
    const char *const *
        reads; /* names of settings, the last one NULL: files or folders that it reads; NULL: none */
    bool has_postgres; /* speaks to PostgreSQL */
    bool calls_others; /* asks somebody else's server by HTTP */
    bool keeps_board;  /* writes board_directory, and makes it anew where it went away */
};

/** Confines the process for the rest of its life, unless the setting `sandbox` says no: it opens
 *  what `reads` names, what Redis and PostgreSQL need by the settings, and the shared folders
 *  (those of metrics_file, snapshot_file, catalog_l1_directory and origin_socket; of
 *  board_directory where it keeps the board). Whoever opens anything else does it before. Logs
 *  what the kernel has not got. */
void confine(const struct settings *settings, const struct confinement *confinement);

#endif
