/*
 * catalog — the objects on sale (concerts, shows, seat plans), read through two cache levels: L1 in
 * the host's memory, shared by its processes, and L2 in Redis; behind them PostgreSQL. Any of the
 * three may be unavailable: the remaining ones answer.
 *
 * Of any number of concurrent readers, one queries PostgreSQL: on each host one flight (a lock that
 * the kernel releases with its process), and among hosts one (a lock in Redis with a deadline). The
 * other readers get the previous object if it has merely expired; if it is known to be
 * outdated they wait for the new one, up to catalog_wait_ms. See
 * docs/decisions/0021-two-level-catalogue-cache.md.
 */
#ifndef SLUICE_CATALOG_CATALOG_H
#define SLUICE_CATALOG_CATALOG_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/arena.h"
#include "lib/base/str.h"
#include "lib/settings/settings.h"

struct catalog;
struct postgres;
struct redis;

enum catalog_kind {
    CATALOG_CONCERTS, /* the list of all concerts; its id is empty */
    CATALOG_CONCERT,
    CATALOG_SHOW,
    CATALOG_SEAT_PLAN /* of a show */
};

enum catalog_outcome {
    CATALOG_FOUND,
    CATALOG_NONE,       /* PostgreSQL has no such object (it may be a cached answer) */
    CATALOG_UNAVAILABLE /* no level can answer, and no copy is left that may still be shown */
};

enum { CATALOG_ETAG_TEXT = 24 };

struct catalog_object {
    /* JSON, as GET /v1/concerts… answers; of a seat plan, lines
     * `id\tsection\trow\tnumber\tamount\n` in the plan's order, whose fields contain no tab or
     * line feed. Lives in the arena. */
    struct str text;
    int64_t version; /* of the concert or show, raised by each PUT; 0 for the list */
    char etag[CATALOG_ETAG_TEXT + 1]; /* strong, of the text, with its quotes */
};

/** What an order or a hold needs to know of a show. Texts live in the arena. */
struct catalog_show {
    struct str queue;
    struct str currency;
    int64_t max_seats; /* per member */
    int64_t version;
};

/** Opens L1 (in settings->catalog_l1_directory, recreated if damaged; without L1 if that is
 *  not set or unusable) and Redis connections of its own. `postgres` and `settings` are borrowed.
 *  Never NULL. */
struct catalog *catalog_open(const struct settings *settings, struct postgres *postgres);

/** NULL is allowed. */
void catalog_close(struct catalog *catalog);

/** Looks up an object. `id` may be any text; CATALOG_NONE for one that is no slug. Blocks for at
 *  most catalog_wait_ms plus one query to Redis and one to PostgreSQL. */
enum catalog_outcome catalog_get(struct catalog *catalog, struct arena *arena,
                                 enum catalog_kind kind, struct str id,
                                 struct catalog_object *object);

/** The same for a show, parsed. */
enum catalog_outcome catalog_show(struct catalog *catalog, struct arena *arena, struct str id,
                                  struct catalog_show *show);

/** Call it after the commit of a change to a concert: marks every object that contains its data
 *  (itself and the list) outdated in L2 and notifies every host's L1. Returns false if Redis did not
 *  answer: the old objects may then be served until they expire. */
bool catalog_concert_changed(struct redis *redis, struct arena *arena, struct str concert);

/** The same for every object that contains data of a show: itself, its seat plan, its concert and
 *  the list. If the show moved from another concert, call catalog_concert_changed() for that. */
bool catalog_show_changed(struct redis *redis, struct arena *arena, struct str show,
                          struct str concert);

#endif
