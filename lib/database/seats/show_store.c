#include "lib/database/seats/show_store.h"

#include "lib/database/store_refusal.h"
#include "lib/store/postgres_array.h"

enum { FIXED_MAX = 100 };

static const struct {
    const char *sqlstate;
    enum show_outcome outcome;
} RULES[] = {
    {"SL009", SHOW_QUEUE_GONE},
    {"SL012", SHOW_QUEUE_FIXED},
    {"SL030", SHOW_CONCERT_GONE},
    {"SL031", SHOW_SEATS_FIXED},
};

static bool flag(const PGresult *result, int column)
{
    return str_equal(postgres_text(result, 0, column), STR("t"));
}

static enum show_outcome refused(const struct postgres *postgres, enum postgres_outcome outcome,
                                 const char *call)
{
    switch (store_refusal_of(postgres, outcome, call)) {
    case STORE_RETRY:
    case STORE_UNAVAILABLE:
        return SHOW_UNAVAILABLE;
    case STORE_UNKNOWN:
        return SHOW_UNKNOWN;
    case STORE_RULE:
        for (size_t i = 0; i < sizeof(RULES) / sizeof(*RULES); i++) {
            if (store_refusal_is(postgres, RULES[i].sqlstate)) {
                return RULES[i].outcome;
            }
        }
        break;
    case STORE_DEFECT:
        break;
    }
    return SHOW_FAILED;
}

/* Runs a call that only reads, so that an unknown outcome is harmless. */
static enum show_outcome read_rows(struct postgres *postgres, struct arena *arena, enum query query,
                                   struct str id, const char *call, const PGresult **result)
{
    const char *const parameters[] = {arena_copy(arena, id)};
    enum postgres_outcome outcome = postgres_query(postgres, arena, query, parameters, result);

    if (outcome == POSTGRES_OK) {
        return SHOW_FOUND;
    }
    enum show_outcome why = refused(postgres, outcome, call);
    return why == SHOW_UNKNOWN ? SHOW_UNAVAILABLE : why;
}

enum show_outcome concert_store_put(struct postgres *postgres, struct arena *arena,
                                    const struct concert_record *concert,
                                    const struct change_author *author, int64_t *outbox_row)
{
    const char *const parameters[] = {
        arena_copy(arena, concert->id),
        arena_copy(arena, concert->title),
        arena_copy(arena, concert->venue),
        arena_copy(arena, concert->description),
        author->actor,
        author->request_id,
    };
    const PGresult *result;
    enum postgres_outcome outcome =
        postgres_query(postgres, arena, QUERY_CONCERT_PUT, parameters, &result);

    *outbox_row = 0;
    if (outcome != POSTGRES_OK) {
        return refused(postgres, outcome, "concert_put");
    }
    *outbox_row = postgres_int(result, 0, 2, 0);
    if (flag(result, 0)) {
        return SHOW_CREATED;
    }
    return flag(result, 1) ? SHOW_CHANGED : SHOW_SAME;
}

enum show_outcome concert_store_find(struct postgres *postgres, struct arena *arena, struct str id,
                                     struct concert_record *concert)
{
    const PGresult *result;
    enum show_outcome outcome =
        read_rows(postgres, arena, QUERY_CONCERT_FIND, id, "concert_find", &result);

    if (outcome != SHOW_FOUND || PQntuples(result) == 0) {
        return outcome == SHOW_FOUND ? SHOW_NONE : outcome;
    }
    concert->id = postgres_text(result, 0, 0);
    concert->title = postgres_text(result, 0, 1);
    concert->venue = postgres_text(result, 0, 2);
    concert->description = postgres_text(result, 0, 3);
    concert->version = postgres_int(result, 0, 4, 0);
    concert->created_ms = postgres_int(result, 0, 5, 0);
    concert->updated_ms = postgres_int(result, 0, 6, 0);
    return SHOW_FOUND;
}

static struct str id_of(const struct plan_seat *seat)
{
    return seat->id;
}

static struct str section_of(const struct plan_seat *seat)
{
    return seat->section;
}

static struct str row_of(const struct plan_seat *seat)
{
    return seat->row;
}

static struct str number_of(const struct plan_seat *seat)
{
    return seat->number;
}

/* One field of all seats as the literal of a text[]. */
static const char *label_array(struct arena *arena, const struct plan_seat *seats, size_t count,
                               struct str (*field)(const struct plan_seat *))
{
    struct str *labels = arena_alloc(arena, (count + 1) * sizeof(*labels));

    for (size_t i = 0; i < count; i++) {
        labels[i] = field(&seats[i]);
    }
    return postgres_text_array(arena, labels, count);
}

static const char *price_array(struct arena *arena, const struct plan_seat *seats, size_t count)
{
    int64_t *prices = arena_alloc(arena, (count + 1) * sizeof(*prices));

    for (size_t i = 0; i < count; i++) {
        prices[i] = seats[i].price;
    }
    return postgres_int_array(arena, prices, count);
}

static void read_fixed(const struct postgres *postgres, struct arena *arena,
                       struct show_change *change)
{
    struct str *fixed = arena_alloc(arena, FIXED_MAX * sizeof(*fixed));
    struct str rest = str_of(arena_copy(arena, str_of(postgres_detail(postgres))));

    change->fixed = fixed;
    while (rest.n > 0 && change->fixed_count < FIXED_MAX) {
        (void)str_split(rest, ' ', &fixed[change->fixed_count++], &rest);
    }
}

enum show_outcome show_store_put(struct postgres *postgres, struct arena *arena,
                                 const struct show_record *show, const struct plan_seat *seats,
                                 size_t count, const struct change_author *author,
                                 struct show_change *change)
{
    bool planned = seats != NULL;
    const char *const parameters[] = {
        arena_copy(arena, show->id),
        arena_copy(arena, show->concert),
        arena_int(arena, show->starts_ms),
        arena_copy(arena, show->queue),
        arena_int(arena, show->max_seats),
        arena_int(arena, show->hold_ttl_seconds),
        planned && count > 0 ? arena_copy(arena, show->currency) : NULL,
        planned ? label_array(arena, seats, count, id_of) : NULL,
        planned ? label_array(arena, seats, count, section_of) : NULL,
        planned ? label_array(arena, seats, count, row_of) : NULL,
        planned ? label_array(arena, seats, count, number_of) : NULL,
        planned ? price_array(arena, seats, count) : NULL,
        author->actor,
        author->request_id,
    };
    const PGresult *result;
    enum postgres_outcome outcome =
        postgres_query(postgres, arena, QUERY_SHOW_PUT, parameters, &result);

    *change = (struct show_change){0};
    if (outcome == POSTGRES_REFUSED && store_refusal_is(postgres, "40001")) {
        /* A concurrent change. */
        outcome = postgres_query(postgres, arena, QUERY_SHOW_PUT, parameters, &result);
    }
    if (outcome != POSTGRES_OK) {
        enum show_outcome why = refused(postgres, outcome, "show_put");
        if (why == SHOW_SEATS_FIXED) {
            read_fixed(postgres, arena, change);
        }
        return why;
    }
    change->left_queue = postgres_text(result, 0, 2);
    if (flag(result, 0)) {
        return SHOW_CREATED;
    }
    return flag(result, 1) ? SHOW_CHANGED : SHOW_SAME;
}

enum show_outcome show_store_find(struct postgres *postgres, struct arena *arena, struct str id,
                                  struct show_record *show)
{
    const PGresult *result;
    enum show_outcome outcome =
        read_rows(postgres, arena, QUERY_SHOW_FIND, id, "show_find", &result);

    if (outcome != SHOW_FOUND || PQntuples(result) == 0) {
        return outcome == SHOW_FOUND ? SHOW_NONE : outcome;
    }
    show->id = postgres_text(result, 0, 0);
    show->concert = postgres_text(result, 0, 1);
    show->starts_ms = postgres_int(result, 0, 2, 0);
    show->queue = postgres_text(result, 0, 3);
    show->max_seats = postgres_int(result, 0, 4, 0);
    show->hold_ttl_seconds = postgres_int(result, 0, 5, 0);
    show->currency = postgres_text(result, 0, 6);
    show->version = postgres_int(result, 0, 7, 0);
    show->created_ms = postgres_int(result, 0, 8, 0);
    show->updated_ms = postgres_int(result, 0, 9, 0);
    show->seat_count = postgres_int(result, 0, 10, 0);
    show->taken_count = postgres_int(result, 0, 11, 0);
    return SHOW_FOUND;
}

enum show_outcome show_store_plan(struct postgres *postgres, struct arena *arena, struct str id,
                                  const struct plan_seat **seats, size_t *count)
{
    const PGresult *result;
    enum show_outcome outcome =
        read_rows(postgres, arena, QUERY_SHOW_PLAN, id, "show_plan", &result);

    *count = 0;
    if (outcome != SHOW_FOUND) {
        return outcome;
    }
    *count = (size_t)PQntuples(result);
    struct plan_seat *found = arena_alloc(arena, (*count + 1) * sizeof(*found));
    for (int i = 0; i < PQntuples(result); i++) {
        found[i].id = postgres_text(result, i, 0);
        found[i].section = postgres_text(result, i, 1);
        found[i].row = postgres_text(result, i, 2);
        found[i].number = postgres_text(result, i, 3);
        found[i].price = postgres_int(result, i, 4, 0);
    }
    *seats = found;
    return SHOW_FOUND;
}
