/*
 * pages — lists of the operator API that come by pages.
 */
#ifndef SLUICE_SLUICECTL_PAGES_H
#define SLUICE_SLUICECTL_PAGES_H

#include <json-c/json.h>

#include "sluicectl/invocation.h"

/** Everything under the name `name` of GET `path`, all pages of it, as an array in the arena;
 *  NULL, and said why, where a page cannot be had. At most 100,000 objects. */
json_object *pages_read(const struct invocation *invocation, const char *path, const char *name);

#endif
