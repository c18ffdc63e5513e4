/*
 * GET /v1/admin/queues/{queue}/codes — how many codes a queue has, and how many of their uses are
 * used: as last copied from Redis, every few seconds.
 *
 * Reply     200 {"queue", "kinds": [{"kind", "codes", "uses", "used"}]}
 * Errors    401 UNAUTHENTICATED, 404 NOT_FOUND, 503 ORDERS_UNAVAILABLE
 * Touches   sql/queries/queues/codes_count.sql, queue_get.sql if there are none; never Redis
 * Roles     operator, viewer
 */
#include "fcgi-app/operator/operator_call.h"
#include "fcgi-app/operator/queues/queue_answer.h"
#include "fcgi-app/pool/handler.h"
#include "lib/database/queues/code_store.h"

void get_codes(const struct services *services, const struct request *request,
               struct response *response)
{
    struct operator_call call;
    const struct code_count *counts;
    size_t count;

    if (!operator_begin(services, request, response, true, &call) ||
        !operator_store_answered(
            services, request, response,
            code_store_counts(services->postgres, request->arena, call.id, &counts, &count)) ||
        !queue_list_is_real(services, request, response, call.id, count)) {
        return;
    }
    json_object *answer = json_object_new_object();
    json_object *kinds = json_object_new_array();
    for (size_t i = 0; i < count; i++) {
        json_object *kind = json_object_new_object();
        json_object_object_add(kind, "kind", text_json(counts[i].kind));
        json_object_object_add(kind, "codes", json_object_new_int64(counts[i].codes));
        json_object_object_add(kind, "uses", json_object_new_int64(counts[i].uses));
        json_object_object_add(kind, "used", json_object_new_int64(counts[i].used));
        json_object_array_add(kinds, kind);
    }
    json_object_object_add(answer, "queue", text_json(call.id));
    json_object_object_add(answer, "kinds", kinds);
    response_json_object(response, 200, answer);
    (void)json_object_put(answer);
}
