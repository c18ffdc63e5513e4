/*
 * http_answer — parses HTTP/1.1 answers of our own servers, for load clients.
 */
#ifndef SLUICE_BENCH_HTTP_ANSWER_H
#define SLUICE_BENCH_HTTP_ANSWER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/str.h"

enum http_answer_state {
    HTTP_ANSWER_WHOLE,
    HTTP_ANSWER_PART, /* the rest has not arrived yet */
    HTTP_ANSWER_NONE  /* this is no HTTP answer */
};

struct http_answer {
    int status;
    int64_t retry_after_s; /* 0 without the header */
    bool closes;           /* the server closes this connection */
    struct str body;       /* borrowed from the text */
};

/** Checks whether a complete answer is at the start of `text`, and fills `*answer` if so; a chunked
 *  body is joined in place. */
enum http_answer_state http_answer_parse(char *text, size_t length, struct http_answer *answer);

#endif
