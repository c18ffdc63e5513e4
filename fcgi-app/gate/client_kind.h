/*
 * client_kind — what sort of asker sends a request, and so what a refusal must look like.
 *
 * By the first row that fits; "html" means that Accept prefers HTML.
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
 * | any     | anything else                                                 | APP       |
 *
 * GET stands for GET and HEAD, unsafe for every other method. Web views of Android send the name of
 * their app, like com.example.shop, as X-Requested-With with everything, navigations included.
 *
 * Accept prefers HTML when it names text/html or application/xhtml+xml and gives nothing a higher
 * weight (q); at the same weight JSON is preferred where it is named first. What is missing or
 * unreadable prefers nothing.
 */
#ifndef SLUICE_GATE_CLIENT_KIND_H
#define SLUICE_GATE_CLIENT_KIND_H

#include "lib/base/str.h"

enum client_kind {
    CLIENT_PAGE,     /* a browser opens a page: may be shown one, may take a place */
    CLIENT_FORM,     /* a browser sends a form: may be shown a page, nothing else */
    CLIENT_FETCH,    /* a script or a part of a page in a browser */
    CLIENT_APP,      /* a program: curl, a native app */
    CLIENT_PREFETCH, /* a browser loads ahead: nobody may ever see it */
    CLIENT_PREFLIGHT /* a browser asks whether another origin's script may send something */
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

/** Never fails: what is malformed counts as missing. */
enum client_kind client_kind(const struct client_headers *headers);

#endif
