#include "fcgi-app/operator/payments/payment_answer.h"

#include "fcgi-app/http/problem.h"
#include "fcgi-app/operator/operator_call.h"

static json_object *time_or_null(int64_t ms)
{
    return ms >= 0 ? time_json(ms) : NULL;
}

static json_object *text_or_null(struct str text)
{
    return text.n > 0 ? text_json(text) : NULL;
}

json_object *payment_answer_json(const struct payment_seen *payment)
{
    json_object *answer = json_object_new_object();

    json_object_object_add(answer, "id", text_json(payment->id));
    json_object_object_add(answer, "order", text_json(payment->order));
    json_object_object_add(answer, "provider", text_json(payment->provider));
    json_object_object_add(answer, "reference", text_or_null(payment->ref));
    json_object_object_add(answer, "state", text_json(payment->state));
    json_object_object_add(answer, "why", text_json(payment->why));
    json_object_object_add(answer, "amount", json_object_new_int64(payment->amounts.total));
    json_object_object_add(answer, "taxFree", json_object_new_int64(payment->amounts.tax_free));
    json_object_object_add(answer, "vat", json_object_new_int64(payment->amounts.vat));
    json_object_object_add(answer, "currency", text_json(payment->amounts.currency));
    json_object_object_add(answer, "canceledAmount", json_object_new_int64(payment->canceled));
    json_object_object_add(answer, "needsPerson", json_object_new_boolean(payment->needs_person));
    json_object_object_add(answer, "lastError", text_or_null(payment->last_error));
    json_object_object_add(answer, "attempts", json_object_new_int64(payment->attempts));
    json_object_object_add(answer, "createdAt", time_json(payment->created_ms));
    json_object_object_add(answer, "updatedAt", time_json(payment->updated_ms));
    json_object_object_add(answer, "sessionEndsAt", time_or_null(payment->session_ends_ms));
    json_object_object_add(answer, "nextLookAt", time_or_null(payment->next_look_ms));
    return answer;
}

void payment_not_found(const struct request *request, struct response *response)
{
    problem_answer(request, response, PROBLEM_NOT_FOUND, "There is no such payment.");
}
