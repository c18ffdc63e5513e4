/*
 * seat_plan — a plan of seats as CSV: a header line (id, section, row, number, price, currency; in
 * any order), then a line a seat, in the plan's order. price is in the currency's minor unit.
 */
#ifndef SLUICE_SLUICECTL_SEAT_PLAN_H
#define SLUICE_SLUICECTL_SEAT_PLAN_H

#include <stdio.h>

#include <json-c/json.h>

#include "sluicectl/invocation.h"

/** Reads a plan as the list "seats" of PUT /v1/admin/shows/{show}; NULL, with a message, if it is
 *  invalid. The caller owns it. */
json_object *seat_plan_read(const struct invocation *invocation, FILE *file);

/** Prints the list "seats" as CSV; with --json one object a line. */
void seat_plan_print(const struct invocation *invocation, json_object *seats);

#endif
