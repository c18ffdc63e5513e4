/*
 * fcgi_records — what libfcgi lacks: telling whether a request has arrived completely, so that
 * reading it cannot block, and sending the last answer on a connection.
 */
#ifndef SLUICE_POOL_FCGI_RECORDS_H
#define SLUICE_POOL_FCGI_RECORDS_H

#include "lib/base/buffer.h"
#include "lib/base/str.h"

enum fcgi_records {
    FCGI_RECORDS_WHOLE, /* up to the end of its standard input */
    FCGI_RECORDS_PARTIAL,
    FCGI_RECORDS_FOREIGN /* not FastCGI, version 1 */
};

/** Judges the bytes that are buffered on a connection. */
enum fcgi_records fcgi_records_look(struct str waiting);

/** Appends the records of a complete answer to request `id`, and one empty record after its end: a
 *  client that receives unexpected data does not reuse the connection. */
void fcgi_records_add_last_answer(struct buffer *out, int id, struct str answer);

#endif
