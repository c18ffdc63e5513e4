/*
 * sale_change — how one object of a file differs from what the server has, and making it so.
 */
#ifndef SLUICE_SLUICECTL_SALE_CHANGE_H
#define SLUICE_SLUICECTL_SALE_CHANGE_H

#include "sluicectl/sale_file.h"

struct sale_change {
    const struct sale_kind *kind;
    const char *id;
    json_object *wanted;  /* as the file has it */
    json_object *present; /* as the server has it, in the arena; NULL: it is not there */
    json_object *
        fields; /* [{"name", "before", "after"}] that differ, in the arena; empty: all is as wanted */
};

/** Asks the server for the object and compares. False, and said why, where it does not answer. */
bool sale_change_find(const struct invocation *invocation, const struct sale_kind *kind,
                      const char *id, json_object *wanted, struct sale_change *change);

/** Creates or changes the object; what the file does not name stays. False, and said why, for a
 *  refusal. */
bool sale_change_make(const struct invocation *invocation, const struct sale_change *change);

#endif
