/*
 * mode_change — a queue's mode may change only while the queue is empty: places in line and places
 * in a draw cannot be converted into each other.
 */
#ifndef SLUICE_OPERATOR_MODE_CHANGE_H
#define SLUICE_OPERATOR_MODE_CHANGE_H

#include <stdbool.h>

#include "fcgi-app/operator/queue_answer.h"

/** True if `settings` keep the mode of `row`, or the queue is empty and its draw is still to be
 *  held. Answers with a problem otherwise. */
bool mode_may_change(const struct services *services, const struct request *request,
                     struct response *response, const struct queue_row *row, json_object *settings);

#endif
