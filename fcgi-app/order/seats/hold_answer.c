#include "fcgi-app/order/seats/hold_answer.h"

#include "lib/base/clock.h"

static void add_time(struct buffer *body, const char *name, int64_t ms)
{
    char text[RFC3339_TEXT + 1];

    rfc3339_format(ms, text);
    buffer_format(body, ",\"%s\":\"%s\"", name, text);
}

void hold_answer(struct response *response, int status, const struct seat_holds *holds)
{
    struct buffer *body = &response->body;

    response_json(response, status);
    buffer_add(body, STR("{\"seats\":["));
    for (size_t i = 0; i < holds->count; i++) {
        if (i > 0) {
            buffer_add_char(body, ',');
        }
        buffer_add_json_string(body, holds->holds[i].seat);
    }
    buffer_add_char(body, ']');
    if (holds->count > 0) {
        add_time(body, "expiresAt", holds->holds[0].ends_ms);
    } else {
        buffer_add(body, STR(",\"expiresAt\":null"));
    }
    buffer_add(body, STR(",\"held\":["));
    for (size_t i = 0; i < holds->count; i++) {
        buffer_add(body, i > 0 ? STR(",{\"seat\":") : STR("{\"seat\":"));
        buffer_add_json_string(body, holds->holds[i].seat);
        add_time(body, "expiresAt", holds->holds[i].ends_ms);
        buffer_add_char(body, '}');
    }
    buffer_add_char(body, ']');
    add_time(body, "serverTime", holds->now_ms);
    buffer_add_char(body, '}');
}
