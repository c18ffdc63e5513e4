#include "fcgi-app/order/known_events.h"

#include <stdbool.h>
#include <string.h>

#include "lib/base/clock.h"
#include "lib/base/identifier.h"

enum {
    EVENTS_MAX = 64,
    NAME_BYTES = 4 * COUPON_EVENT_NAME_MAX,
    FRESH_MS = 1000,
    STALE_MS = 60000,
    /* Made-up events must not become a flood of questions to PostgreSQL. */
    STRANGERS_PER_SECOND = 20
};

static struct remembered {
    char id[SLUG_MAX + 1]; /* "": free */
    char name[NAME_BYTES + 1];
    char queue[SLUG_MAX + 1];
    enum captcha_kind captcha;
    int64_t opens_ms;
    int64_t ends_ms;
    int64_t ahead_ms; /* of PostgreSQL's clock before the monotonic one */
    int64_t behind;
    bool exists;
    int64_t at_ms;
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

static struct remembered *recall(struct str id)
{
    for (size_t i = 0; i < EVENTS_MAX; i++) {
        if (events[i].id[0] != '\0' && str_equal(str_of(events[i].id), id)) {
            return &events[i];
        }
    }
    return NULL;
}

/* The slot that was looked up longest ago; one of an event that is not there before one that is. */
static struct remembered *slot_to_fill(void)
{
    struct remembered *best = &events[0];

    for (size_t i = 0; i < EVENTS_MAX; i++) {
        struct remembered *it = &events[i];
        if (it->id[0] == '\0') {
            return it;
        }
        if (it->exists == best->exists ? it->at_ms < best->at_ms : best->exists) {
            best = it;
        }
    }
    return best;
}

static bool may_ask_about_stranger(enum known_event_asker asker, int64_t now_ms)
{
    static struct {
        int64_t second;
        int asked;
    } budgets[ASKED_BY_ANYBODY + 1];
    int64_t now = now_ms / 1000;

    budgets[asker].asked = now == budgets[asker].second ? budgets[asker].asked + 1 : 1;
    budgets[asker].second = now;
    return budgets[asker].asked <= STRANGERS_PER_SECOND;
}

static enum coupon_outcome tell(const struct remembered *it, int64_t now_ms,
                                struct known_event *event)
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

enum coupon_outcome known_event_find(const struct services *services, struct arena *arena,
                                     enum known_event_asker asker, struct str id,
                                     struct known_event *event)
{
    int64_t now = clock_monotonic_ms();
    struct remembered *it = recall(id);
    struct coupon_event found;

    if (it != NULL && now - it->at_ms < FRESH_MS) {
        return tell(it, now, event);
    }
    if ((it == NULL || !it->exists) && !may_ask_about_stranger(asker, now)) {
        return COUPON_UNAVAILABLE;
    }
    enum coupon_outcome outcome = coupon_event_find(services->postgres, arena, id, false, &found);
    if (outcome != COUPON_FOUND && outcome != COUPON_NO_SUCH) {
        return it != NULL && now - it->at_ms < STALE_MS ? tell(it, now, event) : COUPON_UNAVAILABLE;
    }
    it = it != NULL ? it : slot_to_fill();
    str_copy(id, it->id, sizeof(it->id));
    str_copy(found.name, it->name, sizeof(it->name));
    str_copy(found.queue, it->queue, sizeof(it->queue));
    it->opens_ms = found.opens_ms;
    it->ends_ms = found.ends_ms;
    it->captcha = captcha_of(found.captcha);
    it->exists = outcome == COUPON_FOUND;
    it->at_ms = now;
    it->ahead_ms = found.now_ms - now;
    it->behind = 0;
    return tell(it, now, event);
}

void known_event_issued(struct str id, int64_t number)
{
    struct remembered *it = recall(id);

    if (it != NULL) {
        it->behind = number;
    }
}

void known_event_forget(struct str id)
{
    struct remembered *it = recall(id);

    if (it != NULL) {
        memset(it, 0, sizeof(*it));
    }
}
