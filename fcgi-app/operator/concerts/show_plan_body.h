/*
 * show_plan_body — the seats in the body of PUT /v1/admin/shows/{show}: listed, or generated from a
 * plan.
 */
#ifndef SLUICE_OPERATOR_SHOW_PLAN_BODY_H
#define SLUICE_OPERATOR_SHOW_PLAN_BODY_H

#include <stdbool.h>
#include <stddef.h>

#include <json-c/json.h>

#include "fcgi-app/operator/body_reader.h"
#include "lib/database/seats/show_store.h"

/** The seats of a show, in the arena; `seats` NULL if the body does not mention them. */
struct show_plan_body {
    const struct plan_seat *seats; /* each id once */
    size_t count;                  /* ≤ SHOW_SEATS_MAX */
    struct str currency;           /* of all of them; empty if there are none */
};

/** Reads "seats" or "plan" of `body`; both together are refused. False: answered. */
bool show_plan_body_read(const struct body_reader *reader, json_object *body,
                         struct show_plan_body *plan);

#endif
