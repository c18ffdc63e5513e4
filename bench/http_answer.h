/*
 * http_answer — reads HTTP/1.1 answers of a server that we run ourselves, for load clients.
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
    bool closes;           /* the server takes no other request on this connection */
    struct str body;       /* borrowed from the text */
};

/** Looks whether a whole answer stands at the start of `text`, which is changed where its body
 *  came in chunks, and fills `*answer` then. */
enum http_answer_state http_answer_parse(char *text, size_t length, struct http_answer *answer);

#endif
