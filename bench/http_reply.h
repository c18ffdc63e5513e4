/*
 * http_reply — parses HTTP/1.1 answers of our own servers, for load clients.
 */
#ifndef SLUICE_BENCH_HTTP_REPLY_H
#define SLUICE_BENCH_HTTP_REPLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/str.h"

enum http_reply_state {
    HTTP_REPLY_WHOLE,
    HTTP_REPLY_PART, /* the rest has not arrived yet */
    HTTP_REPLY_NONE  /* this is no HTTP answer */
};

struct http_reply {
    int status;
    int64_t retry_after_s; /* 0 without the header */
    bool closes;           /* the server closes this connection */
    struct str body;       /* borrowed from the text */
};

/** Checks whether a complete answer is at the start of `text`, and fills `*answer` if so; a chunked
 *  body is joined in place. */
enum http_reply_state http_reply_parse(char *text, size_t length, struct http_reply *answer);

#endif
