/*
 * flight — how an object is brought up to date: from L2 where that has it, else from PostgreSQL, by
 * one reader of all hosts, while the others wait or take what was there before.
 */
#ifndef SLUICE_CATALOG_FLIGHT_H
#define SLUICE_CATALOG_FLIGHT_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/arena.h"
#include "lib/catalog/entry.h"
#include "lib/catalog/invalidation_feed.h"
#include "lib/catalog/l1.h"
#include "lib/store/postgres.h"
#include "lib/store/redis.h"

struct catalog {
    const struct settings *settings;
    struct postgres *postgres; /* borrowed */
    struct redis *redis;
    struct l1 *l1;
    struct invalidation_feed *feed;
    int64_t redis_rests_until;    /* ms, monotonic: it was silent a moment ago */
    int64_t postgres_rests_until; /* likewise */
    bool postgres_failed;         /* when it was asked last */
    int64_t strangers_second;     /* PostgreSQL is asked about so many unknown ids a second only */
    int64_t strangers;
};

/** One reader's way to an object. */
struct search {
    struct catalog *catalog;
    struct arena *arena;
    enum catalog_kind kind;
    struct str id;
    struct catalog_key key;
    double draw;           /* of XFetch */
    int64_t wait_until_ms; /* monotonic */
    bool waited;
    bool listens;              /* changes are heard of */
    struct catalog_entry kept; /* from L1; without text while has_text is false */
    bool has_kept;
    bool is_old;                  /* kept was called outdated: it is shown in need only */
    bool has_text;                /* kept's text was copied */
    struct catalog_entry reserve; /* what L2 had that is not good any more; stamp 0: nothing */
};

enum flight_end {
    FLIGHT_DONE,    /* *entry is good */
    FLIGHT_STALE,   /* another computes it; *entry has only just run out */
    FLIGHT_NOTHING, /* nobody can say it now: see the search's kept and reserve */
};

/** Brings the object up to date and into L1. `alone`: this process has the host's flight, so a
 *  flight of this host that is still noted in L2 is dead. */
enum flight_end flight_go(struct search *search, bool alone, struct catalog_entry *entry);

/** Looks L1 up for the search, with or without the text. */
void flight_look(struct search *search, bool with_text);

/** Waits a moment for another's flight. Returns false where the time is up. */
bool flight_pause(struct search *search, int tries);

#endif
