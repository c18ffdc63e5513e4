/*
 * pages — paged lists of the operator API.
 */
#ifndef SLUICE_SLUICECTL_PAGES_H
#define SLUICE_SLUICECTL_PAGES_H

#include <json-c/json.h>

#include "sluicectl/invocation.h"

/** All elements of `name` in GET `path`, from all pages, as an array in the arena; NULL, with a
 *  message, if a page cannot be read. At most 100,000 objects. */
json_object *pages_read(const struct invocation *invocation, const char *path, const char *name);

#endif
