/*
 * postgres_array — writes the literals of PostgreSQL arrays, which are the parameters for lists. The
 * only writer of such literals: an element without quotes would be read as SQL NULL if it spells
 * null, which is a valid id.
 */
#ifndef SLUICE_STORE_POSTGRES_ARRAY_H
#define SLUICE_STORE_POSTGRES_ARRAY_H

#include <stddef.h>
#include <stdint.h>

#include "lib/base/arena.h"
#include "lib/base/str.h"

/** The `count` texts (without NUL) as the literal of a text[], each quoted, in the arena. */
const char *postgres_text_array(struct arena *arena, const struct str *texts, size_t count);

/** The `count` numbers as the literal of a bigint[], in the arena. */
const char *postgres_int_array(struct arena *arena, const int64_t *numbers, size_t count);

#endif
