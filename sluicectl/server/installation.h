/*
 * installation — which Sluice sluicectl concerns where nothing is named: that of scripts/run in the
 * data folder, or, without a named and an existing folder, the one installed on this machine.
 */
#ifndef SLUICE_SLUICECTL_INSTALLATION_H
#define SLUICE_SLUICECTL_INSTALLATION_H

#include <stdbool.h>

#include "sluicectl/invocation.h"

/** Whether it is the one installed on this machine. */
bool installation_is_system(const struct invocation *invocation);

/** The file of its operator's key, unless SLUICE_ADMIN_KEY_FILE names one. In the invocation's
 *  arena. */
const char *installation_key_file(const struct invocation *invocation);

/** Its address on this machine, in the invocation's arena: for an installed Sluice the one at which
 *  nginx serves this machine alone, see scripts/site; empty if it serves none. */
const char *installation_url(const struct invocation *invocation);

#endif
