/*
 * mode_change — a queue's mode may change only while nobody is in it: places in line and places
 * that are drawn for are not each other's like.
 */
#ifndef SLUICE_OPERATOR_MODE_CHANGE_H
#define SLUICE_OPERATOR_MODE_CHANGE_H

#include <stdbool.h>

#include "fcgi-app/operator/queue_answer.h"

/** True where `settings` keep the mode of `row`, or nobody is in the queue and its draw is still
 *  to be held. Answers with a problem otherwise. */
bool mode_may_change(const struct services *services, const struct request *request,
                     struct response *response, const struct queue_row *row, json_object *settings);

#endif
