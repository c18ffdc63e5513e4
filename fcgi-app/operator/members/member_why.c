#include "fcgi-app/operator/members/member_why.h"

#include <inttypes.h>
#include <string.h>

#include "fcgi-app/operator/queues/stats_answer.h"
#include "lib/admission/queues/queue_settings.h"
#include "lib/base/clock.h"
#include "lib/database/queues/queue_store.h"

/** The state of the queue. */
struct situation {
    struct arena *arena;
    const struct member_place *place;
    struct queue_stats stats;
    bool has_stats;
    json_object *settings; /* complete; NULL if PostgreSQL does not answer */
};

static double number_of(const struct situation *s, const char *name)
{
    return json_object_get_double(json_object_object_get(s->settings, name));
}

static const char *text_of(const struct situation *s, const char *name)
{
    const char *text = json_object_get_string(json_object_object_get(s->settings, name));

    return text == NULL ? "" : text;
}

static const char *seconds_until(const struct situation *s, int64_t at_ms)
{
    int64_t left = at_ms > s->place->now_ms ? at_ms - s->place->now_ms : 0;

    return arena_format(s->arena, "%" PRId64 " s", (left + 999) / 1000);
}

static bool state_is(const struct situation *s, const char *state)
{
    return str_equal(s->place->queue_state, str_of(state));
}

/** Why the queue as a whole admits no one; NULL: it does. */
static const char *why_no_admissions(const struct situation *s)
{
    if (s->settings != NULL && strcmp(text_of(s, "activation"), "hold") == 0) {
        return "nobody is admitted: the gate is on hold";
    }
    if (state_is(s, "PRE_OPEN")) {
        const char *opens = s->settings == NULL ? "" : text_of(s, "opensAt");
        return arena_format(s->arena, "nobody is admitted: the queue is not open yet%s%s",
                            opens[0] == '\0' ? "" : ", it opens at ", opens);
    }
    if (state_is(s, "PAUSED")) {
        return "nobody is admitted: an operator has paused the queue";
    }
    if (state_is(s, "SOLD_OUT")) {
        return "nobody is admitted: it is sold out";
    }
    if (state_is(s, "CLOSED")) {
        return "nobody is admitted: the queue is closed";
    }
    if (!s->has_stats) {
        return NULL;
    }
    if (s->stats.recovering_until_ms > s->place->now_ms) {
        return arena_format(
            s->arena,
            "nobody is admitted: the queue recovers after Redis lost its memory, for "
            "another %s",
            seconds_until(s, s->stats.recovering_until_ms));
    }
    if (s->stats.frozen) {
        return "nobody is admitted: nothing can be bought at the moment";
    }
    return s->stats.leader.n > 0 ? NULL : "nobody is admitted: no scheduler leads the queue";
}

/** The queue moves: what the member at this place waits for. */
static const char *why_later(const struct situation *s)
{
    int64_t taken = s->stats.ready + s->stats.claimed + s->stats.unpaid;
    double places = s->settings == NULL ? 0 : number_of(s, "maxActive");
    double pace = (double)s->stats.admitted_milli / 1000;

    if (!s->has_stats) {
        return "how fast it goes is not known";
    }
    if (s->settings != NULL && number_of(s, "ratePerSecond") <= 0) {
        return "nobody is admitted: the rate is 0";
    }
    if (s->settings != NULL && (double)taken >= places) {
        return arena_format(s->arena,
                            "every place is taken (%" PRId64
                            " of %.0f): the next one comes in when "
                            "somebody is done",
                            taken, places);
    }
    if (pace <= 0 && s->settings != NULL) {
        pace = number_of(s, "ratePerSecond");
    }
    if (pace <= 0) {
        return "nobody is admitted: the rate is 0";
    }
    return arena_format(s->arena,
                        "about %.1f a second are admitted, so it takes about %.0f s from now", pace,
                        (double)(s->place->rank + 1) / pace);
}

static const char *of_waiting(const struct situation *s)
{
    const char *still = why_no_admissions(s);
    const char *before =
        s->place->rank < 0
            ? "Takes part in a draw that is not held yet"
            : arena_format(s->arena, "Waits with %" PRId64 " before", s->place->rank);

    if (still == NULL && s->place->rank < 0) {
        return arena_format(s->arena, "%s.", before);
    }
    return arena_format(s->arena, "%s; %s.", before, still != NULL ? still : why_later(s));
}

static const char *of_ready(const struct situation *s)
{
    const char *until = seconds_until(s, s->place->ends_ms);

    if (s->place->has_seen_token) {
        return arena_format(s->arena, "Was admitted and knows it; the turn is good for another %s.",
                            until);
    }
    if (s->settings == NULL) {
        return "Was admitted and has not been seen since.";
    }
    return arena_format(s->arena,
                        "Was admitted and has not been seen since: after %.0f s without a sign the "
                        "place is withdrawn, and the number kept.",
                        number_of(s, "pickupSeconds"));
}

static const char *explain_unknown(const struct situation *s)
{
    if (s->place->unpaid_order.n > 0) {
        return arena_format(s->arena,
                            "Has ordered (%.*s), and keeps the place until it is paid or its time "
                            "is over.",
                            STR_ARG(s->place->unpaid_order));
    }
    return "Is not in the queue: never entered it, has left, was evicted, let the turn run out, or "
           "has ordered already.";
}

static const char *sentence(const struct situation *s)
{
    struct str kind = s->place->kind;

    if (str_equal(kind, STR("WAITING"))) {
        return of_waiting(s);
    }
    if (str_equal(kind, STR("READY"))) {
        return of_ready(s);
    }
    if (str_equal(kind, STR("CLAIMED"))) {
        return "Is ordering at this moment: the place ends with that order, or comes back.";
    }
    if (str_equal(kind, STR("AWAY"))) {
        return arena_format(
            s->arena,
            "Was admitted and did not come to take the turn. The number is kept for "
            "another %s: whoever comes back stands at it, before all later ones.",
            seconds_until(s, s->place->ends_ms));
    }
    return explain_unknown(s);
}

const char *member_why(const struct services *services, const struct request *request,
                       struct str queue, const struct member_place *place)
{
    struct situation s = {.arena = request->arena, .place = place};
    struct queue_row row;
    bool found = false;

    s.has_stats = stats_ask(services, request, queue, 0, &s.stats) == OUTCOME_OK;
    if (queue_store_get(services->postgres, request->arena, queue, &found, &row) == POSTGRES_OK &&
        found) {
        s.settings = json_object_new_object();
        queue_settings_show(row.settings, s.settings);
    }
    const char *why = sentence(&s);
    (void)json_object_put(s.settings);
    return why;
}
