/*
 * GET /v1/admin/queues/{queue}/goods — what is sold through a queue and what is left.
 *
 * Reply     200 {"goods": [{"kind", "id", "name", "total", "sold", "left", "costs"}, …]}
 * Errors    401 UNAUTHENTICATED, 404 NOT_FOUND, 503 ORDERS_UNAVAILABLE
 * Touches   sql/queries/queues/queue_get.sql, goods_list.sql; never Redis
 * Roles     operator, viewer
 */
#include "fcgi-app/operator/queues/queue_answer.h"
#include "fcgi-app/pool/handler.h"
#include "lib/database/service/service_figures.h"

static json_object *row_json(const struct goods_row *row)
{
    json_object *answer = json_object_new_object();

    json_object_object_add(answer, "kind", text_json(row->kind));
    json_object_object_add(answer, "id", text_json(row->id));
    json_object_object_add(answer, "name", text_json(row->name));
    json_object_object_add(answer, "total", json_object_new_int64(row->total));
    json_object_object_add(answer, "sold", json_object_new_int64(row->total - row->left));
    json_object_object_add(answer, "left", json_object_new_int64(row->left));
    json_object_object_add(answer, "costs", json_object_new_boolean(row->costs));
    return answer;
}

void get_goods(const struct services *services, const struct request *request,
               struct response *response)
{
    struct operator_call call;
    struct queue_row queue;
    struct goods_row *rows = NULL;
    size_t count = 0;
    bool found = false;

    if (!operator_begin(services, request, response, true, &call) ||
        !operator_store_answered(
            services, request, response,
            queue_store_get(services->postgres, request->arena, call.id, &found, &queue))) {
        return;
    }
    if (!found) {
        (void)queue_not_found(request, response, call.id);
        return;
    }
    if (!operator_store_answered(
            services, request, response,
            goods_list(services->postgres, request->arena, call.id, &rows, &count))) {
        return;
    }
    json_object *answer = json_object_new_object();
    json_object *goods = json_object_new_array();
    for (size_t i = 0; i < count; i++) {
        json_object_array_add(goods, row_json(&rows[i]));
    }
    json_object_object_add(answer, "goods", goods);
    response_json_object(response, 200, answer);
    (void)json_object_put(answer);
}
