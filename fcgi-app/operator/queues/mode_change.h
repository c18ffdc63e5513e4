/*
 * mode_change — a queue's mode may change only while the queue is empty: places in line and places
 * in a draw cannot be converted into each other. One step in Redis finds the queue empty and locks
 * it, so that nobody enters before the change is published.
 */
#ifndef SLUICE_OPERATOR_MODE_CHANGE_H
#define SLUICE_OPERATOR_MODE_CHANGE_H

#include <stdbool.h>

#include "fcgi-app/operator/queues/queue_answer.h"

/** True if `settings` keep the mode of `row`, or its draw is still to be held and the queue was
 *  empty and is now locked. Then change it on the version of `row` only, unless `*is_stale`: the
 *  queue has been changed since `row` was read. Answers with a problem otherwise. */
bool mode_may_change(const struct services *services, const struct request *request,
                     struct response *response, const struct queue_row *row, json_object *settings,
                     bool *is_stale);

#endif
