#include "fcgi-app/order/coupons/coupon_body.h"

#include <string.h>

#include "fcgi-app/http/problem.h"

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
    const char *why;
    json_object *json = request_json(request, &why);

    *captcha = (struct str){0};
    if (json == NULL) {
        problem_answer_at(request, response, "", "%s", why);
        return false;
    }
    json_object_object_foreach(json, name, value)
    {
        if (strcmp(name, "captcha") != 0) {
            problem_answer_at(request, response, "", "The body may contain no field but captcha.");
            return false;
        }
        if (value != NULL && !read_captcha(request, response, value, captcha)) {
            return false;
        }
    }
    return true;
}
