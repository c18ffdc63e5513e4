/*
 * http_post — sends a form to one address of somebody else's and takes a small answer. TLS with the peer
 * verified, or plain HTTP to this machine alone; a bound on time and size; no redirects.
 */
#ifndef SLUICE_CAPTCHA_HTTP_POST_H
#define SLUICE_CAPTCHA_HTTP_POST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/buffer.h"
#include "lib/base/str.h"

enum {
    HTTP_POST_ERROR = 512,
    HTTP_POST_FORM_MAX = 64 * 1024,
    HTTP_POST_ANSWER_MAX = 16 * 1024 /* headers and body */
};

struct http_post;

/** One field of a form. */
struct http_field {
    const char *name; /* letters, digits, '_', '-' */
    struct str value;
};

/** Prepares for `url`: https://…, or http:// to 127.0.0.1, [::1] or localhost; without user and password.
 *  `timeout_ms` ≥ 1 bounds the whole exchange. Connects when first needed and keeps the connection. Returns
 *  NULL, with one sentence in `error`, where the address may not be used. */
struct http_post *http_post_open(const char *url, int64_t timeout_ms, char error[HTTP_POST_ERROR]);

/** NULL is allowed. */
void http_post_close(struct http_post *post);

/** Sends the fields and puts the answer's body into `body`, which is to hold HTTP_POST_ANSWER_MAX. Returns the
 *  status, 0 where no whole answer came within the bounds; `*why` (borrowed until the next call) then says
 *  why not. */
long http_post_send(struct http_post *post, const struct http_field *fields, size_t count,
                    struct buffer *body, const char **why);

/** Appends the fields as application/x-www-form-urlencoded. */
void http_form_write(struct buffer *out, const struct http_field *fields, size_t count);

#endif
