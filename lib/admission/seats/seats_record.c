#include "lib/admission/seats/seats_record.h"

#include <stdlib.h>

static size_t count_of(struct str list, char separator)
{
    size_t count = list.n > 0 ? 1 : 0;

    for (size_t i = 0; i < list.n; i++) {
        count += list.p[i] == separator;
    }
    return count;
}

static bool read_hold(struct str text, int64_t now_ms, struct seat_hold *hold)
{
    struct str deadline;
    struct str guard;
    struct str claim;
    int64_t deadline_ms;
    int64_t guard_ms;

    if (!str_split(text, '/', &hold->seat, &text) || !str_split(text, '/', &deadline, &text) ||
        !str_split(text, '/', &guard, &text) || !str_split(text, '/', &claim, &text) ||
        !str_to_int64(deadline, 0, INT64_MAX, &deadline_ms) ||
        !str_to_int64(guard, 0, INT64_MAX, &guard_ms)) {
        return false;
    }
    /* A hold that only a running order keeps alive lasts until its guard ends. */
    hold->ends_ms = deadline_ms > now_ms ? deadline_ms : guard_ms;
    return hold->ends_ms > now_ms;
}

static int by_end(const void *a, const void *b)
{
    const struct seat_hold *one = a;
    const struct seat_hold *other = b;

    return (one->ends_ms > other->ends_ms) - (one->ends_ms < other->ends_ms);
}

void seats_record_holds(struct arena *arena, struct str record, struct seat_holds *holds)
{
    struct seat_hold *found = arena_alloc(arena, (count_of(record, ' ') + 1) * sizeof(*found));
    struct str text;

    holds->count = 0;
    while (record.n > 0) {
        (void)str_split(record, ' ', &text, &record);
        holds->count += read_hold(text, holds->now_ms, &found[holds->count]);
    }
    qsort(found, holds->count, sizeof(*found), by_end);
    holds->holds = found;
}

size_t seats_record_words(struct arena *arena, struct str list, const struct str **words)
{
    struct str *found = arena_alloc(arena, (count_of(list, ' ') + 1) * sizeof(*found));
    size_t count = 0;

    while (list.n > 0) {
        (void)str_split(list, ' ', &found[count], &list);
        count++;
    }
    *words = found;
    return count;
}
