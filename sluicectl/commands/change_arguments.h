/*
 * change_arguments — arguments of the form name=value that become fields of a PUT.
 */
#ifndef SLUICE_SLUICECTL_CHANGE_ARGUMENTS_H
#define SLUICE_SLUICECTL_CHANGE_ARGUMENTS_H

#include <stdbool.h>
#include <stddef.h>

#include <json-c/json.h>

#include "sluicectl/invocation.h"
#include "sluicectl/server/client.h"

struct change_field {
    const char *word;  /* in the argument */
    const char *field; /* on the wire */
    bool number;
};

/** Reads the object at `read_path`, changes it by the arguments from the second on, and puts it to
 *  `path`: fields that are not named stay as they are. EXIT_DONE fills `answer`; EXIT_USAGE, with a
 *  message, for an argument that is not in `fields`. */
enum exit_code change_put(const struct invocation *invocation, const char *read_path,
                          const char *path, const struct change_field *fields, size_t count,
                          struct client_answer *answer);

#endif
