/*
 * fcgi_records — what libfcgi does not do: tell whether a request has arrived whole, so that
 * reading it cannot block, and answer one for the last time on a connection.
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

/** Judges the bytes that wait in a connection. */
enum fcgi_records fcgi_records_look(struct str waiting);

/** Appends the records of a whole answer to request `id`, and one empty record behind its end: a
 *  client that finds more than it asked for does not use the connection again. */
void fcgi_records_add_last_answer(struct buffer *out, int id, struct str answer);

#endif
