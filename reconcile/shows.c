#include <string.h>

#include "lib/base/log.h"
#include "lib/catalog/catalog.h"
#include "lib/database/seats/seat_publication.h"
#include "lib/database/seats/seat_store.h"
#include "reconcile/reconcile.h"

enum { SHOWS_PER_CALL = 100, PAGES_PER_PASS = 8 };

/* Redis or PostgreSQL did not answer: finds out which. Returns false. */
static bool report_silence(struct reconcile *reconcile)
{
    bool answers = postgres_alive(reconcile->postgres);

    reconcile->report.postgres_silent |= !answers;
    reconcile->report.redis_silent |= answers;
    return false;
}

/* Uses an arena of its own, as everything large here: a show may have fifty thousand seats. */
static bool load_show(struct reconcile *reconcile, const struct show_version *show)
{
    struct arena *arena = arena_new();
    enum outcome outcome = show_publish(reconcile->postgres, reconcile->redis, arena, show->show);

    /* Whatever kept the show from Redis also kept the change from the catalogue. */
    bool published = outcome != OUTCOME_LOADED ||
                     catalog_show_changed(reconcile->redis, arena, show->show, show->concert);
    arena_free(arena);
    reconcile->report.shows_loaded += outcome == OUTCOME_LOADED;
    /* NOT_FOUND: left this queue since it was listed. OLDER: another process has loaded a newer
     * version. */
    return (outcome != OUTCOME_ADMISSION_UNAVAILABLE && published) || report_silence(reconcile);
}

static bool publish_states(struct reconcile *reconcile, const struct show_version *show)
{
    struct arena *arena = arena_new();
    bool published =
        show_states_publish(reconcile->postgres, reconcile->redis, arena, show->show, NULL);

    arena_free(arena);
    return published || report_silence(reconcile);
}

/* Calls `with` for each show of a queue. False if it did, or if PostgreSQL does not answer. */
static bool each_show(struct reconcile *reconcile, const struct queue_row *queue,
                      bool (*with)(struct reconcile *, const struct queue_row *,
                                   const struct show_version *))
{
    struct str after = {0};
    size_t count;

    do {
        const struct show_version *shows;
        if (seat_store_shows(reconcile->postgres, reconcile->arena, queue->id, after,
                             SHOWS_PER_CALL, &shows, &count) != POSTGRES_OK) {
            reconcile->report.postgres_silent = true;
            return false;
        }
        for (size_t i = 0; i < count; i++) {
            if (!with(reconcile, queue, &shows[i])) {
                return false;
            }
        }
        after = count > 0 ? shows[count - 1].show : after;
    } while (count == SHOWS_PER_CALL);
    return true;
}

static bool load_with_states(struct reconcile *reconcile, const struct queue_row *queue,
                             const struct show_version *show)
{
    (void)queue;
    /* Seats first: the show must not be available before it is known what is sold. */
    return publish_states(reconcile, show) && load_show(reconcile, show);
}

bool reconcile_load_shows(struct reconcile *reconcile, const struct queue_row *queue)
{
    return each_show(reconcile, queue, load_with_states);
}

/* Whether Redis has another plan than PostgreSQL. A version of Redis that PostgreSQL, asked after
 * Redis, does not have yet is one that PostgreSQL has lost: its numbers go on above that one, so
 * that Redis accepts them. */
static enum postgres_outcome compare_plan(struct reconcile *reconcile,
                                          const struct show_version *show,
                                          const struct show_known *known, bool *differs)
{
    if (known->highest > show->version) {
        return seat_store_outrun(reconcile->postgres, reconcile->arena, show->show, known->highest,
                                 differs);
    }
    *differs = known->version < show->version || known->updated_us != show->updated_us;
    return POSTGRES_OK;
}

/* Loads a show that is missing or outdated in Redis. */
static bool load_if_outdated(struct reconcile *reconcile, const struct queue_row *queue,
                             const struct show_version *show)
{
    const struct show_ref ref = {.queue = queue->id, .show = show->show};
    struct show_known known;
    bool differs;
    enum outcome found = seats_known(reconcile->redis, reconcile->arena, &ref, &known);

    if (found == OUTCOME_ADMISSION_UNAVAILABLE) {
        reconcile->report.redis_silent = true;
        return false;
    }
    /* A load of a lost version that never ended refuses lower ones also where none is in force. */
    if (compare_plan(reconcile, show, &known, &differs) != POSTGRES_OK) {
        reconcile->report.postgres_silent = true;
        return false;
    }
    if (found == OUTCOME_OK && !differs) {
        return true;
    }
    log_event(known.version > show->version ? LOG_LEVEL_WARNING : LOG_LEVEL_INFO, "show.load",
              LOG_FIELDS(LOG_STR("show", show->show), LOG_STR("queue", queue->id),
                         LOG_INT("known", known.version), LOG_INT("version", show->version)));
    return found == OUTCOME_OK ? load_show(reconcile, show)
                               : load_with_states(reconcile, queue, show);
}

/** A page of a show's seats, as Redis and PostgreSQL know them. */
struct page {
    struct show_ref show;
    struct seat_states before; /* in PostgreSQL before Redis was read */
    struct seat_state *known;  /* in Redis, seat by seat as in `before` */
    struct seat_states now;    /* in PostgreSQL afterwards */
};

static bool same(const struct seat_state *known, const struct seat_state *state)
{
    return known->change == state->change && known->state == state->state &&
           str_equal(known->member, state->member) && str_equal(known->order, state->order);
}

/*
 * Redis was read before `now`: if it is ahead of PostgreSQL, PostgreSQL has lost a commit, or
 * something else writes to Redis. If it is behind, the change was not published yet.
 */
static bool correct_page(struct reconcile *reconcile, struct arena *arena, const struct page *page)
{
    struct seat_state *news = arena_alloc(arena, (page->now.count + 1) * sizeof(*news));
    struct seat_state *wrong = arena_alloc(arena, (page->now.count + 1) * sizeof(*wrong));
    size_t news_count = 0;
    size_t wrong_count = 0;
    int64_t published = 0;
    int64_t corrected = 0;
    size_t at = 0;

    for (size_t i = 0; i < page->now.count; i++) {
        const struct seat_state *now = &page->now.states[i];
        while (at < page->before.count && !str_equal(page->before.states[at].seat, now->seat)) {
            at++;
        }
        if (at == page->before.count || same(&page->known[at], now)) {
            continue;
        }
        if (page->known[at].change < now->change) {
            news[news_count++] = *now;
        } else {
            wrong[wrong_count++] = *now;
        }
    }
    if ((news_count > 0 &&
         !seats_publish(reconcile->redis, arena, &page->show, news, news_count, &published)) ||
        (wrong_count > 0 &&
         !seats_correct(reconcile->redis, arena, &page->show, wrong, wrong_count, &corrected))) {
        reconcile->report.redis_silent = true;
        return false;
    }
    reconcile->report.seats_published += published;
    reconcile->report.seats_corrected += corrected;
    if (published + corrected > 0) {
        log_event(corrected > 0 ? LOG_LEVEL_WARNING : LOG_LEVEL_INFO, "show.seats_drift",
                  LOG_FIELDS(LOG_STR("show", page->show.show), LOG_STR("queue", page->show.queue),
                             LOG_INT("published", published), LOG_INT("corrected", corrected),
                             LOG_STR("first", wrong_count > 0 ? wrong[0].seat : news[0].seat)));
    }
    return true;
}

/* Compares the page of seats after `*after` (which gets the last one) and corrects it. `*more`:
 * others follow. */
static bool compare_page(struct reconcile *reconcile, struct arena *arena,
                         const struct show_ref *show, char after[SEAT_MAX + 1], bool *more)
{
    struct page page = {.show = *show};
    struct str seats[SEATS_PER_CALL];
    struct seat_state known[SEATS_PER_CALL];

    *more = false;
    if (seat_store_page_of_all(reconcile->postgres, arena, show->show, str_of(after),
                               SEATS_PER_CALL, &page.before) != POSTGRES_OK) {
        reconcile->report.postgres_silent = true;
        return false;
    }
    size_t count = page.before.count;
    /* A show that was moved to another queue is compared with that one. */
    if (count == 0 || !str_equal(page.before.show.queue, show->queue)) {
        return true;
    }
    for (size_t i = 0; i < count; i++) {
        seats[i] = page.before.states[i].seat;
    }
    page.known = known;
    if (!seat_states_known(reconcile->redis, arena, show, seats, count, known)) {
        reconcile->report.redis_silent = true;
        return false;
    }
    if (seat_store_of_seats(reconcile->postgres, arena, show->show, seats, count, &page.now) !=
        POSTGRES_OK) {
        reconcile->report.postgres_silent = true;
        return false;
    }
    str_copy(seats[count - 1], after, SEAT_MAX + 1);
    *more = count == SEATS_PER_CALL;
    return !str_equal(page.now.show.queue, show->queue) || correct_page(reconcile, arena, &page);
}

static int order_of(struct str a, const char *b)
{
    size_t length = strlen(b);
    int order = memcmp(a.p, b, a.n < length ? a.n : length);

    return order != 0 ? order : (a.n > length) - (a.n < length);
}

/* Pages are compared in the order of queues, shows and seats; a pass continues where the last one
 * stopped. */
static bool compare_show(struct reconcile *reconcile, const struct queue_row *queue,
                         const struct show_version *show)
{
    struct compared *reached = &reconcile->compared;
    const struct show_ref ref = {.queue = queue->id, .show = show->show};
    int by_queue = order_of(queue->id, reached->queue);
    int by_show = order_of(show->show, reached->show);
    struct arena *arena;
    bool sound = true;
    bool more = true;

    if (by_queue < 0 || (by_queue == 0 && by_show < 0) || reconcile->pages_left <= 0) {
        return true;
    }
    if (by_queue != 0 || by_show != 0) {
        str_copy(queue->id, reached->queue, sizeof(reached->queue));
        str_copy(show->show, reached->show, sizeof(reached->show));
        reached->seat[0] = '\0';
    }
    arena = arena_new();
    while (sound && more && reconcile->pages_left > 0) {
        reconcile->pages_left--;
        sound = compare_page(reconcile, arena, &ref, reached->seat, &more);
        arena_reset(arena);
    }
    arena_free(arena);
    return sound;
}

void reconcile_shows(struct reconcile *reconcile, const struct queue_row *queue)
{
    if (each_show(reconcile, queue, load_if_outdated)) {
        (void)each_show(reconcile, queue, compare_show);
    }
}

void reconcile_shows_start(struct reconcile *reconcile)
{
    if (reconcile->thorough || reconcile->pages_left > 0) {
        reconcile->compared = (struct compared){0};
    }
    reconcile->pages_left = reconcile->thorough ? INT64_MAX : PAGES_PER_PASS;
}
