/*
 * GET /v1/admin/payments[?stuck=true][&state=…][&order=o_…][&limit=1..500][&cursor=p_…] — payments,
 * newest first. stuck: only those that need a person.
 *
 * Reply     200 {"payments": [a payment, see payment_answer.h, …], "next": cursor of the next page
 *           or null}
 * Errors    401 UNAUTHENTICATED, 400 INVALID_REQUEST, 503 ORDERS_UNAVAILABLE
 * Touches   sql/queries/payments/payments_page.sql; never Redis
 * Roles     operator, viewer
 */
#include "fcgi-app/http/problem.h"
#include "fcgi-app/operator/operator_call.h"
#include "fcgi-app/operator/payments/payment_answer.h"
#include "fcgi-app/pool/handler.h"

enum { LIMIT_USUAL = 100 };

static bool refuse(const struct request *request, struct response *response, const char *what)
{
    problem_answer(request, response, PROBLEM_INVALID_REQUEST, "%s", what);
    return false;
}

static bool read_filter(const struct request *request, struct response *response,
                        struct payment_filter *filter, int64_t *limit)
{
    struct str value;
    enum payment_phase phase;

    if (request_query(request, STR("stuck"), &value)) {
        filter->stuck = str_equal(value, STR("true"));
        if (!filter->stuck && !str_equal(value, STR("false"))) {
            return refuse(request, response, "stuck must be true or false.");
        }
    }
    if (request_query(request, STR("state"), &filter->state) &&
        !payment_phase_parse(filter->state, &phase)) {
        return refuse(request, response, "state must be a state of a payment, e.g. UNKNOWN.");
    }
    if (request_query(request, STR("order"), &filter->order) && !order_id_is_valid(filter->order)) {
        return refuse(request, response, "order must be an order's id.");
    }
    if (request_query(request, STR("cursor"), &filter->before) &&
        !payment_id_is_valid(filter->before)) {
        return refuse(request, response, "cursor must be the `next` of the previous page.");
    }
    if (request_query(request, STR("limit"), &value) &&
        !str_to_int64(value, 1, PAYMENT_PAGE_MAX, limit)) {
        return refuse(request, response, "limit must be a whole number from 1 to 500.");
    }
    return true;
}

void list_payments(const struct services *services, const struct request *request,
                   struct response *response)
{
    struct operator_call call;
    struct payment_filter filter = {.stuck = false};
    struct payment_seen *rows = NULL;
    size_t count = 0;
    int64_t limit = LIMIT_USUAL;

    if (!operator_begin(services, request, response, true, &call) ||
        !read_filter(request, response, &filter, &limit)) {
        return;
    }
    /* One row more than wanted shows whether there is a next page. */
    if (!operator_store_answered(services, request, response,
                                 payment_admin_page(services->postgres, request->arena, &filter,
                                                    limit + 1, &rows, &count))) {
        return;
    }
    json_object *answer = json_object_new_object();
    json_object *payments = json_object_new_array();
    size_t shown = count > (size_t)limit ? (size_t)limit : count;
    for (size_t i = 0; i < shown; i++) {
        json_object_array_add(payments, payment_answer_json(&rows[i]));
    }
    json_object_object_add(answer, "payments", payments);
    json_object_object_add(answer, "next", count > shown ? text_json(rows[shown - 1].id) : NULL);
    response_json_object(response, 200, answer);
    (void)json_object_put(answer);
}
