#include "fcgi-app/catalog/catalog_answer.h"

#include "fcgi-app/http/etag.h"
#include "fcgi-app/http/problem.h"

void catalog_answer_failure(const struct request *request, struct response *response,
                            enum catalog_outcome outcome, const char *what)
{
    if (outcome == CATALOG_NONE) {
        problem_answer(request, response, PROBLEM_NOT_FOUND, "There is no such %s.", what);
    } else {
        problem_answer(
            request, response, PROBLEM_CATALOG_UNAVAILABLE,
            "The catalogue cannot be read at the moment. Send the same request again in a moment.");
    }
}

void catalog_answer(const struct services *services, const struct request *request,
                    struct response *response, enum catalog_kind kind, struct str id)
{
    struct catalog_object object;
    enum catalog_outcome outcome =
        catalog_get(services->catalog, request->arena, kind, id, &object);

    if (outcome != CATALOG_FOUND) {
        catalog_answer_failure(request, response, outcome,
                               kind == CATALOG_CONCERT ? "concert" : "show");
        return;
    }
    response->cache_control = "public, no-cache";
    if (etag_answer(request, response, str_of(object.etag))) {
        return;
    }
    response_json(response, 200);
    buffer_add(&response->body, object.text);
}
