/*
 * l2 — the catalogue in Redis, for all hosts, and the lock among them: the scripts catalog_*.lua. A
 * key an object, which carries its flight too. Redis' clock never leaves it: lengths of time come,
 * and are put on this host's.
 */
#ifndef SLUICE_CATALOG_L2_H
#define SLUICE_CATALOG_L2_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/arena.h"
#include "lib/catalog/entry.h"
#include "lib/store/redis.h"

enum { L2_TOKEN_TEXT = 45 };

#define L2_CHANNEL "sluice:catalog"

enum l2_state {
    L2_SILENT, /* Redis did not answer */
    L2_NONE,   /* nothing is kept */
    L2_GOOD,
    L2_DUE, /* its time is up, or it is to be computed early */
    L2_OLD  /* called outdated */
};

enum l2_flight { L2_FLIGHT_NO, L2_FLIGHT_MINE, L2_FLIGHT_OTHER };

struct l2_question {
    const struct catalog_key *key;
    const char *token;
    const char *dead_host; /* begins the tokens of flights that are dead; "": not known */
    int64_t lock_us;
    double draw;   /* see xfetch.h */
    int64_t known; /* the stamp whose text is at hand; 0: none */
    bool fly;      /* it would be computed */
};

struct l2_answer {
    enum l2_state state;
    enum l2_flight flight;
    bool has_text; /* the entry's text is there; else the one of the known stamp is the same */
    bool has_run_out;
    /* l1_until and text aside; stamp 0: nothing */
    struct catalog_entry entry;
};

/** Makes the token of a flight: the host's name, and a random one. */
void l2_token(char token[L2_TOKEN_TEXT + 1], const char *host);

void l2_read(struct redis *redis, struct arena *arena, const struct l2_question *question,
             struct l2_answer *answer);

enum l2_filled {
    L2_STORED,
    L2_OVERTAKEN, /* it was called outdated meanwhile; entry->generation is the new one */
    L2_LOST       /* the flight is another's, or Redis is silent */
};

/** Brings what the flight has computed, under entry->generation; entry->stamp is set. */
enum l2_filled l2_fill(struct redis *redis, struct arena *arena, const struct catalog_key *key,
                       const char *token, bool go_on, int64_t good_ms, int64_t stale_ms,
                       struct catalog_entry *entry);

/** Ends the flight without an object. */
void l2_release(struct redis *redis, struct arena *arena, const struct catalog_key *key,
                const char *token);

/** Calls an object outdated and tells every host. Returns false where Redis did not answer. */
bool l2_outdate(struct redis *redis, struct arena *arena, const struct catalog_key *key);

#endif
