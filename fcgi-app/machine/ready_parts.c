#include "fcgi-app/machine/ready_parts.h"

static const char *word(bool answers)
{
    return answers ? "ok" : "unavailable";
}

void ready_parts_answer(struct response *response, const struct ready_part *parts, size_t count)
{
    bool all = true;

    for (size_t i = 0; i < count; i++) {
        all = all && parts[i].answers;
    }
    response_json(response, all ? 200 : 503);
    buffer_format(&response->body, "{\"status\":\"%s\",\"parts\":{", word(all));
    for (size_t i = 0; i < count; i++) {
        buffer_format(&response->body, "%s\"%s\":\"%s\"", i == 0 ? "" : ",", parts[i].name,
                      word(parts[i].answers));
    }
    buffer_add(&response->body, STR("}}"));
    if (!all) {
        response_header(response, "Retry-After", STR("2"));
    }
}
