#include <stddef.h>

#include "lib/store/queries.h"

#define QUERY_ROWS
static const struct query_text TABLE[QUERY_COUNT] = {
#include "sql/queries.gen.h"
};

const struct query_text *query_text(enum query query)
{
    return &TABLE[query];
}
