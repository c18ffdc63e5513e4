#include "fcgi-app/order/coupons/coupon_event_cache.h"

#include <stdbool.h>
#include <string.h>

#include "lib/base/clock.h"
#include "lib/base/identifier.h"

enum {
    EVENTS_MAX = 64,
    NAME_BYTES = 4 * COUPON_EVENT_NAME_MAX,
    FRESH_MS = 1000,
    STALE_MS = 60000,
    /* Made-up events must not cause a flood of queries to PostgreSQL. */
    UNKNOWN_PER_SECOND = 20,
    /* Nor must made-up tokens. */
    AGAIN_PER_SECOND = 20,
    AGAIN_MS = 50
};

static struct entry {
    char id[SLUG_MAX + 1]; /* "": free */
    char name[NAME_BYTES + 1];
    char queue[SLUG_MAX + 1];
    enum captcha_kind captcha;
    int64_t opens_ms;
    int64_t ends_ms;
    int64_t ahead_ms; /* PostgreSQL's clock minus the monotonic one */
    int64_t behind;
    bool exists;
    int64_t at_ms;
    int64_t again_ms; /* last query because of a refused token */
} events[EVENTS_MAX];

static const char *const CAPTCHA_WORDS[] = {
    [CAPTCHA_NONE] = "none", [CAPTCHA_ALTCHA] = "altcha", [CAPTCHA_SITEVERIFY] = "siteverify"};

static enum captcha_kind captcha_of(struct str word)
{
    if (str_equal(word, str_of(CAPTCHA_WORDS[CAPTCHA_NONE]))) {
        return CAPTCHA_NONE;
    }
    return str_equal(word, str_of(CAPTCHA_WORDS[CAPTCHA_SITEVERIFY])) ? CAPTCHA_SITEVERIFY
                                                                      : CAPTCHA_ALTCHA;
}

static struct entry *find(struct str id)
{
    for (size_t i = 0; i < EVENTS_MAX; i++) {
        if (events[i].id[0] != '\0' && str_equal(str_of(events[i].id), id)) {
            return &events[i];
        }
    }
    return NULL;
}

/* The slot read longest ago, preferring one of an event that does not exist. */
static struct entry *slot_to_replace(void)
{
    struct entry *best = &events[0];

    for (size_t i = 0; i < EVENTS_MAX; i++) {
        struct entry *it = &events[i];
        if (it->id[0] == '\0') {
            return it;
        }
        if (it->exists == best->exists ? it->at_ms < best->at_ms : best->exists) {
            best = it;
        }
    }
    return best;
}

/** How many queries were made in the current second. */
struct budget {
    int64_t second;
    int asked;
};

static bool spend(struct budget *budget, int64_t now_ms, int most)
{
    int64_t now = now_ms / 1000;

    budget->asked = now == budget->second ? budget->asked + 1 : 1;
    budget->second = now;
    return budget->asked <= most;
}

/* An event that was unknown within the last second has a budget of its own: a crowd that asks for
 * one before its creation must not hide others from this worker. */
static bool may_look_up_unknown(enum coupon_event_asker asker, bool again, int64_t now_ms)
{
    static struct budget first[ASKED_BY_ANYBODY + 1];
    static struct budget repeated[ASKED_BY_ANYBODY + 1];

    return spend(again ? &repeated[asker] : &first[asker], now_ms, UNKNOWN_PER_SECOND);
}

static bool may_look_again(const struct entry *it, int64_t now_ms)
{
    static struct budget budget;

    return spend(&budget, now_ms, AGAIN_PER_SECOND) || now_ms - it->again_ms >= AGAIN_MS;
}

static enum coupon_outcome copy_out(const struct entry *it, int64_t now_ms,
                                    struct cached_coupon_event *event)
{
    event->name = str_of(it->name);
    event->queue = str_of(it->queue);
    event->captcha_word = str_of(CAPTCHA_WORDS[it->captcha]);
    event->captcha = it->captcha;
    event->opens_ms = it->opens_ms;
    event->ends_ms = it->ends_ms;
    event->now_ms = now_ms + it->ahead_ms;
    event->behind = it->behind;
    return it->exists ? COUPON_FOUND : COUPON_NO_SUCH;
}

static struct entry *store(struct entry *it, struct str id, const struct coupon_event *found,
                           bool exists, int64_t now_ms)
{
    it = it != NULL ? it : slot_to_replace();
    str_copy(id, it->id, sizeof(it->id));
    str_copy(found->name, it->name, sizeof(it->name));
    str_copy(found->queue, it->queue, sizeof(it->queue));
    it->opens_ms = found->opens_ms;
    it->ends_ms = found->ends_ms;
    it->captcha = captcha_of(found->captcha);
    it->exists = exists;
    it->at_ms = now_ms;
    it->ahead_ms = found->now_ms - now_ms;
    it->behind = 0;
    return it;
}

enum coupon_outcome coupon_event_cache_find(const struct services *services, struct arena *arena,
                                            enum coupon_event_asker asker, struct str id,
                                            struct cached_coupon_event *event)
{
    int64_t now = clock_monotonic_ms();
    struct entry *it = find(id);
    struct coupon_event found;
    bool exists = it != NULL && it->exists;
    bool fresh = it != NULL && now - it->at_ms < FRESH_MS;

    if (exists && fresh) {
        return copy_out(it, now, event);
    }
    if (!exists && !may_look_up_unknown(asker, fresh, now)) {
        return fresh ? COUPON_NO_SUCH : COUPON_UNAVAILABLE;
    }
    enum coupon_outcome outcome = coupon_event_find(services->postgres, arena, id, false, &found);
    if (outcome != COUPON_FOUND && outcome != COUPON_NO_SUCH) {
        return exists && now - it->at_ms < STALE_MS ? copy_out(it, now, event) : COUPON_UNAVAILABLE;
    }
    return copy_out(store(it, id, &found, outcome == COUPON_FOUND, now), now, event);
}

bool coupon_event_cache_moved(const struct services *services, struct arena *arena, struct str id,
                              struct cached_coupon_event *event)
{
    int64_t now = clock_monotonic_ms();
    struct entry *it = find(id);
    struct coupon_event found;

    if (it == NULL || !may_look_again(it, now)) {
        return false;
    }
    it->again_ms = now;
    if (coupon_event_find(services->postgres, arena, id, false, &found) != COUPON_FOUND ||
        str_equal(found.queue, event->queue)) {
        return false;
    }
    return copy_out(store(it, id, &found, true, now), now, event) == COUPON_FOUND;
}

void coupon_event_cache_note_issued(struct str id, int64_t number)
{
    struct entry *it = find(id);

    if (it != NULL) {
        it->behind = number;
    }
}

void coupon_event_cache_forget(struct str id)
{
    struct entry *it = find(id);

    if (it != NULL) {
        memset(it, 0, sizeof(*it));
    }
}
