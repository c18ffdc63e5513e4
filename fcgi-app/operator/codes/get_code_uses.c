/*
 * GET /v1/admin/queues/{queue}/codes/uses[?after=CURSOR] — who has used which code, by the codes'
 * hashes.
 *
 * Reply     200 {"uses": [{"codeHash", "kind", "member", "at"}], "next": CURSOR|null}
 * Errors    401 UNAUTHENTICATED, 403 FORBIDDEN, 400 INVALID_REQUEST, 404 NOT_FOUND,
 *           503 ORDERS_UNAVAILABLE
 * Touches   sql/queries/queues/code_uses_page.sql, queue_get.sql if there are none; never Redis
 * Roles     operator
 */
#include "fcgi-app/http/problem.h"
#include "fcgi-app/operator/operator_call.h"
#include "fcgi-app/operator/queues/queue_answer.h"
#include "fcgi-app/pool/handler.h"
#include "lib/database/queues/code_store.h"

/** Reads ?after=hash/member. */
static bool read_after(const struct request *request, struct response *response,
                       struct code_use *after)
{
    struct str value;

    if (!request_query(request, STR("after"), &value) ||
        str_split(value, '/', &after->hash, &after->member)) {
        return true;
    }
    problem_answer(request, response, PROBLEM_INVALID_REQUEST,
                   "after must be the `next` of the previous page.");
    return false;
}

void get_code_uses(const struct services *services, const struct request *request,
                   struct response *response)
{
    struct operator_call call;
    struct code_use after = {0};
    const struct code_used *uses;
    size_t count;

    if (!operator_begin(services, request, response, false, &call) ||
        !read_after(request, response, &after) ||
        !operator_store_answered(
            services, request, response,
            code_store_uses(services->postgres, request->arena, call.id, &after, &uses, &count)) ||
        !queue_list_is_real(services, request, response, call.id, count)) {
        return;
    }
    json_object *answer = json_object_new_object();
    json_object *list = json_object_new_array();
    for (size_t i = 0; i < count; i++) {
        json_object *use = json_object_new_object();
        json_object_object_add(use, "codeHash", text_json(uses[i].use.hash));
        json_object_object_add(use, "kind", text_json(uses[i].kind));
        json_object_object_add(use, "member", text_json(uses[i].use.member));
        json_object_object_add(use, "at", time_json(uses[i].use.at_ms));
        json_object_array_add(list, use);
    }
    json_object_object_add(answer, "uses", list);
    json_object_object_add(answer, "next",
                           count == CODES_PER_CALL
                               ? text_json(str_of(arena_format(
                                     request->arena, "%.*s/%.*s", STR_ARG(uses[count - 1].use.hash),
                                     STR_ARG(uses[count - 1].use.member))))
                               : NULL);
    response_json_object(response, 200, answer);
    (void)json_object_put(answer);
}
