#include "lib/catalog/news.h"

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

struct news {
    struct redis_subscription *subscription;
    struct change changes[CHANGES_MAX]; /* the latest, one an object */
    size_t count;
    size_t next;      /* which is given up when one more comes */
    int64_t all_from; /* whatever was asked before may be old */
};

struct news *news_new(const struct settings *settings)
{
    struct news *news = calloc(1, sizeof(*news));

    if (news == NULL) {
        abort();
    }
    news->subscription = redis_subscription_new(settings, L2_CHANNEL);
    return news;
}

void news_free(struct news *news)
{
    if (news != NULL) {
        redis_subscription_free(news->subscription);
        free(news);
    }
}

static const struct change *change_of(const struct news *news, struct str name)
{
    for (size_t i = 0; i < news->count; i++) {
        if (str_equal(str_of(news->changes[i].key.text), name)) {
            return &news->changes[i];
        }
    }
    return NULL;
}

/* What is given up is remembered for all: rather one look too many. */
static struct change *change_to_fill(struct news *news, struct str name)
{
    const struct change *known = change_of(news, name);

    if (known != NULL) {
        return &news->changes[known - news->changes];
    }
    if (news->count < CHANGES_MAX) {
        return &news->changes[news->count++];
    }
    struct change *oldest = &news->changes[news->next];
    news->next = (news->next + 1) % CHANGES_MAX;
    if (oldest->heard_at > news->all_from) {
        news->all_from = oldest->heard_at;
    }
    return oldest;
}

void news_hear(struct news *news, struct str message, int64_t now_us)
{
    struct str name;
    struct str number;
    int64_t generation = 0;

    if (!str_split(message, ' ', &name, &number) || name.n == 0 || name.n > CATALOG_KEY_TEXT ||
        !str_to_int64(number, 1, INT64_MAX, &generation)) {
        return;
    }
    struct change *change = change_to_fill(news, name);
    str_copy(name, change->key.text, sizeof(change->key.text));
    change->generation = generation;
    change->heard_at = now_us;
}

void news_begin(struct news *news, int64_t now_us)
{
    news->all_from = now_us;
}

static void heard(void *context, enum subscription_event event, struct str text)
{
    if (event == SUBSCRIPTION_BEGUN) {
        news_begin(context, clock_monotonic_us());
    } else {
        metrics_add(METRIC_CATALOG_HEARD, 1);
        news_hear(context, text, clock_monotonic_us());
    }
}

bool news_drain(struct news *news)
{
    return redis_subscription_drain(news->subscription, clock_monotonic_ms(), heard, news);
}

bool news_make_old(const struct news *news, const struct catalog_key *key,
                   const struct catalog_entry *entry)
{
    const struct change *change = change_of(news, str_of(key->text));

    if (entry->started <= news->all_from) {
        return true;
    }
    /* Asked after it was heard of, or of that generation: either is enough. */
    return change != NULL && entry->started <= change->heard_at &&
           entry->generation < change->generation;
}
