#include "fcgi-app/http/problem.h"

#include <stdarg.h>
#include <stdio.h>

#include "lib/base/random.h"

enum { DETAIL_MAX = 1024, HTTP_TOO_MANY_REQUESTS = 429, HTTP_UNAVAILABLE = 503 };

static const struct problem_row TABLE[PROBLEM_COUNT] = {
#define TEXT(literal)                                                                              \
    {                                                                                              \
        literal, sizeof(literal) - 1                                                               \
    }
#define ERROR(code, status, title, retry_after, advice)                                            \
    [PROBLEM_##code] = {TEXT(#code), status, TEXT(title), retry_after, TEXT(advice)},
#include "fcgi-app/http/errors.tbl"
#undef ERROR
#undef TEXT
};

static void add_kebab(struct buffer *out, struct str code)
{
    for (size_t i = 0; i < code.n; i++) {
        char c = code.p[i];
        buffer_add_char(out, c == '_' ? '-' : (char)(c - 'A' + 'a'));
    }
}

int64_t problem_spread_ms(int64_t least_ms)
{
    return least_ms + random_below((uint32_t)((PROBLEM_SPREAD - 1) * least_ms) + 1);
}

static void add_retry_after(struct response *response, const struct problem_row *row)
{
    int seconds = row->retry_after;

    if (row->status == HTTP_TOO_MANY_REQUESTS || row->status == HTTP_UNAVAILABLE) {
        seconds += (int)random_below((uint32_t)((PROBLEM_SPREAD - 1) * seconds) + 1);
    }
    buffer_format(&response->headers, "Retry-After: %d\r\n", seconds);
}

static void answer(const struct request *request, struct response *response,
                   const struct problem_row *row, struct str pointer, struct str detail)
{
    struct buffer *body = &response->body;

    response_clear(response);
    response_json(response, row->status);
    response->content_type = "application/problem+json";
    response->problem = row;
    buffer_format(body, "{\"code\":\"%.*s\",\"type\":\"/problems/", STR_ARG(row->code));
    add_kebab(body, row->code);
    buffer_format(body, "\",\"title\":\"%.*s\",\"status\":%d,\"detail\":", STR_ARG(row->title),
                  row->status);
    buffer_add_json_string(body, detail);
    buffer_add(body, STR(",\"instance\":"));
    buffer_add_json_string(body, request->request_id);
    if (pointer.p != NULL) {
        buffer_add(body, STR(",\"pointer\":"));
        buffer_add_json_string(body, pointer);
    }
    buffer_add_char(body, '}');
    if (row->retry_after > 0) {
        add_retry_after(response, row);
    }
    if (row->status == 401) {
        response_header(response, "WWW-Authenticate", STR("Bearer"));
    }
}

void problem_answer(const struct request *request, struct response *response, enum problem problem,
                    const char *detail, ...)
{
    char text[DETAIL_MAX];
    va_list arguments;

    va_start(arguments, detail);
    (void)vsnprintf(text, sizeof(text), detail, arguments);
    va_end(arguments);
    answer(request, response, &TABLE[problem], str_sized(NULL, 0), str_of(text));
}

void problem_answer_at(const struct request *request, struct response *response,
                       const char *pointer, const char *detail, ...)
{
    char text[DETAIL_MAX];
    va_list arguments;

    va_start(arguments, detail);
    (void)vsnprintf(text, sizeof(text), detail, arguments);
    va_end(arguments);
    answer(request, response, &TABLE[PROBLEM_INVALID_REQUEST], str_of(pointer), str_of(text));
}

void problem_report(struct response *response, enum problem problem)
{
    response->problem = &TABLE[problem];
}

static enum metric_class class_of_status(int status)
{
    return (enum metric_class)(METRIC_CLASS_1XX + status / 100 - 1);
}

enum metric_class problem_class(const struct response *response)
{
    const struct problem_row *row = response->problem;

    if (row == NULL) {
        return class_of_status(response->status);
    }
    return row == &TABLE[PROBLEM_WAITING] || row == &TABLE[PROBLEM_QUEUE_FULL]
               ? METRIC_CLASS_WAITING
               : class_of_status(row->status);
}

void problem_add(struct response *response, const char *name, struct str json)
{
    struct buffer *body = &response->body;

    if (body->length > 0 && body->bytes[body->length - 1] == '}') {
        body->length--;
        buffer_format(body, ",\"%s\":", name);
        buffer_add(body, json);
        buffer_add_char(body, '}');
    }
}

void problem_answer_outcome(const struct request *request, struct response *response,
                            enum outcome outcome)
{
    const struct problem_row *row = &TABLE[PROBLEM_ADMISSION_UNAVAILABLE];
    struct str word = str_of(outcome_word(outcome));

    for (int i = 0; i < PROBLEM_COUNT; i++) {
        if (str_equal(TABLE[i].code, word)) {
            row = &TABLE[i];
        }
    }
    answer(request, response, row, str_sized(NULL, 0), row->advice);
}
