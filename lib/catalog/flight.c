#include "lib/catalog/flight.h"

#include <time.h>

#include "lib/base/clock.h"
#include "lib/base/log.h"
#include "lib/base/test_pause.h"
#include "lib/catalog/l2.h"
#include "lib/catalog/source.h"
#include "lib/catalog/xfetch.h"
#include "lib/metrics/metrics.h"

enum {
    REST_MS = 500,     /* shortest backoff after a server did not answer, */
    REST_TIMES = 3,    /* and its length in multiples of the wait, which blocks other requests */
    ROUNDS = 3,        /* how often at most a flight computes, when overtaken */
    MARGIN_MS = 2000,  /* postgres_query() may take a second longer than the statement */
    UNKNOWN_MAX = 100, /* queries for unknown ids, per second and process */
    PAUSE_MS = 2,
    PAUSE_LONGEST_MS = 20,
    US = 1000,
};

/** A flight: one attempt to bring an object up to date. */
struct flight {
    struct search *search;
    bool early;
    bool asks;  /* may query PostgreSQL if that is due */
    bool in_l2; /* registered there: `token` has to be released */
    int64_t generation;
    char token[L2_TOKEN_TEXT + 1];
};

static int64_t good_ms(const struct settings *settings, bool exists)
{
    return exists ? settings->catalog_l2_ttl_ms : settings->catalog_negative_ttl_ms;
}

static int64_t stale_ms(const struct settings *settings, bool exists)
{
    return exists ? settings->catalog_stale_seconds * 1000 : 0;
}

void flight_look(struct search *search, bool with_text)
{
    struct catalog *catalog = search->catalog;

    search->has_kept =
        l1_read(catalog->l1, &search->key, with_text ? search->arena : NULL, &search->kept);
    search->has_text = search->has_kept && (with_text || !search->kept.exists);
    search->is_old =
        search->has_kept && invalidation_feed_outdates(catalog->feed, &search->key, &search->kept);
}

bool flight_pause(struct search *search, int tries)
{
    int64_t left = search->wait_until_ms - clock_monotonic_ms();
    int64_t pause = (int64_t)PAUSE_MS << (tries < 4 ? tries : 4);

    if (!search->waited) {
        search->waited = true;
        metrics_add(METRIC_CATALOG_WAITS, 1);
    }
    if (left <= 0) {
        metrics_add(METRIC_CATALOG_WAITS_IN_VAIN, 1);
        return false;
    }
    pause = pause < PAUSE_LONGEST_MS ? pause : PAUSE_LONGEST_MS;
    pause = pause < left ? pause : left;
    const struct timespec time = {.tv_nsec = pause * 1000000};
    (void)nanosleep(&time, NULL);
    return true;
}

static bool is_backing_off(int64_t until)
{
    return clock_monotonic_ms() < until;
}

static int64_t backoff_after(int64_t waited_us)
{
    int64_t rest = waited_us / US * REST_TIMES;

    return clock_monotonic_ms() + (rest > REST_MS ? rest : REST_MS);
}

/* A PostgreSQL that hangs may block only one process of the host at a time, not one per object. One
 * that only refuses is still queried for objects of which there is no copy. */
static bool may_query_postgres(const struct search *search)
{
    const struct catalog *catalog = search->catalog;

    if (is_backing_off(catalog->postgres_backoff_until)) {
        return !catalog->postgres_failed && !search->has_kept;
    }
    return !catalog->postgres_failed || host_lock_try(l1_locks(catalog->l1), STR("postgres"));
}

/* Stores the entry in L1, with its expiry there. */
static void keep(struct search *search, struct catalog_entry *entry)
{
    const struct settings *settings = search->catalog->settings;
    int64_t now = clock_monotonic_us();
    int64_t ttl = entry->exists ? settings->catalog_l1_ttl_ms : settings->catalog_negative_ttl_ms;

    entry->l1_until = now + ttl * US < entry->l2_until ? now + ttl * US : entry->l2_until;
    (void)l1_write(search->catalog->l1, &search->key, entry, now);
}

static bool may_query_unknown(struct search *search)
{
    struct catalog *catalog = search->catalog;
    int64_t second = clock_monotonic_ms() / 1000;

    if (search->has_kept || search->reserve.stamp != 0) {
        return true;
    }
    catalog->unknown_ids = second == catalog->unknown_second ? catalog->unknown_ids : 0;
    catalog->unknown_second = second;
    return catalog->unknown_ids < UNKNOWN_MAX;
}

static enum catalog_outcome query_postgres(struct flight *flight, struct catalog_entry *entry)
{
    struct search *search = flight->search;
    struct catalog *catalog = search->catalog;
    const struct settings *settings = catalog->settings;
    bool server_answers = false;

    test_pause("catalog.computing");
    enum catalog_outcome outcome = catalog_source_read(
        catalog->postgres, search->arena, search->kind, search->id, entry, &server_answers);
    metrics_add(flight->early ? METRIC_CATALOG_EARLY : METRIC_CATALOG_LATE, 1);
    metrics_observe_us(HISTOGRAM_CATALOG_RECOMPUTE, entry->l2_cost);
    test_pause("catalog.computed");
    catalog->postgres_failed = !server_answers;
    if (outcome == CATALOG_UNAVAILABLE) {
        catalog->postgres_backoff_until = server_answers
                                              ? clock_monotonic_ms() + entry->l2_cost / US
                                              : backoff_after(entry->l2_cost);
        return outcome;
    }
    catalog->unknown_ids += outcome == CATALOG_NONE ? 1 : 0;
    entry->generation = flight->generation;
    entry->l2_until = clock_monotonic_us() + good_ms(settings, entry->exists) * US;
    entry->stale_until = entry->l2_until + stale_ms(settings, entry->exists) * US;
    return outcome;
}

/* True if the flight is over: stored, or another's by now. When overtaken it computes again, up
 * to ROUNDS times; its last result is newer than the previous object and serves this reader
 * only. */
static bool bring_to_l2(struct flight *flight, struct catalog_entry *entry, bool may_continue)
{
    struct search *search = flight->search;
    const struct settings *settings = search->catalog->settings;
    struct catalog_entry brought = *entry;

    if (!flight->in_l2) {
        return true;
    }
    enum l2_filled filled =
        l2_fill(search->catalog->redis, search->arena, &search->key, flight->token, may_continue,
                good_ms(settings, entry->exists), stale_ms(settings, entry->exists), &brought);
    if (filled == L2_OVERTAKEN && may_continue) {
        flight->generation = brought.generation;
        return false;
    }
    flight->in_l2 = false;
    if (filled == L2_STORED) {
        *entry = brought;
    }
    return true;
}

static enum flight_end compute(struct flight *flight, struct catalog_entry *entry)
{
    struct search *search = flight->search;
    bool asks = flight->asks && may_query_unknown(search);
    bool done = false;

    for (int round = 1; asks && !done; round++) {
        asks = query_postgres(flight, entry) != CATALOG_UNAVAILABLE;
        done = asks && bring_to_l2(flight, entry, round < ROUNDS);
    }
    if (!done) {
        if (flight->in_l2) {
            l2_release(search->catalog->redis, search->arena, &search->key, flight->token);
        }
        return FLIGHT_NOTHING;
    }
    keep(search, entry);
    metrics_add(METRIC_CATALOG_POSTGRES, 1);
    return FLIGHT_DONE;
}

/* Finds the text of L2's answer: received with it, or known already. */
static bool complete(struct search *search, const struct l2_answer *answer,
                     struct catalog_entry *entry)
{
    *entry = answer->entry;
    if (answer->has_text || !entry->exists) {
        return true;
    }
    if (search->has_kept && search->kept.stamp == entry->stamp) {
        if (!search->has_text) {
            flight_look(search, true);
        }
        if (search->has_text && search->kept.stamp == entry->stamp) {
            entry->text = search->kept.text;
            return true;
        }
    }
    entry->text = search->reserve.text;
    return search->reserve.stamp == entry->stamp;
}

static void query_l2(struct flight *flight, bool alone, struct l2_answer *answer)
{
    struct search *search = flight->search;
    struct catalog *catalog = search->catalog;
    const struct l2_question question = {
        .key = &search->key,
        .token = flight->token,
        .dead_host = alone ? l1_host(catalog->l1) : "",
        .lock_us = (catalog->settings->statement_timeout_ms + MARGIN_MS) * US,
        .draw = search->draw,
        .known = search->reserve.stamp != 0 ? search->reserve.stamp
                 : search->has_kept         ? search->kept.stamp
                                            : 0,
        .fly = flight->asks,
    };

    int64_t asked_at = clock_monotonic_us();

    *answer = (struct l2_answer){.state = L2_SILENT};
    if (is_backing_off(catalog->redis_backoff_until)) {
        return;
    }
    l2_read(catalog->redis, search->arena, &question, answer);
    if (answer->state == L2_SILENT) {
        catalog->redis_backoff_until = backoff_after(clock_monotonic_us() - asked_at);
    }
}

/* Stores a valid object of L2 in L1. */
static enum flight_end adopt(struct search *search, struct catalog_entry *entry)
{
    keep(search, entry);
    metrics_add(METRIC_CATALOG_L2, 1);
    metrics_add(METRIC_CATALOG_NEGATIVE, entry->exists ? 0 : 1);
    return FLIGHT_DONE;
}

static enum flight_end go(struct flight *flight, bool alone, struct catalog_entry *entry)
{
    struct search *search = flight->search;
    struct l2_answer answer;

    for (int tries = 0;; tries++) {
        query_l2(flight, alone, &answer);
        if (answer.state == L2_SILENT) {
            return compute(flight, entry);
        }
        bool whole = answer.state != L2_NONE && complete(search, &answer, entry);
        if (whole) {
            search->reserve = *entry;
        }
        flight->in_l2 = answer.flight == L2_FLIGHT_MINE;
        flight->generation = answer.entry.generation;
        flight->early = answer.state == L2_DUE && !answer.has_run_out;
        if (flight->in_l2) {
            return compute(flight, entry);
        }
        if (whole && (answer.state == L2_GOOD || flight->early)) {
            return adopt(search, entry);
        }
        if (answer.flight == L2_FLIGHT_NO && answer.state != L2_GOOD) {
            return FLIGHT_NOTHING;
        }
        if (whole && answer.state == L2_DUE) {
            return FLIGHT_STALE;
        }
        if (!flight_pause(search, tries)) {
            return alone ? compute(flight, entry) : FLIGHT_NOTHING;
        }
    }
}

enum flight_end flight_go(struct search *search, bool alone, struct catalog_entry *entry)
{
    struct catalog *catalog = search->catalog;
    bool had_failed = catalog->postgres_failed;
    struct flight flight = {.search = search, .asks = may_query_postgres(search)};

    l2_token(flight.token, l1_host(catalog->l1));
    enum flight_end end = go(&flight, alone, entry);
    if (had_failed && flight.asks) {
        host_lock_leave(l1_locks(catalog->l1), STR("postgres"));
    }
    return end;
}
