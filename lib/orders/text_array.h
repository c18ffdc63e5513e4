/*
 * text_array — writes a list of texts as the literal of a PostgreSQL array.
 */
#ifndef SLUICE_ORDERS_TEXT_ARRAY_H
#define SLUICE_ORDERS_TEXT_ARRAY_H

#include <stddef.h>

#include "lib/base/arena.h"
#include "lib/base/str.h"

/** The `count` texts (without NUL) as the literal of a text[], each quoted, in the arena. */
const char *text_array(struct arena *arena, const struct str *texts, size_t count);

#endif
