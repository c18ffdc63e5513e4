#include "fcgi-app/http/etag.h"

bool etag_matches(struct str header, struct str etag)
{
    struct str one;

    if (str_equal(str_trim(header), STR("*"))) {
        return true;
    }
    while (header.n > 0) {
        (void)str_split(header, ',', &one, &header);
        one = str_trim(one);
        if (str_starts(one, STR("W/"))) {
            one = str_sized(one.p + 2, one.n - 2);
        }
        if (str_equal(one, etag)) {
            return true;
        }
    }
    return false;
}

bool etag_answer(const struct request *request, struct response *response, struct str etag)
{
    response_header(response, "ETag", etag);
    if (!etag_matches(request->if_none_match, etag)) {
        return false;
    }
    response->status = 304;
    response->content_type = NULL;
    buffer_clear(&response->body);
    return true;
}
