/*
 * show_answer — concerts and shows as operators see them, and the problems of their store calls.
 */
#ifndef SLUICE_OPERATOR_SHOW_ANSWER_H
#define SLUICE_OPERATOR_SHOW_ANSWER_H

#include <stdbool.h>
#include <stddef.h>

#include "fcgi-app/http/request.h"
#include "fcgi-app/http/response.h"
#include "lib/database/seats/show_store.h"

/** Answers an outcome about the `what` ("concert", "show") `id`: NONE, UNAVAILABLE, UNKNOWN, or a
 *  defect. Returns false. */
bool show_refuse(const struct request *request, struct response *response,
                 enum show_outcome outcome, const char *what, struct str id);

/** Answers with a concert. */
void concert_answer(struct response *response, int status, const struct concert_record *concert);

/** Answers with a show; `seats` NULL: without its plan. PUT accepts what GET returns. */
void show_answer(struct response *response, int status, const struct show_record *show,
                 const struct plan_seat *seats, size_t count);

#endif
