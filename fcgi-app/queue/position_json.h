/*
 * position_json — the wire form of a position, as enter and position answer it.
 */
#ifndef SLUICE_QUEUE_POSITION_JSON_H
#define SLUICE_QUEUE_POSITION_JSON_H

#include "fcgi-app/http/response.h"
#include "lib/admission/line.h"
#include "lib/base/str.h"

/** Answers with `status` and the position. `ticket` is empty except after an entry. */
void position_json_answer(struct response *response, int status, struct str queue,
                          const struct line_position *position, struct str ticket);

#endif
