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

/** Why `file`, which was found below the data folder, must not be read: nobody named that folder,
 *  and in the ./data of a foreign working folder another user may have put the file, or a link to
 *  one that only this user may read. NULL if it may. In the invocation's arena. */
const char *installation_refusal(const struct invocation *invocation, const char *file);

/** The file of its operator's key, unless SLUICE_ADMIN_KEY_FILE names one; `*refusal` gets why it
 *  must not be read, as installation_refusal() says. In the invocation's arena. */
const char *installation_key_file(const struct invocation *invocation, const char **refusal);

/** Its address on this machine, in the invocation's arena: for an installed Sluice the one at which
 *  nginx serves this machine alone, see scripts/site; empty if it serves none. */
const char *installation_url(const struct invocation *invocation);

#endif
