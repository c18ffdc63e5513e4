/*
 * seats — the seats of a show in Redis: who holds which, until when, and which are taken by orders.
 * A hold is a deadline of Redis TIME, checked by the scripts; no sweeper is needed. PostgreSQL
 * decides what is ordered and sold; seats_publish() brings it here, in the order of each seat's
 * change number.
 *
 * Text in results lives as long as the arena.
 * ADMISSION_UNAVAILABLE always means that it may have happened.
 */
#ifndef SLUICE_ADMISSION_SEATS_H
#define SLUICE_ADMISSION_SEATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/admission/outcome.h"
#include "lib/admission/tokens/claim.h"
#include "lib/base/arena.h"
#include "lib/base/str.h"
#include "lib/store/redis.h"

enum {
    SEATS_MAX = 100,        /* of one member in one show, so of one request too */
    SHOW_SEATS_MAX = 50000, /* of one show */
    SEATS_PER_CALL = 500
};

/** A show. Its keys have its queue's hash tag. Both are slugs, borrowed. */
struct show_ref {
    struct str queue;
    struct str show;
};

/** A hold, as its member sees it. */
struct seat_hold {
    struct str seat;
    int64_t ends_ms; /* since 1970 by Redis TIME; in the future */
};

/** A member's holds: unexpired, soonest deadline first. */
struct seat_holds {
    int64_t now_ms; /* Redis TIME */
    const struct seat_hold *holds;
    size_t count;
};

/** Why a request for seats was refused. */
struct seat_refusal {
    const struct str *seats; /* for SEATS_TAKEN, UNKNOWN_SEAT and SEAT_NOT_HELD: those concerned */
    size_t count;
    int64_t most;       /* for TOO_MANY_SEATS: the limit per member */
    bool queue_deleted; /* for NOT_FOUND: its queue was deleted */
};

/** Holds `count` seats (1..SEATS_MAX, each once) for a member with a valid entry token, all or
 *  none. Seats that the member holds already keep their deadlines; `replace`: the member's other
 *  holds are released in the same step. HELD (`holds`: all that the member holds now), or
 *  SEATS_TAKEN, UNKNOWN_SEAT, TOO_MANY_SEATS (ordered seats count), ENTRY_TOKEN_INVALID,
 *  ORDER_IN_PROGRESS, NOT_FOUND (no such queue, or a show that is not loaded),
 *  ADMISSION_UNAVAILABLE. */
enum outcome seats_hold(struct redis *redis, struct arena *arena, const struct show_ref *show,
                        struct str member, struct str entry_token, const struct str *seats,
                        size_t count, bool replace, struct seat_holds *holds,
                        struct seat_refusal *refusal);

/** Releases `count` seats (each once), for 0 all that the member holds; seats not held by the
 *  member are skipped. RELEASED, ORDER_IN_PROGRESS (nothing was released), NOT_FOUND (see
 *  `refusal`), or ADMISSION_UNAVAILABLE. */
enum outcome seats_release(struct redis *redis, struct arena *arena, const struct show_ref *show,
                           struct str member, const struct str *seats, size_t count,
                           struct seat_refusal *refusal);

/** A member's holds, at a cost independent of the show's size. OK, NOT_FOUND (a show that is not
 *  loaded), or ADMISSION_UNAVAILABLE. */
enum outcome seats_mine(struct redis *redis, struct arena *arena, const struct show_ref *show,
                        struct str member, struct seat_holds *holds);

enum seat_status { SEAT_AVAILABLE, SEAT_HELD, SEAT_SOLD };

/** All seats of a show at one moment, in one round trip. */
struct seat_map {
    int64_t now_ms;
    int64_t version; /* of the plan that defines the positions */
    size_t total;
    struct str board;       /* see seat_map_status() */
    const struct str *mine; /* held or ordered by the calling member */
    size_t mine_count;
};

/** Reads the map for `member` (empty: nobody). OK, NOT_FOUND (a show that is not loaded), or
 *  ADMISSION_UNAVAILABLE. */
enum outcome seats_map(struct redis *redis, struct arena *arena, const struct show_ref *show,
                       struct str member, struct seat_map *map);

/** The status of the seat at `position` of the plan, from 0. An ordered seat that is not paid
 *  counts as HELD. */
enum seat_status seat_map_status(const struct seat_map *map, size_t position);

/** True if `seat` is held or ordered by the calling member. */
bool seat_map_is_mine(const struct seat_map *map, struct str seat);

/** As claim_take(), for an order of `count` seats (1..SEATS_MAX, each once): the member must hold
 *  all of them, and they stay guarded beyond their deadlines until the claim's lease has surely
 *  expired. Sets claim->show, with which claim_release() restores the holds. Also SEAT_NOT_HELD
 *  (nothing was claimed). */
enum outcome seats_claim(struct redis *redis, struct arena *arena, struct claim *claim,
                         struct str show, const struct str *seats, size_t count,
                         int64_t least_lease_ms, struct seat_refusal *refusal);

/** The state of a seat in PostgreSQL. */
struct seat_state {
    struct str seat;
    int64_t change;    /* rises with each change of the seat, ≥ 1 */
    char state;        /* 'O' ordered and not paid, 'S' sold, 'F' free again */
    struct str member; /* empty for F, like order */
    struct str order;
};

/** Publishes the states of any number of seats; changes older than the known one are ignored.
 *  O and S replace any hold. Works before the show is loaded and before its queue is published.
 *  `*applied` (may be NULL): the number of states applied. Returns false if Redis did not answer:
 *  some may have been applied. */
bool seats_publish(struct redis *redis, struct arena *arena, const struct show_ref *show,
                   const struct seat_state *states, size_t count, int64_t *applied);

/** As seats_publish(), also for seats for which Redis has a later change: only with rows that were
 *  read after Redis was, see seat_states_known(). */
bool seats_correct(struct redis *redis, struct arena *arena, const struct show_ref *show,
                   const struct seat_state *states, size_t count, int64_t *applied);

/** Reads the states that Redis has of at most SEATS_PER_CALL seats: fills states[i] for seats[i],
 *  with change 0 and state 'F' for one that was never published. Returns false if Redis did not
 *  answer. */
bool seat_states_known(struct redis *redis, struct arena *arena, const struct show_ref *show,
                       const struct str *seats, size_t count, struct seat_state *states);

/** The properties of a show. */
struct show_rules {
    int64_t version; /* rises with each change of the show, ≥ 1 */
    /* When this version was stored, µs since 1970: PostgreSQL may lose a version in a fail-over and
     * give its number to another. */
    int64_t updated_us;
    int64_t max_seats;
    int64_t hold_ttl_ms;
};

/** Loads a show and its plan (`count` ≤ SHOW_SEATS_MAX, each seat once, in the order of their
 *  positions) into Redis, in many small steps; it takes effect with the last one. Holds and seat
 *  states are kept. LOADED, PRESENT (Redis has this version, stored at the same moment, or a later one), OLDER (another process
 *  is loading it at the same time and will finish), or ADMISSION_UNAVAILABLE: to be repeated. */
enum outcome seats_load(struct redis *redis, struct arena *arena, const struct show_ref *show,
                        const struct show_rules *rules, const struct str *seats, size_t count);

/** A show as Redis has it. */
struct show_known {
    int64_t version;    /* of the plan in force; 0: none */
    int64_t updated_us; /* when it was stored; 0: unknown, loaded by the release before */
    int64_t highest;    /* version in force or being loaded */
    int64_t held;       /* seats held now, running orders included */
};

/** What Redis has of a show. OK, NOT_FOUND (no plan in force; only `highest` is set), or
 *  ADMISSION_UNAVAILABLE. */
enum outcome seats_known(struct redis *redis, struct arena *arena, const struct show_ref *show,
                         struct show_known *known);

/** Deletes a show that moved to another queue. Returns false if Redis did not answer. */
bool seats_forget(struct redis *redis, struct arena *arena, const struct show_ref *show);

#endif
