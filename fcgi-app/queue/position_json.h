/*
 * position_json — the wire form of a position, as enter and position answer it.
 */
#ifndef SLUICE_QUEUE_POSITION_JSON_H
#define SLUICE_QUEUE_POSITION_JSON_H

#include "fcgi-app/http/response.h"
#include "fcgi-app/queue/poll_tiers.h"
#include "lib/admission/line.h"
#include "lib/base/str.h"

/** Seconds until one's turn, -1 where nobody can tell. */
int64_t position_estimate_s(const struct line_position *position);

/** True where the place cannot be computed from the board: it is not one of the main line. */
bool position_is_exact_only(const struct line_position *position);

/** When to ask again. */
struct poll_pause position_pause(const struct line_position *position);

/** Appends the position as an object. `ticket` is empty except after an entry. */
void position_json_add(struct buffer *body, struct str queue, const struct line_position *position,
                       struct poll_pause pause, struct str ticket);

/** Answers with `status` and the position. `ticket` as above. */
void position_json_answer(struct response *response, int status, struct str queue,
                          const struct line_position *position, struct str ticket);

#endif
