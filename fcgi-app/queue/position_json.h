/*
 * position_json — the wire form of a position, used by enter and position.
 */
#ifndef SLUICE_QUEUE_POSITION_JSON_H
#define SLUICE_QUEUE_POSITION_JSON_H

#include "fcgi-app/http/response.h"
#include "lib/admission/line/line.h"
#include "lib/admission/line/poll_tiers.h"
#include "lib/base/str.h"

/** Estimated seconds until the turn, -1 if unknown. */
int64_t position_estimate_s(const struct line_position *position);

/** True if the place cannot be computed from the board: it is not one of the main line. */
bool position_is_exact_only(const struct line_position *position);

/** When to poll again. */
struct poll_pause position_pause(const struct line_position *position);

/** Appends the position as an object. `ticket` is empty except after an entry. */
void position_json_add(struct buffer *body, struct str queue, const struct line_position *position,
                       struct poll_pause pause, struct str ticket);

/** Answers with `status` and the position. `ticket` as above. */
void position_json_answer(struct response *response, int status, struct str queue,
                          const struct line_position *position, struct str ticket);

#endif
