#include "lib/database/seats/seat_store.h"

#include "lib/database/store_refusal.h"
#include "lib/store/postgres_array.h"

static enum postgres_outcome ask(struct postgres *postgres, struct arena *arena, enum query query,
                                 const char *const *parameters, const char *call,
                                 const PGresult **result)
{
    enum postgres_outcome outcome = postgres_query(postgres, arena, query, parameters, result);

    if (outcome != POSTGRES_OK) {
        (void)store_refusal_of(postgres, outcome, call);
    }
    return outcome;
}

/* Columns: queue, show, seat, change, state, member, order. */
static void read_states(struct arena *arena, const PGresult *result, struct seat_states *states)
{
    int rows = PQntuples(result);
    struct seat_state *found = arena_alloc(arena, ((size_t)rows + 1) * sizeof(*found));

    *states = (struct seat_states){.states = found, .count = (size_t)rows};
    for (int i = 0; i < rows; i++) {
        struct str state = postgres_text(result, i, 4);
        found[i].seat = postgres_text(result, i, 2);
        found[i].change = postgres_int(result, i, 3, 0);
        found[i].state = state.n == 1 ? state.p[0] : 'O';
        found[i].member = postgres_text(result, i, 5);
        found[i].order = postgres_text(result, i, 6);
    }
    if (rows > 0) {
        states->show.queue = postgres_text(result, 0, 0);
        states->show.show = postgres_text(result, 0, 1);
    }
}

enum postgres_outcome seat_store_of_order(struct postgres *postgres, struct arena *arena,
                                          struct str order, struct seat_states *states)
{
    const char *const parameters[] = {arena_copy(arena, order)};
    const PGresult *result;
    enum postgres_outcome outcome =
        ask(postgres, arena, QUERY_SEATS_OF_ORDER, parameters, "seats_of_order", &result);

    if (outcome == POSTGRES_OK) {
        read_states(arena, result, states);
    }
    return outcome;
}

enum postgres_outcome seat_store_of_seats(struct postgres *postgres, struct arena *arena,
                                          struct str show, const struct str *seats, size_t count,
                                          struct seat_states *states)
{
    const char *const parameters[] = {arena_copy(arena, show),
                                      postgres_text_array(arena, seats, count)};
    const PGresult *result;
    enum postgres_outcome outcome =
        ask(postgres, arena, QUERY_SEATS_NAMED, parameters, "seats_named", &result);
    if (outcome == POSTGRES_OK) {
        read_states(arena, result, states);
    }
    return outcome;
}

static enum postgres_outcome read_page(struct postgres *postgres, struct arena *arena,
                                       struct str show, struct str after, int64_t limit,
                                       const char *all, struct seat_states *states)
{
    const char *const parameters[] = {arena_copy(arena, show), arena_copy(arena, after),
                                      arena_int(arena, limit), all};
    const PGresult *result;
    enum postgres_outcome outcome =
        ask(postgres, arena, QUERY_SEATS_PAGE, parameters, "seats_page", &result);

    if (outcome == POSTGRES_OK) {
        read_states(arena, result, states);
    }
    return outcome;
}

enum postgres_outcome seat_store_page(struct postgres *postgres, struct arena *arena,
                                      struct str show, struct str after, int64_t limit,
                                      struct seat_states *states)
{
    return read_page(postgres, arena, show, after, limit, "f", states);
}

enum postgres_outcome seat_store_page_of_all(struct postgres *postgres, struct arena *arena,
                                             struct str show, struct str after, int64_t limit,
                                             struct seat_states *states)
{
    return read_page(postgres, arena, show, after, limit, "t", states);
}

enum postgres_outcome seat_store_plan(struct postgres *postgres, struct arena *arena,
                                      struct str show, bool *found, struct show_plan *plan)
{
    const char *const parameters[] = {arena_copy(arena, show)};
    const PGresult *result;
    enum postgres_outcome outcome =
        ask(postgres, arena, QUERY_SHOW_SEAT_IDS, parameters, "show_seat_ids", &result);

    *found = false;
    if (outcome != POSTGRES_OK || PQntuples(result) == 0) {
        return outcome;
    }
    *found = true;
    *plan = (struct show_plan){
        .show = {.queue = postgres_text(result, 0, 1), .show = postgres_text(result, 0, 0)},
        .rules = {.version = postgres_int(result, 0, 2, 0),
                  .updated_us = postgres_int(result, 0, 7, 0),
                  .max_seats = postgres_int(result, 0, 3, 1),
                  .hold_ttl_ms = postgres_int(result, 0, 4, 0) * 1000}};
    size_t total = (size_t)postgres_int(result, 0, 5, 0);
    struct str ids = postgres_text(result, 0, 6);
    struct str *seats = arena_alloc(arena, (total + 1) * sizeof(*seats));
    while (plan->count < total && ids.n > 0) {
        (void)str_split(ids, ' ', &seats[plan->count++], &ids);
    }
    plan->seats = seats;
    return POSTGRES_OK;
}

enum postgres_outcome seat_store_shows(struct postgres *postgres, struct arena *arena,
                                       struct str queue, struct str after, int64_t limit,
                                       const struct show_version **shows, size_t *count)
{
    const char *const parameters[] = {arena_copy(arena, queue), arena_copy(arena, after),
                                      arena_int(arena, limit)};
    const PGresult *result;
    enum postgres_outcome outcome =
        ask(postgres, arena, QUERY_SHOWS_PAGE, parameters, "shows_page", &result);

    *count = 0;
    if (outcome != POSTGRES_OK) {
        return outcome;
    }
    *count = (size_t)PQntuples(result);
    struct show_version *found = arena_alloc(arena, (*count + 1) * sizeof(*found));
    for (int i = 0; i < PQntuples(result); i++) {
        found[i].show = postgres_text(result, i, 0);
        found[i].version = postgres_int(result, i, 1, 0);
        found[i].concert = postgres_text(result, i, 2);
        found[i].updated_us = postgres_int(result, i, 3, 0);
    }
    *shows = found;
    return POSTGRES_OK;
}

enum postgres_outcome seat_store_outrun(struct postgres *postgres, struct arena *arena,
                                        struct str show, int64_t known, bool *raised)
{
    const char *const parameters[] = {arena_copy(arena, show), arena_int(arena, known)};
    const PGresult *result;
    enum postgres_outcome outcome =
        ask(postgres, arena, QUERY_SHOW_VERSION_RAISE, parameters, "show_version_raise", &result);

    *raised = outcome == POSTGRES_OK && PQntuples(result) > 0;
    return outcome;
}
