/*
 * sale_compare — what differs between an object as a file wants it and as the server has it.
 */
#ifndef SLUICE_SLUICECTL_SALE_COMPARE_H
#define SLUICE_SLUICECTL_SALE_COMPARE_H

#include <stdbool.h>

#include <json-c/json.h>

#include "lib/base/arena.h"

/** Whether two values mean the same: numbers by their value, times by their moment, all else as
 *  it is written. */
bool sale_same(json_object *wanted, json_object *present);

/** The seats of a show's "seats" or "plan", as the server would make them of it, each with all
 *  its fields as text; a new array for the arena. What the server would refuse comes out
 *  somehow: it is the server's to refuse. */
json_object *sale_seats(struct arena *arena, json_object *seats, json_object *plan);

#endif
