#include "fcgi-app/pool/fcgi_records.h"

enum { HEADER_LENGTH = 8, PROTOCOL_VERSION = 1, CONTENT_MAX = 65528 };

enum { TYPE_END_REQUEST = 3, TYPE_STDIN = 5, TYPE_STDOUT = 6, TYPE_STDERR = 7 };

enum fcgi_records fcgi_records_look(struct str waiting)
{
    while (waiting.n > 0) {
        const unsigned char *header = (const unsigned char *)waiting.p;
        if (header[0] != PROTOCOL_VERSION) {
            return FCGI_RECORDS_FOREIGN;
        }
        if (waiting.n < HEADER_LENGTH) {
            return FCGI_RECORDS_PARTIAL;
        }
        size_t content = (size_t)header[4] << 8 | header[5];
        size_t record = HEADER_LENGTH + content + header[6];
        if (waiting.n < record) {
            return FCGI_RECORDS_PARTIAL;
        }
        if (header[1] == TYPE_STDIN && content == 0) {
            return FCGI_RECORDS_WHOLE;
        }
        waiting = str_sized(waiting.p + record, waiting.n - record);
    }
    return FCGI_RECORDS_PARTIAL;
}

static void add_record(struct buffer *out, int type, int id, struct str content)
{
    const unsigned char header[HEADER_LENGTH] = {
        PROTOCOL_VERSION,
        (unsigned char)type,
        (unsigned char)(id >> 8),
        (unsigned char)id,
        (unsigned char)(content.n >> 8),
        (unsigned char)content.n,
    };

    buffer_add(out, str_sized((const char *)header, sizeof(header)));
    buffer_add(out, content);
}

void fcgi_records_add_last_answer(struct buffer *out, int id, struct str answer)
{
    static const char COMPLETE[8]; /* application status 0, protocol status FCGI_REQUEST_COMPLETE */

    while (answer.n > 0) {
        size_t n = answer.n < CONTENT_MAX ? answer.n : CONTENT_MAX;
        add_record(out, TYPE_STDOUT, id, str_sized(answer.p, n));
        answer = str_sized(answer.p + n, answer.n - n);
    }
    add_record(out, TYPE_STDOUT, id, answer);
    add_record(out, TYPE_END_REQUEST, id, str_sized(COMPLETE, sizeof(COMPLETE)));
    add_record(out, TYPE_STDERR, id, answer);
}
