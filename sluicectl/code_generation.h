/*
 * code_generation — codes that the server makes, invite and priority codes and coupons alike, in as
 * many requests as it takes.
 */
#ifndef SLUICE_SLUICECTL_CODE_GENERATION_H
#define SLUICE_SLUICECTL_CODE_GENERATION_H

#include <json-c/json.h>

#include "sluicectl/invocation.h"

enum { CODES_PER_REQUEST = 10000 };

/** Has `count` (a number from 1 to 10,000,000, as text) codes made by POST `path`, and prints
 *  them as they come: a code a line, or with --json the answers. `request` has what else each
 *  request says. Returns EXIT_USAGE for another `count`, EXIT_FAILED, and said why, where a
 *  request fails. */
enum exit_code codes_generate(const struct invocation *invocation, const char *path,
                              json_object *request, const char *count);

#endif
