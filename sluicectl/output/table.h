/*
 * table — text in aligned columns, for people.
 */
#ifndef SLUICE_SLUICECTL_TABLE_H
#define SLUICE_SLUICECTL_TABLE_H

#include <stddef.h>

#include <json-c/json.h>

#include "lib/base/arena.h"

enum { TABLE_COLUMNS_MAX = 16, TABLE_ROWS_MAX = 4096 };

struct table {
    struct arena *arena;
    const char *alignment; /* one letter a column: 'l' or 'r' */
    const char **cells;    /* row by row */
    size_t columns;
    size_t count; /* cells */
};

/** An empty table of as many columns as `alignment` has letters, 1..TABLE_COLUMNS_MAX. */
void table_init(struct table *table, struct arena *arena, const char *alignment);

/** Appends a cell; control characters become spaces, empty text a '-'. Rows beyond
 *  TABLE_ROWS_MAX are dropped. */
void table_add(struct table *table, const char *text);

/** Appends the field `name` of a JSON object; null or missing becomes '-'. */
void table_add_field(struct table *table, json_object *object, const char *name);

/** Prints it on standard output. */
void table_print(const struct table *table);

#endif
