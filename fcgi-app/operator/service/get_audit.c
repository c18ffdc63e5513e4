/*
 * GET /v1/admin/audit[?limit=1..500][&cursor=…][&target=queue/{id}|product/{sku}] — who changed
 * what and when, newest first.
 *
 * Reply     200 {"entries": [{"id", "at", "actor", "action", "target", "requestId", "before",
 *           "after"}, …], "next": cursor of the next page or null}
 * Errors    401 UNAUTHENTICATED, 400 INVALID_REQUEST, 503 ORDERS_UNAVAILABLE
 * Touches   sql/queries/audit/audit_list.sql; never Redis
 * Roles     operator, viewer
 */
#include <inttypes.h>

#include "fcgi-app/http/problem.h"
#include "fcgi-app/operator/operator_call.h"
#include "fcgi-app/pool/handler.h"
#include "lib/base/identifier.h"
#include "lib/database/audit/audit_store.h"

enum { LIMIT_USUAL = 100, TARGET_MAX = 128 };

/** A number of the query between 1 and `max`, unchanged if it is missing. */
static bool read_number(const struct request *request, struct response *response, const char *name,
                        int64_t max, int64_t *number)
{
    struct str value;

    if (request_query(request, str_of(name), &value) && !str_to_int64(value, 1, max, number)) {
        problem_answer(request, response, PROBLEM_INVALID_REQUEST,
                       "%s must be a whole number from 1 to %" PRId64 ".", name, max);
        return false;
    }
    return true;
}

static bool read_target(const struct request *request, struct response *response,
                        struct str *target)
{
    struct str kind;
    struct str id;

    if (!request_query(request, STR("target"), target)) {
        *target = str_sized(NULL, 0);
        return true;
    }
    if (target->n > TARGET_MAX || !str_split(*target, '/', &kind, &id) ||
        !identifier_is_slug(kind) || !identifier_is_slug(id)) {
        problem_answer(request, response, PROBLEM_INVALID_REQUEST,
                       "target must be like queue/spring-sale or product/mug.");
        return false;
    }
    return true;
}

static json_object *entry_json(const struct audit_row *row)
{
    json_object *answer = json_object_new_object();
    json_object *before = NULL;
    json_object *after = NULL;

    (void)json_object_object_get_ex(row->details, "before", &before);
    (void)json_object_object_get_ex(row->details, "after", &after);
    json_object_object_add(answer, "id", json_object_new_int64(row->id));
    json_object_object_add(answer, "at", time_json(row->at_ms));
    json_object_object_add(answer, "actor", text_json(row->actor));
    json_object_object_add(answer, "action", text_json(row->action));
    json_object_object_add(answer, "target", text_json(row->target));
    json_object_object_add(answer, "requestId", text_json(row->request_id));
    json_object_object_add(answer, "before", json_object_get(before));
    json_object_object_add(answer, "after", json_object_get(after));
    return answer;
}

void get_audit(const struct services *services, const struct request *request,
               struct response *response)
{
    struct operator_call call;
    struct str target;
    struct audit_row *rows = NULL;
    size_t count = 0;
    int64_t limit = LIMIT_USUAL;
    int64_t before_id = 0;

    if (!operator_begin(services, request, response, true, &call) ||
        !read_number(request, response, "limit", AUDIT_LIMIT_MAX, &limit) ||
        !read_number(request, response, "cursor", INT64_MAX, &before_id) ||
        !read_target(request, response, &target)) {
        return;
    }
    /* One row more than wanted shows whether there is a next page. */
    if (!operator_store_answered(services, request, response,
                                 audit_store_list(services->postgres, request->arena, before_id,
                                                  target, limit + 1, &rows, &count))) {
        return;
    }
    json_object *answer = json_object_new_object();
    json_object *entries = json_object_new_array();
    size_t shown = count > (size_t)limit ? (size_t)limit : count;
    for (size_t i = 0; i < shown; i++) {
        json_object_array_add(entries, entry_json(&rows[i]));
    }
    json_object_object_add(answer, "entries", entries);
    json_object_object_add(answer, "next",
                           count > shown ? json_object_new_string(arena_format(
                                               request->arena, "%" PRId64, rows[shown - 1].id))
                                         : NULL);
    response_json_object(response, 200, answer);
    (void)json_object_put(answer);
}
