#include "fcgi-app/catalog/seat_board.h"

#include <string.h>

#include "lib/database/seats/seat_store.h"

/* A letter for each status, a capital if the seat is the caller's. */
static const char LETTERS[] = {
    [SEAT_AVAILABLE] = 'a',
    [SEAT_HELD] = 'h',
    [SEAT_SOLD] = 's',
};
static const char OWN_LETTERS[] = {
    [SEAT_AVAILABLE] = 'A',
    [SEAT_HELD] = 'H',
    [SEAT_SOLD] = 'S',
};

enum seat_status seat_board_status(char state)
{
    switch (state) {
    case 'h':
    case 'H':
        return SEAT_HELD;
    case 's':
    case 'S':
        return SEAT_SOLD;
    default:
        return SEAT_AVAILABLE;
    }
}

bool seat_board_is_mine(char state)
{
    return state >= 'A' && state <= 'Z';
}

static size_t line_count(struct str lines)
{
    size_t count = 0;

    for (size_t i = 0; i < lines.n; i++) {
        count += lines.p[i] == '\n';
    }
    return count;
}

/* The id of the next line. */
static struct str next_seat(struct str *lines)
{
    struct str line;
    struct str id;

    (void)str_split(*lines, '\n', &line, lines);
    (void)str_split(line, '\t', &id, &line);
    return id;
}

static void join_redis(const struct seat_map *map, struct str lines, char *states, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct str seat = next_seat(&lines);
        enum seat_status status = seat_map_status(map, i);
        bool mine = status != SEAT_AVAILABLE && seat_map_is_mine(map, seat);
        states[i] = mine ? OWN_LETTERS[status] : LETTERS[status];
    }
}

/* `ordered` is sorted by id, in byte order. */
static const struct seat_state *find(const struct seat_states *ordered, struct str seat)
{
    size_t low = 0;
    size_t high = ordered->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        struct str it = ordered->states[middle].seat;
        int order = memcmp(it.p, seat.p, it.n < seat.n ? it.n : seat.n);
        if (order == 0 && it.n == seat.n) {
            return &ordered->states[middle];
        }
        if (order < 0 || (order == 0 && it.n < seat.n)) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return NULL;
}

static void join_postgres(const struct seat_states *ordered, struct str lines, struct str member,
                          char *states, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct seat_state *it = find(ordered, next_seat(&lines));
        enum seat_status status = it == NULL || it->state == 'F' ? SEAT_AVAILABLE
                                  : it->state == 'S'             ? SEAT_SOLD
                                                                 : SEAT_HELD;
        bool mine = status != SEAT_AVAILABLE && member.n > 0 && str_equal(it->member, member);
        states[i] = mine ? OWN_LETTERS[status] : LETTERS[status];
    }
}

bool seat_board_read(const struct services *services, struct arena *arena,
                     const struct show_ref *show, const struct seat_plan *plan, struct str member,
                     struct seat_board *board)
{
    size_t count = line_count(plan->lines);
    char *states = arena_alloc(arena, count + 1);
    struct seat_map map;
    struct seat_states ordered;

    board->states = str_sized(states, count);
    board->holds_known = seats_map(services->redis, arena, show, member, &map) == OUTCOME_OK &&
                         map.version == plan->version && map.total == count;
    if (board->holds_known) {
        join_redis(&map, plan->lines, states, count);
        return true;
    }
    if (seat_store_page(services->postgres, arena, show->show, STR(""), SHOW_SEATS_MAX, &ordered) !=
        POSTGRES_OK) {
        return false;
    }
    join_postgres(&ordered, plan->lines, member, states, count);
    return true;
}
