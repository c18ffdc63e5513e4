#include "fcgi-app/order/known_events.h"

#include <stdbool.h>
#include <string.h>

#include "lib/base/clock.h"
#include "lib/base/identifier.h"

enum {
    EVENTS_MAX = 64,
    FRESH_MS = 1000,
    STALE_MS = 60000,
    /* Made-up events must not become a flood of questions to PostgreSQL. */
    STRANGERS_PER_SECOND = 20
};

static struct remembered {
    char id[SLUG_MAX + 1]; /* "": free */
    char queue[SLUG_MAX + 1];
    enum captcha_kind captcha;
    bool exists;
    int64_t at_ms;
} events[EVENTS_MAX];

static enum captcha_kind captcha_of(struct str word)
{
    if (str_equal(word, STR("none"))) {
        return CAPTCHA_NONE;
    }
    return str_equal(word, STR("siteverify")) ? CAPTCHA_SITEVERIFY : CAPTCHA_ALTCHA;
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

static bool may_ask_about_stranger(int64_t now_ms)
{
    static int64_t second;
    static int asked;
    int64_t now = now_ms / 1000;

    asked = now == second ? asked + 1 : 1;
    second = now;
    return asked <= STRANGERS_PER_SECOND;
}

static enum coupon_outcome tell(const struct remembered *it, struct known_event *event)
{
    event->queue = str_of(it->queue);
    event->captcha = it->captcha;
    return it->exists ? COUPON_FOUND : COUPON_NO_SUCH;
}

enum coupon_outcome known_event_find(const struct services *services, struct arena *arena,
                                     struct str id, struct known_event *event)
{
    int64_t now = clock_monotonic_ms();
    struct remembered *it = recall(id);
    struct coupon_event found;

    if (it != NULL && now - it->at_ms < FRESH_MS) {
        return tell(it, event);
    }
    if ((it == NULL || !it->exists) && !may_ask_about_stranger(now)) {
        return COUPON_UNAVAILABLE;
    }
    enum coupon_outcome outcome = coupon_event_find(services->postgres, arena, id, false, &found);
    if (outcome != COUPON_FOUND && outcome != COUPON_NO_SUCH) {
        return it != NULL && now - it->at_ms < STALE_MS ? tell(it, event) : COUPON_UNAVAILABLE;
    }
    it = it != NULL ? it : slot_to_fill();
    str_copy(id, it->id, sizeof(it->id));
    str_copy(found.queue, it->queue, sizeof(it->queue));
    it->captcha = captcha_of(found.captcha);
    it->exists = outcome == COUPON_FOUND;
    it->at_ms = now;
    return tell(it, event);
}

void known_event_forget(struct str id)
{
    struct remembered *it = recall(id);

    if (it != NULL) {
        memset(it, 0, sizeof(*it));
    }
}
