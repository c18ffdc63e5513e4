/*
 * l2 — cache level 2: the catalogue in Redis, shared by all hosts, and the lock between hosts (the
 * scripts catalog_*.lua). One key per object, which also holds its flight (the lock). Times of
 * Redis' clock are never exchanged: replies give durations, which are added to this host's clock.
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
    L2_NONE,   /* not stored */
    L2_GOOD,
    L2_DUE, /* expired, or to be recomputed early */
    L2_OLD  /* invalidated */
};

enum l2_flight { L2_FLIGHT_NO, L2_FLIGHT_MINE, L2_FLIGHT_OTHER };

struct l2_question {
    const struct catalog_key *key;
    const char *token;     /* of the flight that the caller may get, see l2_token() */
    const char *dead_host; /* prefix of tokens whose flights are dead; "": none known */
    int64_t lock_us;       /* deadline of a flight */
    double draw;           /* see xfetch.h */
    int64_t known;         /* stamp of the text that the caller has; 0: none */
    bool fly;              /* the caller would compute the object */
};

struct l2_answer {
    enum l2_state state;
    enum l2_flight flight;
    bool has_text; /* the entry has its text; else it equals the text of the known stamp */
    bool has_run_out;
    /* Without l1_until; stamp 0: nothing. */
    struct catalog_entry entry;
};

/** Creates a flight's token: the host's name and a random id. */
void l2_token(char token[L2_TOKEN_TEXT + 1], const char *host);

/** Reads an object from L2, and takes its flight if that is due, free and wanted. */
void l2_read(struct redis *redis, struct arena *arena, const struct l2_question *question,
             struct l2_answer *answer);

enum l2_filled {
    L2_STORED,
    L2_OVERTAKEN, /* invalidated meanwhile; entry->generation is the new one */
    L2_LOST       /* the flight is another's by now, or Redis did not answer */
};

/** Stores what the flight has computed, for entry->generation, and sets entry->stamp. `go_on`:
 *  if overtaken, the flight continues. */
enum l2_filled l2_fill(struct redis *redis, struct arena *arena, const struct catalog_key *key,
                       const char *token, bool go_on, int64_t good_ms, int64_t stale_ms,
                       struct catalog_entry *entry);

/** Ends the flight without storing an object. */
void l2_release(struct redis *redis, struct arena *arena, const struct catalog_key *key,
                const char *token);

/** Marks an object outdated and notifies every host. Returns false if Redis did not answer. */
bool l2_outdate(struct redis *redis, struct arena *arena, const struct catalog_key *key);

#endif
