#include "fcgi-app/operator/object_list.h"

#include "fcgi-app/http/problem.h"
#include "fcgi-app/operator/operator_call.h"
#include "lib/base/identifier.h"

/* A page of the longest descriptions stays far below the maximum size of an answer. */
enum { OBJECTS_PER_PAGE = 500 };

void object_list_answer(const struct services *services, const struct request *request,
                        struct response *response, enum object_kind kind, const char *name)
{
    struct operator_call call;
    struct str after = STR("");
    const struct object_row *rows = NULL;
    size_t count = 0;

    if (!operator_begin(services, request, response, true, &call)) {
        return;
    }
    if (request_query(request, STR("after"), &after) && !identifier_is_slug(after)) {
        problem_answer(request, response, PROBLEM_INVALID_REQUEST,
                       "after must be the `next` of the previous page.");
        return;
    }
    /* One row more than shown tells whether there is a next page. */
    if (!operator_store_answered(services, request, response,
                                 object_page(services->postgres, request->arena, kind, after,
                                             OBJECTS_PER_PAGE + 1, &rows, &count))) {
        return;
    }
    size_t shown = count > OBJECTS_PER_PAGE ? OBJECTS_PER_PAGE : count;
    struct buffer *out = &response->body;
    response_json(response, 200);
    buffer_format(out, "{\"%s\":[", name);
    for (size_t i = 0; i < shown; i++) {
        if (i > 0) {
            buffer_add_char(out, ',');
        }
        buffer_add(out, rows[i].json);
    }
    buffer_add(out, STR("],\"next\":"));
    if (count > shown) {
        buffer_add_json_string(out, rows[shown - 1].id);
    } else {
        buffer_add(out, STR("null"));
    }
    buffer_add_char(out, '}');
}
