#include "fcgi-app/http/response.h"

#include <string.h>

enum { HEADERS_MAX = 16 * 1024, BODY_MAX_BYTES = RESPONSE_MAX - 32 * 1024, KEPT_MAX = 64 * 1024 };

/* Sent if the body outgrew its bounds; all other errors are in errors.tbl. */
static const char TOO_LONG[] = "{\"code\":\"INTERNAL_ERROR\",\"type\":\"/problems/internal-error\","
                               "\"title\":\"Something went wrong on our side\",\"status\":500,"
                               "\"detail\":\"The answer is too long.\"}";

static const struct {
    int status;
    const char *reason;
} REASONS[] = {
    {200, "OK"},
    {201, "Created"},
    {202, "Accepted"},
    {204, "No Content"},
    {303, "See Other"},
    {304, "Not Modified"},
    {400, "Bad Request"},
    {401, "Unauthorized"},
    {403, "Forbidden"},
    {404, "Not Found"},
    {405, "Method Not Allowed"},
    {409, "Conflict"},
    {410, "Gone"},
    {413, "Content Too Large"},
    {422, "Unprocessable Content"},
    {429, "Too Many Requests"},
    {500, "Internal Server Error"},
    {503, "Service Unavailable"},
};

static const char *reason_of(int status)
{
    for (size_t i = 0; i < sizeof(REASONS) / sizeof(REASONS[0]); i++) {
        if (REASONS[i].status == status) {
            return REASONS[i].reason;
        }
    }
    return "";
}

void response_init(struct response *response)
{
    *response = (struct response){.status = 200, .cache_control = "no-store"};
    buffer_init(&response->headers, HEADERS_MAX);
    buffer_init(&response->body, BODY_MAX_BYTES);
}

void response_clear(struct response *response)
{
    response->status = 200;
    response->content_type = NULL;
    response->cache_control = "no-store";
    response->problem = NULL;
    response->follow_up = NULL;
    response->query = NULL;
    buffer_clear(&response->headers);
    if (response->body.capacity > KEPT_MAX) {
        buffer_free(&response->body);
    }
    buffer_clear(&response->body);
}

void response_free(struct response *response)
{
    buffer_free(&response->headers);
    buffer_free(&response->body);
}

void response_header(struct response *response, const char *name, struct str value)
{
    for (size_t i = 0; i < value.n; i++) {
        unsigned char c = (unsigned char)value.p[i];
        if (c < 0x20 || c == 0x7f) {
            return;
        }
    }
    buffer_add(&response->headers, str_of(name));
    buffer_add(&response->headers, STR(": "));
    buffer_add(&response->headers, value);
    buffer_add(&response->headers, STR("\r\n"));
}

void response_json(struct response *response, int status)
{
    response->status = status;
    response->content_type = "application/json";
    response->problem = NULL;
    buffer_clear(&response->body);
}

void response_json_object(struct response *response, int status, json_object *object)
{
    size_t length = 0;
    const char *text = json_object_to_json_string_length(
        object, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE, &length);

    response_json(response, status);
    buffer_add(&response->body, str_sized(text, length));
}

static void add_head(struct buffer *out, const struct response *response, int status,
                     const char *content_type, size_t length, struct str request_id)
{
    buffer_add(out, STR("Status: "));
    buffer_add_int(out, status);
    buffer_add_char(out, ' ');
    buffer_add(out, str_of(reason_of(status)));
    buffer_add(out, STR("\r\nX-Request-Id: "));
    buffer_add(out, request_id);
    buffer_add(out, STR("\r\nCache-Control: "));
    buffer_add(out, str_of(response->cache_control));
    if (content_type != NULL) {
        buffer_add(out, STR("\r\nContent-Type: "));
        buffer_add(out, str_of(content_type));
    }
    if (status != 204 && status != 304) {
        buffer_add(out, STR("\r\nContent-Length: "));
        buffer_add_int(out, (int64_t)length);
    }
    buffer_add(out, STR("\r\n"));
}

void response_format(const struct response *response, struct str request_id, bool head,
                     struct buffer *out)
{
    bool whole = buffer_ok(&response->headers) && buffer_ok(&response->body);
    struct str body = whole ? buffer_text(&response->body) : str_of(TOO_LONG);

    if (response->content_type == NULL && whole) {
        body = str_sized(NULL, 0);
    }
    add_head(out, response, whole ? response->status : 500,
             whole ? response->content_type : "application/problem+json", body.n, request_id);
    if (whole) {
        buffer_add(out, buffer_text(&response->headers));
    }
    buffer_add(out, STR("\r\n"));
    if (!head) {
        buffer_add(out, body);
    }
}

void response_send(const struct response *response, struct str request_id, bool head,
                   FCGX_Request *fcgi)
{
    static struct buffer out; /* kept between requests */

    if (out.maximum == 0) {
        buffer_init(&out, RESPONSE_MAX);
    }
    buffer_clear(&out);
    response_format(response, request_id, head, &out);
    (void)FCGX_PutStr(out.bytes, (int)out.length, fcgi->out);
    if (out.capacity > KEPT_MAX) {
        buffer_free(&out);
    }
}
