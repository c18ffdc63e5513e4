/*
 * source — objects of the catalogue as PostgreSQL has them: one statement, one snapshot.
 */
#ifndef SLUICE_CATALOG_SOURCE_H
#define SLUICE_CATALOG_SOURCE_H

#include "lib/catalog/entry.h"
#include "lib/store/postgres.h"

/** Asks for the object and sets exists, version, etag, text (borrowed from the arena), started
 *  and l2_cost. NONE sets exists = false. UNAVAILABLE: PostgreSQL does not answer, refuses
 *  (`*server_answers` is then true; it may be this one statement that took too long), or the
 *  object is beyond CATALOG_TEXT_MAX. */
enum catalog_outcome catalog_source_read(struct postgres *postgres, struct arena *arena,
                                         enum catalog_kind kind, struct str id,
                                         struct catalog_entry *entry, bool *server_answers);

#endif
