/*
 * sale_change — the difference between an object of a file and the server's, and applying it.
 */
#ifndef SLUICE_SLUICECTL_SALE_CHANGE_H
#define SLUICE_SLUICECTL_SALE_CHANGE_H

#include "sluicectl/sale/sale_file.h"

struct sale_change {
    const struct sale_kind *kind;
    const char *id;
    json_object *wanted;  /* as the file has it */
    json_object *present; /* as the server has it, in the arena; NULL: it does not exist */
    json_object
        *fields; /* [{"name", "before", "after"}] that differ, in the arena; empty: none differ */
};

/** Reads the object from the server and compares. False, with a message, if that fails. */
bool sale_change_find(const struct invocation *invocation, const struct sale_kind *kind,
                      const char *id, json_object *wanted, struct sale_change *change);

/** Creates or changes the object; fields that the file does not name stay. False, with a message,
 *  for a refusal. */
bool sale_change_make(const struct invocation *invocation, const struct sale_change *change);

#endif
