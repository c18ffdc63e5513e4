/*
 * flight — brings an object up to date: from L2 if L2 has it, else from PostgreSQL, by one
 * reader of all hosts, while the others wait or take the previous object. Internal to lib/catalog.
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
    int64_t redis_backoff_until;    /* ms, monotonic: backoff after Redis did not answer */
    int64_t postgres_backoff_until; /* likewise for PostgreSQL */
    bool postgres_failed;           /* PostgreSQL did not answer the last query */
    int64_t unknown_second;         /* the second in which `unknown_ids` counts */
    int64_t unknown_ids;            /* queries for ids that turned out unknown; bounded */
};

/** The state of one lookup. */
struct search {
    struct catalog *catalog;
    struct arena *arena;
    enum catalog_kind kind;
    struct str id;
    struct catalog_key key;
    double draw;           /* see xfetch.h */
    int64_t wait_until_ms; /* monotonic */
    bool waited;
    bool listens;              /* the invalidation feed is subscribed */
    struct catalog_entry kept; /* from L1; without text while has_text is false */
    bool has_kept;
    bool is_old;                  /* kept was invalidated: served only as a last resort */
    bool has_text;                /* kept's text was copied */
    struct catalog_entry reserve; /* the entry that L2 last returned; stamp 0: none */
};

enum flight_end {
    FLIGHT_DONE,    /* *entry is up to date */
    FLIGHT_STALE,   /* another reader computes it; *entry has only just expired */
    FLIGHT_NOTHING, /* no newer version is available now: see the search's kept and reserve */
};

/** Brings the object up to date and stores it in L1. `alone`: this process holds the host's flight
 *  lock, so a flight of this host that L2 still lists is dead. */
enum flight_end flight_go(struct search *search, bool alone, struct catalog_entry *entry);

/** Reads the object from L1 into the search, with or without its text. */
void flight_look(struct search *search, bool with_text);

/** Sleeps briefly to wait for another reader's flight, longer with each of the `tries` (up to
 *  20 ms). Returns false once wait_until_ms has passed. */
bool flight_pause(struct search *search, int tries);

#endif
