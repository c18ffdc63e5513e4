/*
 * client_kind — what kind of client sends a request, which decides the form of a refusal.
 *
 * The first row that matches counts; "html" means that Accept prefers HTML.
 *
 * | method  | headers                                                       | kind      |
 * |---------|---------------------------------------------------------------|-----------|
 * | OPTIONS | Access-Control-Request-Method                                 | PREFLIGHT |
 * | any     | Sec-Purpose names prefetch or prerender                       | PREFETCH  |
 * | any     | Purpose, X-Purpose or X-Moz names prefetch                    | PREFETCH  |
 * | GET     | Sec-Fetch-Mode: navigate                                      | PAGE      |
 * | unsafe  | Sec-Fetch-Mode: navigate                                      | FORM      |
 * | any     | Sec-Fetch-Mode: anything else                                 | FETCH     |
 * | GET     | only Sec-Fetch-Dest, naming a document or a frame             | PAGE      |
 * | unsafe  | only Sec-Fetch-Dest, naming a document or a frame             | FORM      |
 * | any     | only Sec-Fetch-Dest: anything else                            | FETCH     |
 * | any     | X-Requested-With that is no name of an Android app            | FETCH     |
 * | GET     | html                                                          | PAGE      |
 * | unsafe  | html                                                          | FORM      |
 * | any     | Accept begins with image/, text/css, video/, audio/, font/    | FETCH     |
 * | any     | anything else                                                 | APP       |
 *
 * GET stands for GET and HEAD, unsafe for every other method. Android web views send the name of
 * their app, like com.example.shop, as X-Requested-With with every request, navigations included.
 *
 * Accept prefers HTML when it names text/html or application/xhtml+xml and gives nothing a higher
 * weight (q); at the same weight JSON is preferred if it is named first. A missing or unreadable
 * header prefers nothing.
 *
 * Browsers send no Sec-Fetch headers to plain HTTP, and Safari before 16.4 sends none at all: there
 * the parts of a page are known by Accept. Scripts and fetches accept anything, as programs do.
 */
#ifndef SLUICE_GATE_CLIENT_KIND_H
#define SLUICE_GATE_CLIENT_KIND_H

#include "lib/base/str.h"

enum client_kind {
    CLIENT_PAGE,     /* a browser opens a page: may be shown one, may take a place */
    CLIENT_FORM,     /* a browser sends a form: may be shown a page, takes no place */
    CLIENT_FETCH,    /* a script or a subresource in a browser */
    CLIENT_APP,      /* a program: curl, a native app */
    CLIENT_PREFETCH, /* a browser prefetches: the answer may never be shown */
    CLIENT_PREFLIGHT /* a CORS preflight */
};

/** The method, and header values as sent, empty where missing. */
struct client_headers {
    struct str method;
    struct str accept;
    struct str sec_fetch_mode;
    struct str sec_fetch_dest;
    struct str sec_purpose;
    struct str purpose;
    struct str x_purpose;
    struct str x_moz;
    struct str x_requested_with;
    struct str access_control_request_method;
};

/** Never fails: a malformed header counts as missing. */
enum client_kind client_kind(const struct client_headers *headers);

#endif
