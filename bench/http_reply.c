#include "bench/http_reply.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* The value of a header in `head`, which ends with a NUL; NULL without it. */
static const char *header(const char *head, const char *name)
{
    size_t length = strlen(name);

    for (const char *line = strstr(head, "\r\n"); line != NULL; line = strstr(line, "\r\n")) {
        line += 2;
        if (strncasecmp(line, name, length) == 0 && line[length] == ':') {
            return line + length + 1 + strspn(line + length + 1, " ");
        }
    }
    return NULL;
}

/* Joins the chunks of text[0..length) in place. Returns how many bytes they took, 0 while the last
 * is missing. */
static size_t join_chunks(char *text, size_t length, size_t *joined)
{
    size_t at = 0;
    size_t sum = 0;

    for (int pass = 0; pass < 2; pass++) {
        at = 0;
        sum = 0;
        for (;;) {
            char *end = memchr(text + at, '\n', length - at);
            if (end == NULL) {
                return 0;
            }
            size_t size = strtoul(text + at, NULL, 16);
            at = (size_t)(end - text) + 1;
            if (at + size + 2 > length) {
                return 0;
            }
            if (pass == 1) {
                memmove(text + sum, text + at, size);
            }
            sum += size;
            at += size + 2;
            if (size == 0) {
                break;
            }
            if (pass == 1 && sum > at) {
                return 0;
            }
        }
    }
    *joined = sum;
    return at;
}

enum http_reply_state http_reply_parse(char *text, size_t length, struct http_reply *answer)
{
    char *end = memmem(text, length, "\r\n\r\n", 4);

    if (end == NULL) {
        return HTTP_REPLY_PART;
    }
    if (length < 12 || strncmp(text, "HTTP/1.1 ", 9) != 0) {
        return HTTP_REPLY_NONE;
    }
    size_t head = (size_t)(end - text) + 4;
    char keep = end[2];
    end[2] = '\0';
    answer->status = (int)strtol(text + 9, NULL, 10);
    const char *retry = header(text, "Retry-After");
    answer->retry_after_s = retry == NULL ? 0 : strtol(retry, NULL, 10);
    const char *connection = header(text, "Connection");
    answer->closes = connection != NULL && strncasecmp(connection, "close", 5) == 0;
    const char *size = header(text, "Content-Length");
    const char *coding = header(text, "Transfer-Encoding");
    size_t rest = size == NULL ? 0 : strtoul(size, NULL, 10);
    bool chunked = coding != NULL && strncasecmp(coding, "chunked", 7) == 0;
    end[2] = keep;

    if (chunked) {
        size_t joined;
        if (join_chunks(text + head, length - head, &joined) == 0) {
            return HTTP_REPLY_PART;
        }
        answer->body = (struct str){text + head, joined};
        return HTTP_REPLY_WHOLE;
    }
    if (length - head < rest) {
        return HTTP_REPLY_PART;
    }
    answer->body = (struct str){text + head, rest};
    return HTTP_REPLY_WHOLE;
}
