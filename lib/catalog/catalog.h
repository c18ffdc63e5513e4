/*
 * catalog — what is on sale, read through two levels: L1 in the host's memory, shared by its
 * processes, and L2 in Redis; behind them PostgreSQL. Each of the three may be away: what is left
 * answers.
 *
 * Of any number of simultaneous readers one asks PostgreSQL: one flight a host (a lock that ends
 * with its process), and of the hosts one (a lock in Redis with a deadline). The others get what
 * was there before, as long as it has only run out; where it is known to be old they wait for the
 * new, bounded. See docs/decisions/0021-two-level-catalogue-cache.md.
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
    CATALOG_NONE,       /* PostgreSQL knows none of that id (a moment ago) */
    CATALOG_UNAVAILABLE /* nobody can say it now, and nothing that may still be shown is kept */
};

enum { CATALOG_ETAG_TEXT = 24 };

struct catalog_object {
    /* JSON, as GET /v1/concerts… answers; of a seat plan lines
     * `id\tsection\trow\tnumber\tamount\n` in the plan's order, in which no field holds a tab or
     * a line feed. Lives in the arena. */
    struct str text;
    int64_t version; /* of the concert or show, raised by each PUT; 0 for the list */
    char etag[CATALOG_ETAG_TEXT + 1]; /* strong, of the text, with its quotes */
};

/** What an order or a hold must know of a show. Texts live in the arena. */
struct catalog_show {
    struct str queue;
    struct str currency;
    int64_t max_seats; /* per member */
    int64_t version;
};

/** Opens L1 (in settings->catalog_l1_directory, made anew where it is damaged; none where that
 *  is not set or cannot be used) and clients of its own for Redis. `postgres` and `settings` are
 *  borrowed. Never NULL. */
struct catalog *catalog_open(const struct settings *settings, struct postgres *postgres);

/** NULL is allowed. */
void catalog_close(struct catalog *catalog);

/** The object of that kind and id. `id` may be any text: what is no slug is NONE. Waits no
 *  longer than catalog_wait_ms and what one question to Redis and to PostgreSQL may take. */
enum catalog_outcome catalog_get(struct catalog *catalog, struct arena *arena,
                                 enum catalog_kind kind, struct str id,
                                 struct catalog_object *object);

/** The same for a show, taken to pieces. */
enum catalog_outcome catalog_show(struct catalog *catalog, struct arena *arena, struct str id,
                                  struct catalog_show *show);

/** To be called after the commit of a change to this one object: nobody gets the old one from L2
 *  any more, and every host's L1 hears of it. Returns false where Redis did not answer: the old
 *  one may then be shown until its time is up. */
bool catalog_invalidate(struct redis *redis, struct arena *arena, enum catalog_kind kind,
                        struct str id);

/** The same for all that shows something of a concert: itself and the list. */
bool catalog_concert_changed(struct redis *redis, struct arena *arena, struct str concert);

/** The same for all that shows something of a show: itself, its seat plan, its concert and the
 *  list. Where it has moved from another concert, call catalog_concert_changed() for that one. */
bool catalog_show_changed(struct redis *redis, struct arena *arena, struct str show,
                          struct str concert);

#endif
