#include "lib/admission/seats/seats.h"
#include "lib/admission/seats/seats_record.h"
#include "lib/store/redis_reply.h"

/* A cell of the board: the state, and the deadline of a hold in six bytes, big-endian. */
enum { CELL = 7 };

enum outcome seats_map(struct redis *redis, struct arena *arena, const struct show_ref *show,
                       struct str member, struct seat_map *map)
{
    struct redis_command *command =
        redis_command_show_script(arena, SCRIPT_SEATS_MAP, show->queue, show->show);

    redis_command_add(command, member);
    const redisReply *reply = redis_call(redis, arena, command);
    enum outcome outcome = outcome_of(reply);
    if (outcome != OUTCOME_OK) {
        return outcome;
    }
    struct seat_holds holds = {.now_ms = redis_reply_int(reply, 1, 0)};
    const struct str *ordered;
    seats_record_holds(arena, redis_reply_text(reply, 5), &holds);
    size_t count = seats_record_words(arena, redis_reply_text(reply, 6), &ordered);
    struct str *mine = arena_alloc(arena, (holds.count + count + 1) * sizeof(*mine));
    for (size_t i = 0; i < holds.count; i++) {
        mine[i] = holds.holds[i].seat;
    }
    for (size_t i = 0; i < count; i++) {
        mine[holds.count + i] = ordered[i];
    }
    *map = (struct seat_map){
        .now_ms = holds.now_ms,
        .version = redis_reply_int(reply, 2, 0),
        .total = (size_t)redis_reply_int(reply, 3, 0),
        .board = redis_reply_text(reply, 4),
        .mine = mine,
        .mine_count = holds.count + count,
    };
    return outcome;
}

enum seat_status seat_map_status(const struct seat_map *map, size_t position)
{
    if (position >= map->board.n / CELL) {
        return SEAT_AVAILABLE;
    }
    const char *cell = map->board.p + position * CELL;
    int64_t ends_ms = 0;
    switch (cell[0]) {
    case 'S':
        return SEAT_SOLD;
    case 'O':
        return SEAT_HELD;
    case 'H':
        for (size_t i = 1; i < CELL; i++) {
            ends_ms = ends_ms << 8 | (unsigned char)cell[i];
        }
        return ends_ms > map->now_ms ? SEAT_HELD : SEAT_AVAILABLE;
    default:
        return SEAT_AVAILABLE;
    }
}

bool seat_map_is_mine(const struct seat_map *map, struct str seat)
{
    for (size_t i = 0; i < map->mine_count; i++) {
        if (str_equal(map->mine[i], seat)) {
            return true;
        }
    }
    return false;
}
