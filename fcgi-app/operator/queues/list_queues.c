/*
 * GET /v1/admin/queues — all queues with their settings, in order of their ids.
 *
 * Reply     200 {"queues": [queue, …]}
 * Errors    401 UNAUTHENTICATED, 503 ORDERS_UNAVAILABLE
 * Touches   sql/queries/queues/queue_list.sql; never Redis
 * Roles     operator, viewer
 */
#include "fcgi-app/operator/queues/queue_answer.h"
#include "fcgi-app/pool/handler.h"

void list_queues(const struct services *services, const struct request *request,
                 struct response *response)
{
    struct operator_call call;
    struct queue_row *rows = NULL;
    size_t count = 0;

    if (!operator_begin(services, request, response, true, &call) ||
        !operator_store_answered(
            services, request, response,
            queue_store_list(services->postgres, request->arena, false, &rows, &count))) {
        return;
    }
    json_object *answer = json_object_new_object();
    json_object *queues = json_object_new_array();
    for (size_t i = 0; i < count; i++) {
        json_object_array_add(queues, queue_json(&rows[i]));
    }
    json_object_object_add(answer, "queues", queues);
    response_json_object(response, 200, answer);
    (void)json_object_put(answer);
}
