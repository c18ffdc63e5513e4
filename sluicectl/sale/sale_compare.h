/*
 * sale_compare — compares an object as a file describes it with the server's.
 */
#ifndef SLUICE_SLUICECTL_SALE_COMPARE_H
#define SLUICE_SLUICECTL_SALE_COMPARE_H

#include <stdbool.h>

#include <json-c/json.h>

#include "lib/base/arena.h"

/** Whether two values are equivalent: numbers by value, times by the moment, all else by its
 *  text. */
bool sale_same(json_object *wanted, json_object *present);

/** The seats of a show's "seats" or "plan", as the server would create them, each with all its
 *  fields as text; a new array for the arena. Input that the server would refuse gives an
 *  unspecified result: the server reports it. */
json_object *sale_seats(struct arena *arena, json_object *seats, json_object *plan);

#endif
