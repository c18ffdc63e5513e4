#include "lib/database/seats/seat_publication.h"

#include "lib/database/seats/seat_store.h"

static bool publish(struct redis *redis, struct arena *arena, const struct seat_states *states,
                    int64_t *applied)
{
    return states->count == 0 ||
           seats_publish(redis, arena, &states->show, states->states, states->count, applied);
}

bool order_seats_publish(struct postgres *postgres, struct redis *redis, struct arena *arena,
                         struct str order)
{
    struct seat_states states;

    return seat_store_of_order(postgres, arena, order, &states) == POSTGRES_OK &&
           publish(redis, arena, &states, NULL);
}

bool show_seats_publish(struct postgres *postgres, struct redis *redis, struct arena *arena,
                        struct str show, const struct str *seats, size_t count)
{
    for (size_t at = 0; at < count; at += SEATS_PER_CALL) {
        size_t some = count - at < SEATS_PER_CALL ? count - at : SEATS_PER_CALL;
        struct seat_states states;
        size_t ordered = 0;
        if (seat_store_of_seats(postgres, arena, show, seats + at, some, &states) != POSTGRES_OK) {
            return false;
        }
        /* A seat that was never ordered has nothing to publish. */
        struct seat_state *news = arena_alloc(arena, (some + 1) * sizeof(*news));
        for (size_t i = 0; i < states.count && ordered < some; i++) {
            if (states.states[i].change > 0) {
                news[ordered++] = states.states[i];
            }
        }
        states.states = news;
        states.count = ordered;
        if (!publish(redis, arena, &states, NULL)) {
            return false;
        }
    }
    return true;
}

bool show_states_publish(struct postgres *postgres, struct redis *redis, struct arena *arena,
                         struct str show, int64_t *applied)
{
    struct seat_states states = {0};
    int64_t all = 0;

    do {
        struct str after = states.count > 0 ? states.states[states.count - 1].seat : STR("");
        int64_t some = 0;
        if (seat_store_page(postgres, arena, show, after, SEATS_PER_CALL, &states) != POSTGRES_OK ||
            !publish(redis, arena, &states, &some)) {
            return false;
        }
        all += some;
    } while (states.count == SEATS_PER_CALL);
    if (applied != NULL) {
        *applied = all;
    }
    return true;
}

enum outcome show_publish(struct postgres *postgres, struct redis *redis, struct arena *arena,
                          struct str show)
{
    struct show_plan plan;
    bool found;

    if (seat_store_plan(postgres, arena, show, &found, &plan) != POSTGRES_OK) {
        return OUTCOME_ADMISSION_UNAVAILABLE;
    }
    if (!found) {
        return OUTCOME_NOT_FOUND;
    }
    return seats_load(redis, arena, &plan.show, &plan.rules, plan.seats, plan.count);
}
