/*
 * GET /v1/admin/shows[?after=ID] — all shows, in order of their ids.
 *
 * Reply     200 {"shows": [a show as its own route returns it, without seats, …], "next": ID|null},
 *           five hundred a page
 * Errors    401 UNAUTHENTICATED, 400 INVALID_REQUEST, 503 ORDERS_UNAVAILABLE
 * Touches   sql/queries/goods/all_shows_page.sql; never Redis
 * Roles     operator, viewer
 */
#include "fcgi-app/operator/object_list.h"
#include "fcgi-app/pool/handler.h"

void list_shows(const struct services *services, const struct request *request,
                struct response *response)
{
    object_list_answer(services, request, response, OBJECT_SHOW, "shows");
}
