#include "fcgi-app/pool/fcgi_records.h"

enum { HEADER_LENGTH = 8, PROTOCOL_VERSION = 1, TYPE_STDIN = 5 };

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
