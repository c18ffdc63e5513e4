#include <inttypes.h>
#include <string.h>

#include "fcgi-app/operator/queues/queue_answer.h"
#include "fcgi-app/operator/queues/stats_answer.h"
#include "fcgi-app/operator/service/checklist.h"
#include "lib/admission/line/poll_tiers.h"
#include "lib/base/clock.h"
#include "lib/store/redis.h"

/** The queue being checked. */
struct subject {
    const struct queue_row *row;
    json_object *it; /* as GET of the queue returns it */
    struct queue_stats stats;
    bool in_redis;
};

static const char *text_of(const struct subject *subject, const char *name)
{
    const char *text = json_object_get_string(json_object_object_get(subject->it, name));

    return text == NULL ? "" : text;
}

static double number_of(const struct subject *subject, const char *name)
{
    return json_object_get_double(json_object_object_get(subject->it, name));
}

static bool has_text(const struct subject *subject, const char *name, const char *text)
{
    return strcmp(text_of(subject, name), text) == 0;
}

/** Milliseconds until a time of the settings, negative if it has passed; false if it is not set. */
static bool until_time(const struct subject *subject, const char *name, int64_t *ms)
{
    int64_t at;

    if (!rfc3339_parse(str_of(text_of(subject, name)), &at)) {
        return false;
    }
    *ms = at - subject->row->now_ms;
    return true;
}

static void check_published(struct checklist *list, struct subject *subject)
{
    struct arena *arena = list->request->arena;
    enum outcome outcome =
        stats_ask(list->services, list->request, subject->row->id, 0, &subject->stats);
    const redisReply *reply = redis_call(list->services->redis, arena,
                                         queue_publication_version(arena, subject->row->id));

    subject->in_redis = outcome == OUTCOME_OK;
    if (reply == NULL || outcome == OUTCOME_ADMISSION_UNAVAILABLE) {
        check_add(list, "settings", CHECK_FAIL, "See the item redis.",
                  "It is unknown whether the settings are in force: Redis does not answer.");
    } else if (!subject->in_redis) {
        check_add(list, "settings", CHECK_FAIL,
                  "sluice-reconcile recovers it in one of its next passes: see its log.",
                  "The queue is missing in Redis.");
    } else if (queue_publication_read_version(reply) < subject->row->version) {
        check_add(list, "settings", CHECK_FAIL,
                  "sluice-reconcile publishes them with its next pass: see its log.",
                  "The last change of the settings is stored but not yet in force.");
    } else {
        check_add(list, "settings", CHECK_OK, "", "The settings are in force, version %" PRId64 ".",
                  subject->row->version);
    }
}

static void check_leader(struct checklist *list, const struct subject *subject)
{
    bool leads = subject->stats.leader.n > 0;

    if (subject->stats.frozen && !has_text(subject, "activation", "hold")) {
        check_add(list, "scheduler", CHECK_FAIL, "See the item order-pool.",
                  "No one is admitted, because orders cannot be placed.");
        return;
    }
    check_add(list, "scheduler", leads ? CHECK_OK : CHECK_FAIL,
              "Start sluice-scheduler, preferably on two hosts: no one is admitted without it.",
              leads ? "A scheduler leads." : "No scheduler leads.");
}

/* Whether members will be admitted, and from when on. */
static void check_opening(struct checklist *list, const struct subject *subject)
{
    int64_t opens = 0;
    int64_t closes = 0;
    bool has_opening = until_time(subject, "opensAt", &opens) && opens > 0;

    if (until_time(subject, "closesAt", &closes) && closes <= 0) {
        check_add(list, "opening", CHECK_FAIL, "Set closesAt to a future time, or to null.",
                  "The queue has been closed since %s.", text_of(subject, "closesAt"));
    } else if (has_text(subject, "operatorState", "PAUSED")) {
        check_add(list, "opening", CHECK_WARN,
                  "Resume it: a paused queue does not open automatically.",
                  "An operator has paused the queue.");
    } else if (has_text(subject, "operatorState", "DRAINING")) {
        check_add(list, "opening", CHECK_WARN, "Resume it to sell again.",
                  "The queue is draining: no one new may enter.");
    } else if (has_text(subject, "operatorState", "SOLD_OUT")) {
        check_add(list, "opening", CHECK_WARN, "Resume it to sell again.",
                  "An operator has marked the queue as sold out.");
    } else if (has_opening) {
        check_add(list, "opening", CHECK_OK, "", "Opens at %s, in %" PRId64 " h %" PRId64 " min.",
                  text_of(subject, "opensAt"), opens / 3600000, opens / 60000 % 60);
    } else if (has_text(subject, "mode", "lottery") && text_of(subject, "opensAt")[0] == '\0') {
        check_add(list, "opening", CHECK_FAIL, "Set opensAt: the draw is held at that time.",
                  "The draw of a lottery without opensAt is never held.");
    } else {
        check_add(list, "opening", CHECK_OK, "", "The queue is %s.", text_of(subject, "state"));
    }
}

static void check_gate(struct checklist *list, const struct subject *subject)
{
    if (has_text(subject, "activation", "hold")) {
        check_add(list, "gate", CHECK_WARN, "Set activation to on to admit visitors again.",
                  "The gate holds everyone, including visitors with a pass.");
    } else if (!has_text(subject, "activation", "on")) {
        check_add(list, "gate", CHECK_WARN, "Set activation to on before the opening.",
                  "The gate is %s: it lets everyone through.", text_of(subject, "activation"));
    } else {
        check_add(list, "gate", CHECK_OK, "", "The gate is on.");
    }
}

static void check_rate(struct checklist *list, const struct subject *subject)
{
    double rate = number_of(subject, "ratePerSecond");
    double places = number_of(subject, "maxActive");
    int64_t taken = subject->stats.ready + subject->stats.claimed + subject->stats.unpaid;

    check_add(list, "rate", rate > 0 ? CHECK_OK : CHECK_FAIL,
              "Set ratePerSecond to what the shop can handle.", "%g members a second are admitted.",
              rate);
    if (subject->in_redis && (double)taken >= places) {
        check_add(list, "places", CHECK_WARN,
                  "Wait until places become free, or raise maxActive if the shop can handle more.",
                  "All %.0f places are taken.", places);
    } else {
        check_add(list, "places", CHECK_OK, "", "%" PRId64 " of %.0f places are taken.", taken,
                  places);
    }
}

/* Whether members who poll when told to come in time: after a loss of Redis's data, and for their
 * token. */
static void check_polls(struct checklist *list, const struct subject *subject)
{
    double longest_s = (double)poll_tiers_longest_ms(str_of(text_of(subject, "pollTiers"))) / 1000;
    double recovery_s = number_of(subject, "recoverySeconds");
    double pickup_s = number_of(subject, "pickupSeconds");

    check_add(
        list, "recovery", recovery_s >= longest_s ? CHECK_OK : CHECK_WARN,
        "Raise recoverySeconds, or shorten pollTiers: members at the front who have not polled "
        "by then are overtaken.",
        "After a loss of Redis's data promotion pauses for %g s; members poll at least every "
        "%g s.",
        recovery_s, longest_s);
    check_add(
        list, "pickup", pickup_s > longest_s ? CHECK_OK : CHECK_WARN,
        "Raise pickupSeconds, or shorten pollTiers: a token may be withdrawn before its owner "
        "has polled.",
        "A token must be picked up within %g s; members poll at least every %g s.", pickup_s,
        longest_s);
}

static bool costs_something(const struct goods_row *rows, size_t count)
{
    bool costs = false;

    for (size_t i = 0; i < count; i++) {
        costs = costs || rows[i].costs;
    }
    return costs;
}

static void check_goods(struct checklist *list, const struct subject *subject)
{
    const struct services *services = list->services;
    struct goods_row *rows = NULL;
    size_t count = 0;
    int64_t total = 0;
    int64_t left = 0;

    if (goods_list(services->postgres, list->request->arena, subject->row->id, &rows, &count) !=
        POSTGRES_OK) {
        check_add(list, "stock", CHECK_WARN, "Look again.",
                  "PostgreSQL does not answer, so the stock is unknown.");
        return;
    }
    for (size_t i = 0; i < count; i++) {
        total += rows[i].total;
        left += rows[i].left;
    }
    if (count == 0) {
        bool for_visitors = has_text(subject, "identity", "visitor");
        check_add(list, "stock", for_visitors ? CHECK_OK : CHECK_WARN,
                  "Load products, coupons or seats, unless the queue only protects a site.",
                  "Nothing is sold through the queue itself.");
    } else {
        check_add(list, "stock", left > 0 ? CHECK_OK : CHECK_FAIL,
                  "Load stock, then resume the queue.",
                  "%" PRId64 " of %" PRId64 " pieces of %zu kinds are left.", left, total, count);
    }
    if (costs_something(rows, count) && strcmp(services->settings->payment_provider, "none") == 0) {
        check_add(
            list, "payment-provider", CHECK_WARN, "Set payment_provider and its key.",
            "Goods have a price, but there is no payment provider: their orders stay unpaid.");
    }
}

/* What is left of a rehearsal, and the public message. */
static void check_leftovers(struct checklist *list, const struct subject *subject)
{
    const char *message = text_of(subject, "message");
    bool is_ahead = has_text(subject, "state", "PRE_OPEN");
    int64_t inside = subject->stats.ready + subject->stats.claimed + subject->stats.unpaid;

    if (is_ahead && inside > 0) {
        check_add(list, "leftovers", CHECK_WARN,
                  "Reset the queue if they are from a rehearsal: no one can have a place before "
                  "the opening.",
                  "%" PRId64 " have a place already.", inside);
    } else {
        check_add(list, "leftovers", CHECK_OK, "", "%" PRId64 " wait, %" PRId64 " have a place.",
                  subject->stats.waiting, inside);
    }
    if (message[0] != '\0') {
        check_add(list, "message", CHECK_OK, "", "Everyone who waits sees: %s", message);
    }
}

void checklist_queue(struct checklist *list, const struct queue_row *row)
{
    struct subject subject = {.row = row, .it = queue_json(row)};

    if (list->redis_answers) {
        check_published(list, &subject);
    }
    if (subject.in_redis) {
        check_leader(list, &subject);
    }
    check_opening(list, &subject);
    check_gate(list, &subject);
    check_rate(list, &subject);
    check_polls(list, &subject);
    check_goods(list, &subject);
    if (subject.in_redis) {
        check_leftovers(list, &subject);
    }
    (void)json_object_put(subject.it);
}
