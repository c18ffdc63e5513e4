#include "lib/catalog/invalidation_feed.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/clock.h"
#include "lib/catalog/l2.h"
#include "lib/metrics/metrics.h"
#include "lib/store/redis_subscription.h"

enum { CHANGES_MAX = 256 };

struct change {
    struct catalog_key key;
    int64_t generation;
    int64_t heard_at; /* µs, monotonic */
};

struct invalidation_feed {
    struct redis_subscription *subscription;
    struct change changes[CHANGES_MAX]; /* the latest, one per object */
    size_t count;
    size_t next;      /* the one that is replaced next */
    int64_t all_from; /* entries queried before this may be outdated */
};

struct invalidation_feed *invalidation_feed_new(const struct settings *settings)
{
    struct invalidation_feed *feed = calloc(1, sizeof(*feed));

    if (feed == NULL) {
        abort();
    }
    feed->subscription = redis_subscription_new(settings, L2_CHANNEL);
    return feed;
}

void invalidation_feed_free(struct invalidation_feed *feed)
{
    if (feed != NULL) {
        redis_subscription_free(feed->subscription);
        free(feed);
    }
}

static const struct change *change_of(const struct invalidation_feed *feed, struct str name)
{
    for (size_t i = 0; i < feed->count; i++) {
        if (str_equal(str_of(feed->changes[i].key.text), name)) {
            return &feed->changes[i];
        }
    }
    return NULL;
}

/* A replaced change applies to all objects from then on, at the cost of some refreshes too many. */
static struct change *change_to_fill(struct invalidation_feed *feed, struct str name)
{
    const struct change *known = change_of(feed, name);

    if (known != NULL) {
        return &feed->changes[known - feed->changes];
    }
    if (feed->count < CHANGES_MAX) {
        return &feed->changes[feed->count++];
    }
    struct change *oldest = &feed->changes[feed->next];
    feed->next = (feed->next + 1) % CHANGES_MAX;
    if (oldest->heard_at > feed->all_from) {
        feed->all_from = oldest->heard_at;
    }
    return oldest;
}

void invalidation_feed_note(struct invalidation_feed *feed, struct str message, int64_t now_us)
{
    struct str name;
    struct str number;
    int64_t generation = 0;

    if (!str_split(message, ' ', &name, &number) || name.n == 0 || name.n > CATALOG_KEY_TEXT ||
        !str_to_int64(number, 1, INT64_MAX, &generation)) {
        return;
    }
    struct change *change = change_to_fill(feed, name);
    str_copy(name, change->key.text, sizeof(change->key.text));
    change->generation = generation;
    change->heard_at = now_us;
}

void invalidation_feed_reset(struct invalidation_feed *feed, int64_t now_us)
{
    feed->all_from = now_us;
}

static void on_event(void *context, enum subscription_event event, struct str text)
{
    if (event == SUBSCRIPTION_BEGUN) {
        invalidation_feed_reset(context, clock_monotonic_us());
    } else {
        metrics_add(METRIC_CATALOG_HEARD, 1);
        invalidation_feed_note(context, text, clock_monotonic_us());
    }
}

bool invalidation_feed_drain(struct invalidation_feed *feed)
{
    return redis_subscription_drain(feed->subscription, clock_monotonic_ms(), on_event, feed);
}

bool invalidation_feed_outdates(const struct invalidation_feed *feed, const struct catalog_key *key,
                                const struct catalog_entry *entry)
{
    const struct change *change = change_of(feed, str_of(key->text));

    if (entry->started <= feed->all_from) {
        return true;
    }
    /* Queried after the change was received, or of its generation: either suffices. */
    return change != NULL && entry->started <= change->heard_at &&
           entry->generation < change->generation;
}
