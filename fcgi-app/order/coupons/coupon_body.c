#include "fcgi-app/order/coupons/coupon_body.h"

#include "fcgi-app/http/problem.h"
#include "fcgi-app/order/body_parts.h"

enum { CAPTCHA_TEXT_MAX = 16 * 1024 };

static bool read_captcha(const struct request *request, struct response *response,
                         json_object *value, struct str *captcha)
{
    *captcha = str_sized(json_object_get_string(value), (size_t)json_object_get_string_len(value));
    if (!json_object_is_type(value, json_type_string) || captcha->n > CAPTCHA_TEXT_MAX) {
        problem_answer_at(request, response, "/captcha",
                          "captcha must be a string of at most 16 KiB.");
        return false;
    }
    return true;
}

bool coupon_body_read(const struct request *request, struct response *response, struct str *captcha)
{
    static const char *const MEMBERS[] = {"captcha", NULL};
    struct body_fault fault;
    const char *why;
    json_object *json = request_json(request, &why);

    *captcha = (struct str){0};
    if (json == NULL) {
        problem_answer_at(request, response, "", "%s", why);
        return false;
    }
    if (!body_only_members(request->arena, json, "", MEMBERS, &fault)) {
        problem_answer_at(request, response, fault.pointer, "%s", fault.why);
        return false;
    }
    json_object *value = json_object_object_get(json, "captcha");
    return value == NULL || read_captcha(request, response, value, captcha);
}
