/*
 * GET /v1/admin/concerts/{concert} — a concert, as PUT takes it.
 *
 * Reply     200 {"concert", "title", "venue", "description", "version", "createdAt", "updatedAt"}
 * Errors    401 UNAUTHENTICATED, 404 NOT_FOUND, 503 ORDERS_UNAVAILABLE
 * Touches   sql/queries/seats/concert_find.sql; never Redis
 * Roles     operator, viewer
 */
#include "fcgi-app/operator/concerts/show_answer.h"
#include "fcgi-app/operator/operator_call.h"
#include "fcgi-app/pool/handler.h"

void get_concert_admin(const struct services *services, const struct request *request,
                       struct response *response)
{
    struct operator_call call;
    struct concert_record concert;

    if (!operator_begin(services, request, response, true, &call)) {
        return;
    }
    enum show_outcome found =
        concert_store_find(services->postgres, request->arena, call.id, &concert);
    if (found != SHOW_FOUND) {
        (void)show_refuse(request, response, found, "concert", call.id);
        return;
    }
    concert_answer(response, 200, &concert);
}
