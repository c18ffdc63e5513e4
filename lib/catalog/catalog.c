#include "lib/catalog/catalog.h"

#include <stdlib.h>
#include <time.h>

#include "lib/base/clock.h"
#include "lib/base/random.h"
#include "lib/catalog/flight.h"
#include "lib/catalog/xfetch.h"
#include "lib/metrics/metrics.h"

enum { DRAWS = 1 << 24, GRACE_US = 1000000, LISTEN_TRIES = 20, LISTEN_PAUSE_NS = 5000000 };

enum freshness {
    FRESHNESS_GOOD,
    FRESHNESS_DUE,    /* to be refreshed by one reader; the others may serve it */
    FRESHNESS_UNKNOWN /* missing, or known to be outdated: readers have to wait */
};

/* L1's content is usable only once we are subscribed: better now than with the first request. */
static void await_subscription(struct invalidation_feed *feed)
{
    const struct timespec pause = {.tv_nsec = LISTEN_PAUSE_NS};

    for (int i = 0; i < LISTEN_TRIES && !invalidation_feed_drain(feed); i++) {
        (void)nanosleep(&pause, NULL);
    }
}

struct catalog *catalog_open(const struct settings *settings, struct postgres *postgres)
{
    struct catalog *catalog = calloc(1, sizeof(*catalog));

    if (catalog == NULL) {
        abort();
    }
    catalog->settings = settings;
    catalog->postgres = postgres;
    catalog->redis = redis_new_unguarded(settings, settings->catalog_redis_timeout_ms);
    catalog->l1 = l1_open(settings->catalog_l1_directory, settings->catalog_l1_mib);
    catalog->feed = invalidation_feed_new(settings);
    await_subscription(catalog->feed);
    return catalog;
}

void catalog_close(struct catalog *catalog)
{
    if (catalog != NULL) {
        invalidation_feed_free(catalog->feed);
        l1_close(catalog->l1);
        redis_free(catalog->redis);
        free(catalog);
    }
}

static enum freshness freshness_of(const struct search *search)
{
    const struct catalog_entry *kept = &search->kept;
    int64_t now = clock_monotonic_us();

    if (!search->has_kept || search->is_old || now >= kept->stale_until) {
        return FRESHNESS_UNKNOWN;
    }
    if (!search->listens && now >= kept->l1_until + GRACE_US) {
        return FRESHNESS_UNKNOWN; /* long expired, and a change would have gone unnoticed */
    }
    if (now < kept->l1_until && !xfetch_due(now, kept->l1_until, kept->l1_cost, search->draw) &&
        !xfetch_due(now, kept->l2_until, kept->l2_cost, search->draw)) {
        return FRESHNESS_GOOD;
    }
    return FRESHNESS_DUE;
}

static enum catalog_outcome answer_with(const struct catalog_entry *entry,
                                        struct catalog_object *object)
{
    if (!entry->exists) {
        return CATALOG_NONE;
    }
    object->text = entry->text;
    object->version = entry->version;
    str_copy(str_of(entry->etag), object->etag, sizeof(object->etag));
    return CATALOG_FOUND;
}

/* Loads the text of L1's entry, whatever became of it. False if it has just disappeared. */
static bool show_kept(struct search *search)
{
    if (search->has_kept && !search->has_text) {
        flight_look(search, true);
    }
    return search->has_kept;
}

static enum catalog_outcome answer_from_l1(struct search *search, struct catalog_object *object)
{
    bool good = clock_monotonic_us() < search->kept.l1_until;

    metrics_add(good ? METRIC_CATALOG_L1 : METRIC_CATALOG_STALE, 1);
    metrics_add(METRIC_CATALOG_NEGATIVE, search->kept.exists ? 0 : 1);
    return answer_with(&search->kept, object);
}

/* No newer version is available: serves a copy that may still be shown, preferably L2's. */
static enum catalog_outcome answer_stale(struct search *search, struct catalog_object *object)
{
    int64_t now = clock_monotonic_us();
    const struct catalog_entry *reserve = &search->reserve;

    if (reserve->stamp != 0 && now < reserve->stale_until) {
        metrics_add(METRIC_CATALOG_STALE, 1);
        return answer_with(reserve, object);
    }
    if (show_kept(search) && now < search->kept.stale_until) {
        metrics_add(METRIC_CATALOG_STALE, 1);
        return answer_with(&search->kept, object);
    }
    metrics_add(METRIC_CATALOG_NOWHERE, 1);
    return CATALOG_UNAVAILABLE;
}

/* Whether another reader's flight has refreshed the entry since this reader last read L1. */
static bool was_refreshed(struct search *search)
{
    int64_t before = search->has_kept ? search->kept.started : -1;

    flight_look(search, false);
    if (!search->has_kept || search->kept.started == before) {
        return false;
    }
    return freshness_of(search) != FRESHNESS_UNKNOWN && show_kept(search) && !search->is_old;
}

static enum catalog_outcome refresh(struct search *search, bool alone,
                                    struct catalog_object *object)
{
    struct catalog_entry entry;

    switch (flight_go(search, alone, &entry)) {
    case FLIGHT_DONE:
        return answer_with(&entry, object);
    case FLIGHT_STALE:
        metrics_add(METRIC_CATALOG_STALE, 1);
        return answer_with(&entry, object);
    case FLIGHT_NOTHING:
    default:
        return answer_stale(search, object);
    }
}

static enum catalog_outcome bring_up_to_date(struct search *search, struct catalog_object *object)
{
    struct host_locks *locks = l1_locks(search->catalog->l1);
    struct str name = str_of(search->key.text);
    bool unknown = freshness_of(search) == FRESHNESS_UNKNOWN;

    for (int tries = 0; !host_lock_try(locks, name); tries++) {
        if (!unknown && show_kept(search)) {
            return answer_from_l1(search, object);
        }
        if (!flight_pause(search, tries)) {
            return refresh(search, false, object);
        }
        if (was_refreshed(search)) {
            return answer_from_l1(search, object);
        }
    }
    enum catalog_outcome outcome =
        was_refreshed(search) ? answer_from_l1(search, object) : refresh(search, true, object);
    host_lock_leave(locks, name);
    return outcome;
}

enum catalog_outcome catalog_get(struct catalog *catalog, struct arena *arena,
                                 enum catalog_kind kind, struct str id,
                                 struct catalog_object *object)
{
    struct search search = {
        .catalog = catalog,
        .arena = arena,
        .kind = kind,
        .id = id,
        .draw = xfetch_draw(catalog->settings->catalog_beta_percent,
                            (double)(random_below(DRAWS) + 1) / DRAWS),
        .wait_until_ms = clock_monotonic_ms() + catalog->settings->catalog_wait_ms,
    };

    *object = (struct catalog_object){.version = 0};
    if (!catalog_key_make(kind, id, &search.key)) {
        return CATALOG_NONE;
    }
    search.listens = invalidation_feed_drain(catalog->feed);
    flight_look(&search, true);
    if (freshness_of(&search) == FRESHNESS_GOOD) {
        return answer_from_l1(&search, object);
    }
    return bring_up_to_date(&search, object);
}
