/*
 * csv — comma-separated values (RFC 4180), read and written.
 */
#ifndef SLUICE_SLUICECTL_CSV_H
#define SLUICE_SLUICECTL_CSV_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "lib/base/arena.h"

enum { CSV_FIELDS_MAX = 32, CSV_FIELD_MAX = 4096 };

enum csv_outcome { CSV_RECORD, CSV_END, CSV_BROKEN };

struct csv_reader {
    FILE *file;
    int64_t line;      /* of the last record read, from 1 */
    const char *why;   /* for BROKEN: a sentence */
    int64_t next_line; /* internal */
};

/** Starts at the first line of `file`. */
void csv_start(struct csv_reader *reader, FILE *file);

/** Reads the next record that is not empty: `fields` gets its fields, in the arena. BROKEN,
 *  permanently: unbalanced quotes, a NUL, more than CSV_FIELDS_MAX fields or CSV_FIELD_MAX bytes in
 *  one. */
enum csv_outcome csv_read(struct csv_reader *reader, struct arena *arena,
                          const char *fields[CSV_FIELDS_MAX], size_t *count);

/** Prints a record of `count` fields. */
void csv_print(const char *const *fields, size_t count);

#endif
