/*
 * source — reads objects of the catalogue from PostgreSQL: one statement, one snapshot each.
 */
#ifndef SLUICE_CATALOG_SOURCE_H
#define SLUICE_CATALOG_SOURCE_H

#include "lib/catalog/entry.h"
#include "lib/store/postgres.h"

/** Queries the object and sets exists, version, etag, text (in the arena), started and l2_cost.
 *  CATALOG_NONE sets exists = false. CATALOG_UNAVAILABLE: PostgreSQL does not answer, refuses the
 *  query (`*server_answers` is then true; this one statement may have timed out), or the object
 *  exceeds CATALOG_TEXT_MAX. */
enum catalog_outcome catalog_source_read(struct postgres *postgres, struct arena *arena,
                                         enum catalog_kind kind, struct str id,
                                         struct catalog_entry *entry, bool *server_answers);

#endif
