/*
 * entry — one object of the catalogue as the levels of the cache keep it, and the names it goes by.
 */
#ifndef SLUICE_CATALOG_ENTRY_H
#define SLUICE_CATALOG_ENTRY_H

#include "lib/base/identifier.h"
#include "lib/catalog/catalog.h"

enum { CATALOG_KEY_TEXT = 10 + SLUG_MAX, CATALOG_TEXT_MAX = 16 * 1024 * 1024 };

/** "show:spring-1": of one object. No queue has such a name. */
struct catalog_key {
    char text[CATALOG_KEY_TEXT + 1];
};

/** All times by this host's monotonic clock, in µs. */
struct catalog_entry {
    bool exists;         /* false: PostgreSQL knows none; there is no text */
    int64_t version;     /* of the object, see catalog.h */
    int64_t generation;  /* the object's in Redis when the question was begun; 0: not known */
    int64_t stamp;       /* what L2 calls this text; 0: L2 has not got it */
    int64_t started;     /* when the question to L2 or PostgreSQL was begun that this answers */
    int64_t l1_until;    /* then L2 is asked */
    int64_t l2_until;    /* then PostgreSQL is asked */
    int64_t stale_until; /* so long it may be shown where nobody can say anything newer */
    int64_t l1_cost;     /* what asking L2 took */
    int64_t l2_cost;     /* what asking PostgreSQL took */
    char etag[CATALOG_ETAG_TEXT + 1];
    struct str text;
};

/** Returns false where there can be no such object. */
bool catalog_key_make(enum catalog_kind kind, struct str id, struct catalog_key *key);

/** The ETag of a text. */
void catalog_etag_make(struct str text, char etag[CATALOG_ETAG_TEXT + 1]);

#endif
