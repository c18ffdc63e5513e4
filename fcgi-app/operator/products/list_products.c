/*
 * GET /v1/admin/products[?after=ID] — all products and what is left of them, in order of their ids.
 *
 * Reply     200 {"products": [a product as its own route returns it, …], "next": ID|null}, five
 *           hundred a page
 * Errors    401 UNAUTHENTICATED, 400 INVALID_REQUEST, 503 ORDERS_UNAVAILABLE
 * Touches   sql/queries/goods/products_page.sql; never Redis
 * Roles     operator, viewer
 */
#include "fcgi-app/operator/object_list.h"
#include "fcgi-app/pool/handler.h"

void list_products(const struct services *services, const struct request *request,
                   struct response *response)
{
    object_list_answer(services, request, response, OBJECT_PRODUCT, "products");
}
