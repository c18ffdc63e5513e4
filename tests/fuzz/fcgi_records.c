/*
 * FastCGI records: whether a request is whole never changes for more bytes behind it, and an answer
 * that is cut to records is put together again. The first two bytes are how much of the input is
 * there at first, or a request's id.
 */
#include "fcgi-app/pool/fcgi_records.h"

#include "tests/fuzz/fuzz.h"

enum { HEADER = 8, STDIN = 5, STDOUT = 6, END = 3 };

/* The same judgement, by going from record to record. */
static enum fcgi_records expected(const unsigned char *p, size_t n)
{
    size_t at = 0;

    while (at < n) {
        if (p[at] != 1) {
            return FCGI_RECORDS_FOREIGN;
        }
        size_t left = n - at;
        size_t content = left < HEADER ? 0 : p[at + 4] * 256u + p[at + 5];
        if (left < HEADER || left < HEADER + content + p[at + 6]) {
            return FCGI_RECORDS_PARTIAL;
        }
        if (p[at + 1] == STDIN && content == 0) {
            return FCGI_RECORDS_WHOLE;
        }
        at += HEADER + content + p[at + 6];
    }
    return FCGI_RECORDS_PARTIAL;
}

static void judged_alike(struct str all, size_t first)
{
    enum fcgi_records early = fcgi_records_look(str_sized(all.p, first));
    enum fcgi_records late = fcgi_records_look(all);

    REQUIRE(late == expected((const unsigned char *)all.p, all.n));
    REQUIRE(early == FCGI_RECORDS_PARTIAL || early == late);
}

static void put_together(struct str answer, int id)
{
    struct buffer out;
    size_t taken = 0;
    bool ended = false;

    buffer_init(&out, 2 * answer.n + 1024);
    fcgi_records_add_last_answer(&out, id, answer);
    REQUIRE(buffer_ok(&out));
    const unsigned char *p = (const unsigned char *)out.bytes;
    for (size_t at = 0; at < out.length;) {
        REQUIRE(out.length - at >= HEADER && p[at] == 1);
        REQUIRE(p[at + 2] * 256 + p[at + 3] == id);
        size_t content = p[at + 4] * 256u + p[at + 5];
        REQUIRE(out.length - at >= HEADER + content + p[at + 6]);
        if (p[at + 1] == STDOUT) {
            REQUIRE(!ended && content <= answer.n - taken);
            REQUIRE(str_equal(str_sized(out.bytes + at + HEADER, content),
                              str_sized(answer.p + taken, content)));
            taken += content;
        }
        ended = ended || p[at + 1] == END;
        at += HEADER + content + p[at + 6];
    }
    REQUIRE(ended && taken == answer.n);
    REQUIRE(fcgi_records_look(buffer_text(&out)) == FCGI_RECORDS_PARTIAL);
    buffer_free(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2) {
        return 0;
    }
    int first = data[0] * 256 + data[1];
    struct str rest = fuzz_text(data + 2, size - 2);

    judged_alike(rest, (size_t)first < rest.n ? (size_t)first : rest.n);
    put_together(rest, first);
    return 0;
}
