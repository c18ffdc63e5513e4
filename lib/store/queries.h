/*
 * queries — the statements of sql/queries/, embedded at build time.
 */
#ifndef SLUICE_STORE_QUERIES_H
#define SLUICE_STORE_QUERIES_H

#include "sql/queries.gen.h"

struct query_text {
    const char *name; /* file name without .sql, also the name of the prepared statement */
    int parameters;   /* how many it takes */
    const char *text;
};

/** The statement `query`; never NULL. */
const struct query_text *query_text(enum query query);

#endif
