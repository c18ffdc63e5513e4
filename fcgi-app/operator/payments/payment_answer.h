/*
 * payment_answer — shared by the operators' routes about payments.
 */
#ifndef SLUICE_OPERATOR_PAYMENT_ANSWER_H
#define SLUICE_OPERATOR_PAYMENT_ANSWER_H

#include <json-c/json.h>

#include "fcgi-app/http/request.h"
#include "fcgi-app/http/response.h"
#include "lib/database/payments/payment_admin.h"

/** A payment as operators see it, a new object. It holds nothing that grants access: no state of a
 *  return URL, no address of a payment page. */
json_object *payment_answer_json(const struct payment_seen *payment);

/** Answers that there is no such payment. */
void payment_not_found(const struct request *request, struct response *response);

#endif
