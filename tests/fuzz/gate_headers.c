/*
 * Headers by which the gate and the pages judge who asks. Lines: Accept-Language, If-None-Match,
 * method, Accept, Sec-Fetch-Mode, Sec-Fetch-Dest, Sec-Purpose, Purpose, X-Purpose, X-Moz,
 * X-Requested-With, Access-Control-Request-Method.
 */
#include <string.h>

#include "fcgi-app/gate/client_kind.h"
#include "fcgi-app/gate/page/accept_language.h"
#include "fcgi-app/http/etag.h"
#include "lib/base/buffer.h"
#include "tests/fuzz/fuzz.h"

static struct str joined(struct buffer *out, struct str first, struct str second)
{
    buffer_clear(out);
    buffer_add(out, first);
    buffer_add(out, second);
    REQUIRE(buffer_ok(out));
    return buffer_text(out);
}

static void languages(struct buffer *scratch, struct str header)
{
    static const char *const NAMES[] = {"ko", "en", "pt-br"};
    const char *best = accept_language_best(header, NAMES, 3);

    REQUIRE(best == NULL || best == NAMES[0] || best == NAMES[1] || best == NAMES[2]);
    /* A language that we do not have changes nothing. */
    REQUIRE(accept_language_best(joined(scratch, header, STR(",tlh;q=0.7")), NAMES, 3) == best);
}

static void tags(struct buffer *scratch, struct str header)
{
    REQUIRE(etag_matches(joined(scratch, STR("\"a-1\", "), header), STR("\"a-1\"")));
    REQUIRE(etag_matches(joined(scratch, STR("W/\"a-1\","), header), STR("\"a-1\"")));
    if (header.n == 0 ||
        (memchr(header.p, '*', header.n) == NULL && memmem(header.p, header.n, "a-1", 3) == NULL)) {
        REQUIRE(!etag_matches(header, STR("\"a-1\"")));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena *arena = fuzz_arena();
    struct str rest = fuzz_text(data, size);
    struct client_headers headers;
    struct buffer scratch;
    struct str *const lines[] = {
        &headers.method,           &headers.accept,
        &headers.sec_fetch_mode,   &headers.sec_fetch_dest,
        &headers.sec_purpose,      &headers.purpose,
        &headers.x_purpose,        &headers.x_moz,
        &headers.x_requested_with, &headers.access_control_request_method,
    };

    buffer_init(&scratch, size + 64);
    languages(&scratch, fuzz_line(arena, &rest));
    tags(&scratch, fuzz_line(arena, &rest));
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
        *lines[i] = fuzz_line(arena, &rest);
    }
    enum client_kind kind = client_kind(&headers);
    REQUIRE(kind >= CLIENT_PAGE && kind <= CLIENT_PREFLIGHT);
    /* Only reading is shown a page that may take a place. */
    REQUIRE(kind != CLIENT_PAGE || str_equal(headers.method, STR("GET")) ||
            str_equal(headers.method, STR("HEAD")));
    buffer_free(&scratch);
    return 0;
}
