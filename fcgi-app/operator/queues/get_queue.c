/*
 * GET /v1/admin/queues/{queue} — a queue's settings, each with the value in force.
 *
 * Reply     200 the queue; PUT accepts it unchanged
 * Errors    401 UNAUTHENTICATED, 404 NOT_FOUND, 503 ORDERS_UNAVAILABLE
 * Touches   sql/queries/queues/queue_get.sql; never Redis
 * Roles     operator, viewer
 */
#include "fcgi-app/operator/queues/queue_answer.h"
#include "fcgi-app/pool/handler.h"

void get_queue(const struct services *services, const struct request *request,
               struct response *response)
{
    struct operator_call call;
    struct queue_row row;
    bool found = false;

    if (!operator_begin(services, request, response, true, &call) ||
        !operator_store_answered(
            services, request, response,
            queue_store_get(services->postgres, request->arena, call.id, &found, &row))) {
        return;
    }
    if (!found) {
        (void)queue_not_found(request, response, call.id);
        return;
    }
    queue_answer(response, 200, &row);
}
