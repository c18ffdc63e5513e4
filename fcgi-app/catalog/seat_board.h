/*
 * seat_board — the current states of a plan's seats, from Redis, or from PostgreSQL while Redis
 * does not answer.
 */
#ifndef SLUICE_CATALOG_SEAT_BOARD_H
#define SLUICE_CATALOG_SEAT_BOARD_H

#include <stdbool.h>
#include <stdint.h>

#include "fcgi-app/pool/services.h"
#include "lib/admission/seats/seats.h"
#include "lib/base/arena.h"
#include "lib/base/str.h"

/** A plan as the catalogue caches it. */
struct seat_plan {
    struct str lines; /* one a seat, in order; the id precedes the first tab */
    int64_t version;
};

struct seat_board {
    struct str states; /* one character a line of the plan, in the arena */
    bool holds_known;  /* false: read from PostgreSQL, where a seat that is only held looks free */
};

/** Reads the board for `member` (empty: anonymous). Returns false if neither store answers. */
bool seat_board_read(const struct services *services, struct arena *arena,
                     const struct show_ref *show, const struct seat_plan *plan, struct str member,
                     struct seat_board *board);

/** The status that a character of `states` stands for. */
enum seat_status seat_board_status(char state);
/** Whether it stands for a seat that the member holds or has ordered. */
bool seat_board_is_mine(char state);

#endif
