/*
 * GET /v1/admin/products/{sku} — a product and what is left of it.
 *
 * Reply     200 {"sku", "name", "price": {"amount", "currency"}, "stock", "available", "queue"}
 * Errors    401 UNAUTHENTICATED, 404 NOT_FOUND, 503 ORDERS_UNAVAILABLE
 * Touches   sql/queries/goods/product_find.sql; never Redis
 * Roles     operator, viewer
 */
#include "fcgi-app/http/problem.h"
#include "fcgi-app/operator/operator_call.h"
#include "fcgi-app/operator/products/product_answer.h"
#include "fcgi-app/pool/handler.h"

void get_product(const struct services *services, const struct request *request,
                 struct response *response)
{
    struct operator_call call;
    struct product product;

    if (!operator_begin(services, request, response, true, &call)) {
        return;
    }
    switch (product_find(services->postgres, request->arena, call.id, &product)) {
    case PRODUCT_FOUND:
        product_answer(response, 200, &product);
        return;
    case PRODUCT_NONE:
        problem_answer(request, response, PROBLEM_NOT_FOUND, "There is no product %.*s.",
                       STR_ARG(call.id));
        return;
    case PRODUCT_UNAVAILABLE:
        problem_answer(request, response, PROBLEM_ORDERS_UNAVAILABLE,
                       "PostgreSQL cannot answer at the moment.");
        return;
    default:
        problem_answer(request, response, PROBLEM_INTERNAL_ERROR, "PostgreSQL refused the query.");
        return;
    }
}
