/*
 * fcgi_records — looks whether a FastCGI request has arrived whole, so that reading it cannot block.
 */
#ifndef SLUICE_POOL_FCGI_RECORDS_H
#define SLUICE_POOL_FCGI_RECORDS_H

#include "lib/base/str.h"

enum fcgi_records {
    FCGI_RECORDS_WHOLE, /* up to the end of its standard input */
    FCGI_RECORDS_PARTIAL,
    FCGI_RECORDS_FOREIGN /* not FastCGI, version 1 */
};

/** Judges the bytes that wait in a connection. */
enum fcgi_records fcgi_records_look(struct str waiting);

#endif
