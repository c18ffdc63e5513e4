/*
 * client_kind: the header table of client_kind.h, row by row, with what real clients send.
 */
#include "tests/unit/unit.h"

#include <stdlib.h>
#include <string.h>

#include "fcgi-app/gate/client_kind.h"
#include "lib/base/random.h"

#define CHROME_ACCEPT                                                                              \
    "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,image/apng,*/"    \
    "*;q=0.8,application/signed-exchange;v=b3;q=0.7"
#define SAFARI_ACCEPT "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"

/* Each header as "Name: value"; the kind is that of every method in `methods`. */
struct row {
    const char *methods;
    const char *headers[4];
    enum client_kind kind;
};

#define SAFE   "GET HEAD"
#define UNSAFE "POST PUT PATCH DELETE"
#define ANY    "GET HEAD POST PUT PATCH DELETE OPTIONS TRACE"

static const struct row ROWS[] = {
    /* A preflight. */
    {"OPTIONS", {"Access-Control-Request-Method: POST", "Accept: */*"}, CLIENT_PREFLIGHT},
    {"OPTIONS",
     {"Access-Control-Request-Method: PUT", "Sec-Fetch-Mode: cors", "Sec-Fetch-Dest: empty"},
     CLIENT_PREFLIGHT},
    {"OPTIONS", {"Accept: */*"}, CLIENT_APP},
    {"OPTIONS", {"Sec-Fetch-Mode: cors"}, CLIENT_FETCH},
    {"GET POST options", {"Access-Control-Request-Method: POST"}, CLIENT_APP},

    /* Sec-Purpose. */
    {ANY, {"Sec-Purpose: prefetch"}, CLIENT_PREFETCH},
    {"GET",
     {"Sec-Purpose: prefetch;prerender", "Sec-Fetch-Mode: navigate", "Sec-Fetch-Dest: document",
      "Accept: " CHROME_ACCEPT},
     CLIENT_PREFETCH},
    {"GET", {"Sec-Purpose: prefetch;anonymous-client-ip"}, CLIENT_PREFETCH},
    {"GET", {"Sec-Purpose: prerender"}, CLIENT_PREFETCH},
    {"GET", {"Sec-Purpose:  x , Prefetch ; y"}, CLIENT_PREFETCH},
    {"GET", {"Sec-Purpose: prefetching", "Sec-Fetch-Mode: navigate"}, CLIENT_PAGE},
    {"GET", {"Sec-Purpose: ;;,", "Sec-Fetch-Mode: navigate"}, CLIENT_PAGE},

    /* What it was called before. */
    {"GET", {"Purpose: prefetch", "Accept: " SAFARI_ACCEPT}, CLIENT_PREFETCH},
    {"GET", {"X-Purpose: prefetch", "Accept: " SAFARI_ACCEPT}, CLIENT_PREFETCH},
    {"GET", {"X-Moz: prefetch", "Accept: " SAFARI_ACCEPT}, CLIENT_PREFETCH},
    {"GET", {"Purpose: shopping", "Accept: " SAFARI_ACCEPT}, CLIENT_PAGE},

    /* Sec-Fetch-Mode: navigate. */
    {SAFE,
     {"Sec-Fetch-Mode: navigate", "Sec-Fetch-Dest: document", "Accept: " CHROME_ACCEPT},
     CLIENT_PAGE},
    {SAFE, {"Sec-Fetch-Mode: navigate", "Sec-Fetch-Dest: iframe"}, CLIENT_PAGE},
    {SAFE, {"Sec-Fetch-Mode:  Navigate "}, CLIENT_PAGE},
    {SAFE, {"Sec-Fetch-Mode: navigate", "Accept: application/json"}, CLIENT_PAGE},
    {SAFE, {"Sec-Fetch-Mode: navigate", "X-Requested-With: com.example.shop"}, CLIENT_PAGE},
    {UNSAFE,
     {"Sec-Fetch-Mode: navigate", "Sec-Fetch-Dest: document", "Accept: " CHROME_ACCEPT},
     CLIENT_FORM},

    /* Sec-Fetch-Mode: anything else. */
    {ANY, {"Sec-Fetch-Mode: cors", "Sec-Fetch-Dest: empty", "Accept: */*"}, CLIENT_FETCH},
    {ANY, {"Sec-Fetch-Mode: same-origin", "Accept: text/html"}, CLIENT_FETCH},
    {"GET",
     {"Sec-Fetch-Mode: no-cors", "Sec-Fetch-Dest: image", "Accept: image/avif,image/webp,*/*"},
     CLIENT_FETCH},
    {"GET", {"Sec-Fetch-Mode: no-cors", "Sec-Fetch-Dest: script", "Accept: */*"}, CLIENT_FETCH},
    {"GET", {"Sec-Fetch-Mode: websocket"}, CLIENT_FETCH},
    {"GET", {"Sec-Fetch-Mode: \x01\xff", "Accept: " CHROME_ACCEPT}, CLIENT_FETCH},

    /* Only Sec-Fetch-Dest. */
    {SAFE, {"Sec-Fetch-Dest: document"}, CLIENT_PAGE},
    {SAFE, {"Sec-Fetch-Dest: frame"}, CLIENT_PAGE},
    {UNSAFE, {"Sec-Fetch-Dest: iframe"}, CLIENT_FORM},
    {ANY, {"Sec-Fetch-Dest: empty", "Accept: text/html"}, CLIENT_FETCH},
    {ANY, {"Sec-Fetch-Dest: style"}, CLIENT_FETCH},

    /* X-Requested-With, from browsers without Sec-Fetch-*. */
    {ANY, {"X-Requested-With: XMLHttpRequest", "Accept: text/html, */*; q=0.01"}, CLIENT_FETCH},
    {ANY, {"X-Requested-With: fetch"}, CLIENT_FETCH},
    {SAFE, {"X-Requested-With: com.example.shop", "Accept: " SAFARI_ACCEPT}, CLIENT_PAGE},
    {UNSAFE, {"X-Requested-With: com.example.shop", "Accept: " SAFARI_ACCEPT}, CLIENT_FORM},
    {ANY, {"X-Requested-With: com.example.shop", "Accept: */*"}, CLIENT_APP},

    /* Accept prefers HTML. */
    {SAFE, {"Accept: " SAFARI_ACCEPT}, CLIENT_PAGE},
    {SAFE, {"Accept: " CHROME_ACCEPT}, CLIENT_PAGE},
    {UNSAFE, {"Accept: " SAFARI_ACCEPT}, CLIENT_FORM},
    {SAFE, {"Accept: text/html"}, CLIENT_PAGE},
    {SAFE, {"Accept: TEXT/HTML"}, CLIENT_PAGE},
    {SAFE, {"Accept: text/html, application/json"}, CLIENT_PAGE},
    {SAFE, {"Accept: text/html, */*"}, CLIENT_PAGE},
    {SAFE, {"Accept: application/json;q=0.9, text/html"}, CLIENT_PAGE},
    {SAFE, {"Accept: application/json; q=0.899 , text/html ; level=1 ; Q = 0.9"}, CLIENT_PAGE},
    {SAFE,
     {"Accept: application/xml,application/xhtml+xml,text/html;q=0.9,text/plain;q=0.8,*/*;q=0.5"},
     CLIENT_PAGE},
    {SAFE, {"Accept: ,,text/html,,"}, CLIENT_PAGE},
    {SAFE, {"Accept: text/html;q=1.000"}, CLIENT_PAGE},

    /* Parts of a page, without any of the other headers. */
    {ANY, {"Accept: image/avif,image/webp,*/*;q=0.8"}, CLIENT_FETCH},
    {ANY, {"Accept:  IMAGE/png, */*"}, CLIENT_FETCH},
    {ANY, {"Accept: text/css,*/*;q=0.1"}, CLIENT_FETCH},
    {ANY, {"Accept: video/webm,video/ogg,*/*;q=0.5"}, CLIENT_FETCH},
    {ANY, {"Accept: audio/*"}, CLIENT_FETCH},
    {ANY, {"Accept: font/woff2"}, CLIENT_FETCH},
    {ANY, {"Accept: image"}, CLIENT_APP},
    {ANY, {"Accept: application/json, image/png"}, CLIENT_APP},
    {SAFE, {"Accept: image/png, text/html"}, CLIENT_PAGE},

    /* Programs. */
    {ANY, {NULL}, CLIENT_APP},
    {ANY, {"Accept: */*"}, CLIENT_APP},
    {ANY, {"Accept: application/json"}, CLIENT_APP},
    {ANY, {"Accept: application/json, text/plain, */*"}, CLIENT_APP},
    {ANY, {"Accept: application/json, text/html"}, CLIENT_APP},
    {ANY, {"Accept: application/problem+json, text/html"}, CLIENT_APP},
    {ANY, {"Accept: text/html;q=0.8, application/json"}, CLIENT_APP},
    {ANY, {"Accept: application/json, text/html;q=0.9"}, CLIENT_APP},
    {ANY, {"Accept: text/html;q=0.5, */*"}, CLIENT_APP},
    {ANY, {"Accept: text/html;q=0"}, CLIENT_APP},
    {ANY, {"Accept: text/html;q=0.000, application/json;q=0"}, CLIENT_APP},
    {ANY, {"Accept: text/plain"}, CLIENT_APP},
    {ANY, {"Accept: text/htmlx, xtext/html, text/*"}, CLIENT_APP},
    {ANY, {"Accept: application/vnd.api+json, text/html;q=0.1"}, CLIENT_APP},

    /* Malformed: prefers nothing. */
    {ANY, {"Accept: text/html;q=2"}, CLIENT_APP},
    {ANY, {"Accept: text/html;q="}, CLIENT_APP},
    {ANY, {"Accept: text/html;q=high"}, CLIENT_APP},
    {ANY, {"Accept: text/html;q=-1"}, CLIENT_APP},
    {ANY, {"Accept: text/html;q=0.1234"}, CLIENT_APP},
    {ANY, {"Accept: text/html;q=1.001"}, CLIENT_APP},
    {ANY, {"Accept: text / html"}, CLIENT_APP},
    {ANY, {"Accept: ;;;,,,===///"}, CLIENT_APP},
    {ANY, {"Accept: +json"}, CLIENT_APP},
};

/* A copy without anything behind it, so that a read too far is found. */
static struct str tight(const char *text, size_t length)
{
    char *copy = malloc(length == 0 ? 1 : length);

    assert_non_null(copy);
    if (length > 0) {
        memcpy(copy, text, length);
    }
    return str_sized(copy, length);
}

static struct str *field_named(struct client_headers *headers, struct str name)
{
    const struct {
        const char *name;
        struct str *field;
    } fields[] = {
        {"Accept", &headers->accept},
        {"Sec-Fetch-Mode", &headers->sec_fetch_mode},
        {"Sec-Fetch-Dest", &headers->sec_fetch_dest},
        {"Sec-Purpose", &headers->sec_purpose},
        {"Purpose", &headers->purpose},
        {"X-Purpose", &headers->x_purpose},
        {"X-Moz", &headers->x_moz},
        {"X-Requested-With", &headers->x_requested_with},
        {"Access-Control-Request-Method", &headers->access_control_request_method},
    };

    for (size_t i = 0; i < COUNT(fields); i++) {
        if (str_equal(name, str_of(fields[i].name))) {
            return fields[i].field;
        }
    }
    fail_msg("no header %.*s", STR_ARG(name));
    return NULL;
}

static void release(struct client_headers *headers)
{
    const struct str all[] = {
        headers->method,           headers->accept,
        headers->sec_fetch_mode,   headers->sec_fetch_dest,
        headers->sec_purpose,      headers->purpose,
        headers->x_purpose,        headers->x_moz,
        headers->x_requested_with, headers->access_control_request_method,
    };

    for (size_t i = 0; i < COUNT(all); i++) {
        free((void *)(uintptr_t)all[i].p);
    }
}

static void check(const struct row *row, size_t number, struct str method)
{
    struct client_headers headers = {.method = tight(method.p, method.n)};

    for (size_t i = 0; i < COUNT(row->headers) && row->headers[i] != NULL; i++) {
        struct str name;
        struct str value;
        assert_true(str_split(str_of(row->headers[i]), ':', &name, &value));
        *field_named(&headers, name) = tight(value.p + 1, value.n - 1);
    }
    enum client_kind kind = client_kind(&headers);
    release(&headers);
    if (kind != row->kind) {
        fail_msg("row %zu, %.*s, %s: %d instead of %d", number, STR_ARG(method),
                 row->headers[0] == NULL ? "no header" : row->headers[0], kind, row->kind);
    }
}

TEST(each_row_of_the_table_gives_its_kind)
{
    for (size_t i = 0; i < COUNT(ROWS); i++) {
        struct str methods = str_of(ROWS[i].methods);
        struct str method;
        while (methods.n > 0) {
            (void)str_split(methods, ' ', &method, &methods);
            check(&ROWS[i], i, method);
        }
    }
}

TEST(no_bytes_whatever_do_harm)
{
    static const char ALPHABET[] = ",;=/*q.01+ text/html json prefetch navigate";

    for (int round = 0; round < 20000; round++) {
        struct client_headers headers = {.method = tight("GET", 3)};
        struct str *const fields[] = {
            &headers.accept,      &headers.sec_fetch_mode,   &headers.sec_fetch_dest,
            &headers.sec_purpose, &headers.purpose,          &headers.x_purpose,
            &headers.x_moz,       &headers.x_requested_with, &headers.access_control_request_method,
        };
        for (size_t i = 0; i < COUNT(fields); i++) {
            char bytes[64];
            size_t length = i == 0 || random_below(4) == 0 ? random_below(sizeof(bytes)) : 0;
            random_bytes(bytes, length);
            for (size_t k = 0; round % 2 == 0 && k < length; k++) {
                bytes[k] = ALPHABET[(unsigned char)bytes[k] % (sizeof(ALPHABET) - 1)];
            }
            *fields[i] = tight(bytes, length);
        }
        enum client_kind kind = client_kind(&headers);
        release(&headers);
        assert_true(kind >= CLIENT_PAGE && kind <= CLIENT_PREFETCH && kind != CLIENT_FORM);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_row_of_the_table_gives_its_kind),
        cmocka_unit_test(no_bytes_whatever_do_harm),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
