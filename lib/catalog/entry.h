/*
 * entry — an object of the catalogue as the cache levels store it, and its cache key.
 */
#ifndef SLUICE_CATALOG_ENTRY_H
#define SLUICE_CATALOG_ENTRY_H

#include "lib/base/identifier.h"
#include "lib/catalog/catalog.h"

enum { CATALOG_KEY_TEXT = 10 + SLUG_MAX, CATALOG_TEXT_MAX = 16 * 1024 * 1024 };

/** The key of an object, e.g. "show:spring-1". No queue has such a name. */
struct catalog_key {
    char text[CATALOG_KEY_TEXT + 1];
};

/** A cached object, or the knowledge that there is none. All times are µs of this host's monotonic
 *  clock. */
struct catalog_entry {
    bool exists;         /* false: PostgreSQL has no such object; there is no text */
    int64_t version;     /* of the object, see catalog.h */
    int64_t generation;  /* of the object in Redis when its query began; 0: unknown */
    int64_t stamp;       /* L2's name for this text; 0: not in L2 */
    int64_t started;     /* when the query to L2 or PostgreSQL that gave this began */
    int64_t l1_until;    /* expiry in L1: from then on L2 is queried */
    int64_t l2_until;    /* expiry in L2: from then on PostgreSQL is queried */
    int64_t stale_until; /* may be served up to then if nothing newer can be had */
    int64_t l1_cost;     /* how long the query to L2 took */
    int64_t l2_cost;     /* how long the query to PostgreSQL took */
    char etag[CATALOG_ETAG_TEXT + 1];
    struct str text;
};

/** Builds the key. Returns false if no such object can exist. */
bool catalog_key_make(enum catalog_kind kind, struct str id, struct catalog_key *key);

/** Computes the ETag of a text. */
void catalog_etag_make(struct str text, char etag[CATALOG_ETAG_TEXT + 1]);

#endif
