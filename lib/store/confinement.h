/*
 * confinement — confines a program (lib/base/sandbox.h) to what its settings require: the stores
 * that it connects to, the files that it reloads when they change, the directories that it shares
 * with other programs of its host.
 */
#ifndef SLUICE_STORE_CONFINEMENT_H
#define SLUICE_STORE_CONFINEMENT_H

#include <stdbool.h>

#include "lib/settings/settings.h"

struct confinement {
    /* Names of settings, NULL-terminated, whose files or directories it reads; NULL: none. */
    const char *const *reads;
    bool has_postgres; /* connects to PostgreSQL */
    bool calls_others; /* calls third-party servers by HTTP */
    /* Writes board_directory, and recreates it if it disappears; receives at origin_socket. */
    bool keeps_board;
};

/** Confines the process for the rest of its life, unless the setting `sandbox` is off: it can then
 *  open what `reads` names, what Redis and PostgreSQL need by the settings, and the shared
 *  directories (those of metrics_file, snapshot_file and catalog_l1_directory; of board_directory
 *  and origin_socket if it keeps the board). Open any other file before. Logs what the kernel does
 *  not support. */
void confine(const struct settings *settings, const struct confinement *confinement);

#endif
