/*
 * product_answer — shared by the operators' routes about products.
 */
#ifndef SLUICE_OPERATOR_PRODUCT_ANSWER_H
#define SLUICE_OPERATOR_PRODUCT_ANSWER_H

#include "fcgi-app/http/response.h"
#include "lib/database/goods/product_store.h"

/** Answers with a product. */
void product_answer(struct response *response, int status, const struct product *product);

#endif
