#include "lib/admission/autopilot/autopilot.h"

#include <math.h>

enum {
    GAP_MS = 10000,          /* after a longer gap between steps, earlier observations are void */
    SETTLE_MS = 3000,        /* no growth for this long after a cut */
    EPISODE_MS = 10000,      /* cuts within it belong to one breach */
    BREACH_KEPT_MS = 180000, /* how long the rate of a breach is approached with care */
    SILENCE_MS = 3000,       /* orders running this long with none ending count as timed out */
    CUTS_APART_MS = 900      /* at most one cut per step */
};

/* Weights below which there are too few data to decide. */
static const double FEW_ANSWERS = 2;
static const double FEW_DROPS = 1.5;

static const double CUT_WORST = 0.5;
static const double CUT_DROPS = 0.75;
static const double CUT_LATENCY = 0.75;
static const double MANY_DROPPED = 0.2;
static const double CUT_LEAST = 0.6;     /* of the answered rate: no cut goes below */
static const double EVIDENCE_LEFT = 0.3; /* weight kept of the latencies that led to a cut */

static const double GROWTH = 0.10;         /* per second, far from any limit */
static const double GROWTH_CAREFUL = 0.02; /* near the last breach */
static const double GROWTH_BLIND = 0.05;   /* back to the operator's own rate */
static const double GROWTH_LEAST = 0.1;    /* members per second */
static const double GROWTH_A_VISIT = 0.3;  /* during the time from admission to order */
static const double VISIT_LONGEST_S = 60;
static const double NEAR_BREACH = 0.9;
static const double GROW_BELOW = 0.8;   /* of the level */
static const double USED = 0.7;         /* of the rate: from here on it is used up */
static const double RISING = 2;         /* times the usual latency */
static const double RISING_FROM = 0.25; /* of the level: a rise below it does not matter */

static const double NO_SHOWS_MOST = 0.5;
static const double NO_SHOWS_FROM = 20; /* members decided recently */
static const double SMALLEST_MOVE = 0.01;

static const char *const WORDS[AUTOPILOT_REASONS] = {
#define REASON(name, word, description) word,
#include "lib/admission/autopilot/autopilot_reasons.tbl"
#undef REASON
};

/* The evaluation of one step. */
struct assessment {
    const struct autopilot_goal *goal;
    const struct autopilot_look *look;
    struct autopilot_memory *memory;
    double seconds;  /* since the last step */
    double pressure; /* the worse P95 in relation to its level; -1: unknown */
    double dropped;
    bool timeouts; /* most of the drops are timeouts, not errors */
};

const char *autopilot_word(enum autopilot_reason reason)
{
    return WORDS[reason];
}

static double clamp(double value, double least, double most)
{
    return fmax(least, fmin(value, most));
}

/* Exponential smoothing of `old` towards `now` with a time constant of `seconds`. */
static double follow(double old, double now, double elapsed, double seconds)
{
    return old + (1 - exp(-elapsed / seconds)) * (now - old);
}

static void take_snapshot(const struct autopilot_look *look, struct autopilot_memory *memory)
{
    memory->at_ms = look->now_ms;
    memory->orders = look->orders;
    memory->origin = look->origin;
    memory->admitted = look->admitted;
    memory->withdrawn = look->withdrawn;
    memory->decided = look->admitted > look->unseen ? look->admitted - look->unseen : 0;
}

static void forget_load(struct autopilot_memory *memory)
{
    memory->order_view = memory->origin_view = (struct load_view){0};
    memory->admitted_per_second = memory->answered_per_second = 0;
    memory->decided_view = memory->withdrawn_view = 0;
    memory->usual_ms = 0;
    memory->silent_ms = 0;
}

static void follow_no_shows(const struct autopilot_look *look, struct autopilot_memory *memory,
                            double seconds)
{
    double kept = exp(-seconds / 60);
    double decided = (double)(look->admitted - look->unseen - memory->decided);
    double withdrawn = (double)(look->withdrawn - memory->withdrawn);

    memory->decided_view = memory->decided_view * kept + fmax(decided, 0);
    memory->withdrawn_view = memory->withdrawn_view * kept + fmax(withdrawn, 0);
}

static double answered(const struct load_counts *before, const struct load_counts *now)
{
    int64_t answered = 0;

    for (int i = 0; i < LOAD_BUCKETS; i++) {
        answered += now->buckets[i] - before->buckets[i];
    }
    return (double)answered;
}

static bool any_ended(const struct load_counts *before, const struct load_counts *now)
{
    return answered(before, now) > 0 || now->errors > before->errors ||
           now->timeouts > before->timeouts;
}

/* Updates the views. False: there is no earlier step to compare with, and only the next one can
 * decide anything. */
static bool follow_load(const struct autopilot_look *look, struct autopilot_memory *memory,
                        bool in_charge, double *seconds)
{
    int64_t elapsed = look->now_ms - memory->at_ms;

    *seconds = (double)elapsed / 1000;
    if (!in_charge && (memory->at_ms == 0 || elapsed > GAP_MS)) {
        /* Nothing was recorded while there was no load: all counts are of the last second. */
        forget_load(memory);
        (void)load_view_add(&memory->order_view, &memory->orders, &look->orders, 1);
        (void)load_view_add(&memory->origin_view, &memory->origin, &look->origin, 1);
        take_snapshot(look, memory);
        return false;
    }
    if (memory->at_ms == 0 || elapsed <= 0 || elapsed > GAP_MS ||
        look->admitted < memory->admitted || look->withdrawn < memory->withdrawn ||
        !load_view_add(&memory->order_view, &memory->orders, &look->orders, *seconds) ||
        !load_view_add(&memory->origin_view, &memory->origin, &look->origin, *seconds)) {
        if (elapsed < 0) {
            /* The clock was set back: these times would be in the future and prevent cuts until
             * then. */
            memory->cut_ms = memory->broke_ms = 0;
        }
        forget_load(memory);
        take_snapshot(look, memory);
        return false;
    }
    memory->admitted_per_second =
        follow(memory->admitted_per_second, (double)(look->admitted - memory->admitted) / *seconds,
               *seconds, 3);
    memory->answered_per_second =
        follow(memory->answered_per_second, answered(&memory->orders, &look->orders) / *seconds,
               *seconds, 3);
    follow_no_shows(look, memory, *seconds);
    /* A single one may be left over from a worker that died. */
    if (look->claimed < 2 || any_ended(&memory->orders, &look->orders)) {
        memory->silent_ms = 0;
    } else if (memory->silent_ms == 0) {
        memory->silent_ms = look->now_ms;
    }
    take_snapshot(look, memory);
    return true;
}

static double pressure_of(const struct load_view *view, double level_ms, double least)
{
    return load_view_weight(view) < least ? -1 : load_view_quantile(view, 0.95) / level_ms;
}

static double pressure_by(const struct assessment *assessment, double least)
{
    const struct autopilot_memory *memory = assessment->memory;

    return fmax(pressure_of(&memory->order_view, assessment->goal->order_p95_ms, least),
                pressure_of(&memory->origin_view, assessment->goal->origin_p95_ms, least));
}

static void judge_drops(struct assessment *assessment)
{
    const struct load_view *views[] = {&assessment->memory->order_view,
                                       &assessment->memory->origin_view};

    for (int i = 0; i < 2; i++) {
        double dropped = load_view_dropped(views[i]);
        if (views[i]->failed + views[i]->late >= FEW_DROPS && dropped > assessment->dropped) {
            assessment->dropped = dropped;
            assessment->timeouts = views[i]->late > views[i]->failed;
        }
    }
}

static void note_breach(struct autopilot_memory *memory, int64_t now_ms)
{
    if (memory->broke_at == 0 || now_ms - memory->cut_ms > EPISODE_MS) {
        memory->broke_at = memory->rate;
    }
    memory->broke_ms = now_ms;
    memory->cut_ms = now_ms;
}

static void cut(struct assessment *assessment, double factor, double least)
{
    struct autopilot_memory *memory = assessment->memory;

    note_breach(memory, assessment->look->now_ms);
    memory->rate = fmin(memory->rate, fmax(memory->rate * factor, least));
    /* The data that led to this cut must not lead to another one. */
    load_view_fade(&memory->order_view, EVIDENCE_LEFT);
    load_view_fade(&memory->origin_view, EVIDENCE_LEFT);
}

static enum autopilot_reason cut_for_drops(struct assessment *assessment)
{
    struct autopilot_memory *memory = assessment->memory;

    if (assessment->dropped >= MANY_DROPPED) {
        cut(assessment, CUT_WORST, 0);
    } else {
        cut(assessment, CUT_DROPS, CUT_LEAST * memory->answered_per_second);
    }
    memory->order_view.failed = memory->order_view.late = 0;
    memory->origin_view.failed = memory->origin_view.late = 0;
    return assessment->timeouts ? AUTOPILOT_TIMEOUTS : AUTOPILOT_ERRORS;
}

static enum autopilot_reason cut_for_silence(struct assessment *assessment)
{
    cut(assessment, CUT_WORST, 0);
    assessment->memory->silent_ms = assessment->look->now_ms;
    return AUTOPILOT_STUCK;
}

static bool is_used(const struct assessment *assessment)
{
    const struct autopilot_memory *memory = assessment->memory;

    return assessment->look->waiting > 0 && memory->admitted_per_second >= USED * memory->in_force;
}

static bool is_rising(const struct assessment *assessment, double median_ms)
{
    double usual = assessment->memory->usual_ms;

    return usual > 0 && median_ms > RISING * usual &&
           median_ms > RISING_FROM * assessment->goal->order_p95_ms;
}

static void grow(struct assessment *assessment, double share, double most)
{
    struct autopilot_memory *memory = assessment->memory;
    double more = fmax(memory->rate * share, GROWTH_LEAST) * fmin(assessment->seconds, 2);

    memory->rate = fmax(memory->rate, fmin(memory->rate + more, most));
}

/* Without recent orders, or with too few to decide. */
static enum autopilot_reason without_orders(struct assessment *assessment)
{
    if (pressure_by(assessment, 1) >= 0 || assessment->memory->silent_ms > 0 ||
        !is_used(assessment) || assessment->memory->rate >= assessment->goal->start) {
        return AUTOPILOT_UNKNOWN;
    }
    grow(assessment, GROWTH_BLIND, assessment->goal->start);
    return AUTOPILOT_RETURNS;
}

/* The approximate time from admission until the load of a member arrives; immediately at a site
 * behind the gate. */
static double visit_seconds(const struct assessment *assessment)
{
    const struct autopilot_memory *memory = assessment->memory;

    if (memory->answered_per_second <= 0 || memory->admitted_per_second <= 0) {
        return 1;
    }
    return clamp((double)assessment->look->ready / memory->admitted_per_second, 1, VISIT_LONGEST_S);
}

static double growth(const struct assessment *assessment)
{
    const struct autopilot_memory *memory = assessment->memory;
    double room = clamp((GROW_BELOW - assessment->pressure) / (GROW_BELOW / 2), 0.25, 1);
    bool careful = memory->broke_at > 0 && memory->rate > NEAR_BREACH * memory->broke_at &&
                   assessment->look->now_ms - memory->broke_ms < BREACH_KEPT_MS;

    return room *
           fmin(careful ? GROWTH_CAREFUL : GROWTH, GROWTH_A_VISIT / visit_seconds(assessment));
}

static enum autopilot_reason within_level(struct assessment *assessment)
{
    struct autopilot_memory *memory = assessment->memory;
    double median_ms = load_view_quantile(&memory->order_view, 0.5);
    bool rising = is_rising(assessment, median_ms);

    /* Slowly upwards, faster downwards, so that a lower usual value is soon reached again. */
    if (median_ms >= 0) {
        memory->usual_ms = memory->usual_ms == 0
                               ? median_ms
                               : follow(memory->usual_ms, median_ms, assessment->seconds,
                                        median_ms < memory->usual_ms ? 5 : 30);
    }
    if (assessment->look->now_ms - memory->cut_ms < SETTLE_MS) {
        return AUTOPILOT_SETTLES;
    }
    if (assessment->pressure > GROW_BELOW) {
        return AUTOPILOT_AT_LEVEL;
    }
    if (!is_used(assessment)) {
        return AUTOPILOT_UNUSED;
    }
    if (rising) {
        return AUTOPILOT_RISING;
    }
    grow(assessment, growth(assessment), assessment->goal->ceiling);
    return AUTOPILOT_GROWS;
}

static enum autopilot_reason decide(struct assessment *assessment)
{
    const struct autopilot_look *look = assessment->look;
    struct autopilot_memory *memory = assessment->memory;
    bool may_cut = look->now_ms - memory->cut_ms >= CUTS_APART_MS;

    judge_drops(assessment);
    assessment->pressure = pressure_by(assessment, FEW_ANSWERS);
    if (may_cut && assessment->dropped > assessment->goal->most_dropped) {
        return cut_for_drops(assessment);
    }
    if (may_cut && memory->silent_ms > 0 && look->now_ms - memory->silent_ms >= SILENCE_MS) {
        return cut_for_silence(assessment);
    }
    if (assessment->pressure < 0) {
        return without_orders(assessment);
    }
    if (assessment->pressure > 1) {
        if (may_cut) {
            cut(assessment, fmax(CUT_LATENCY, 1 / assessment->pressure),
                CUT_LEAST * memory->answered_per_second);
        }
        return AUTOPILOT_LATENCY;
    }
    return memory->silent_ms > 0 ? AUTOPILOT_UNKNOWN : within_level(assessment);
}

double autopilot_allowance(const struct autopilot_memory *memory)
{
    double share =
        memory->decided_view < NO_SHOWS_FROM ? 0 : memory->withdrawn_view / memory->decided_view;

    return 1 / (1 - clamp(share, 0, NO_SHOWS_MOST));
}

/* Adopts the rate as the rate in force; negligible differences are skipped. */
static void settle(const struct assessment *assessment, struct autopilot_verdict *verdict)
{
    const struct autopilot_goal *goal = assessment->goal;
    struct autopilot_memory *memory = assessment->memory;

    memory->rate = clamp(memory->rate, goal->floor, goal->ceiling);
    double allowance = goal->no_shows ? autopilot_allowance(memory) : 1;
    double rate = fmin(memory->rate * allowance, goal->ceiling);
    double difference = fabs(rate - memory->in_force);
    bool at_an_end = rate == goal->floor || rate == goal->ceiling || rate == goal->start;

    verdict->no_shows = 1 - 1 / allowance;
    if (difference > SMALLEST_MOVE * memory->in_force || (at_an_end && difference > 0)) {
        verdict->moved = true;
        memory->in_force = rate;
    }
    verdict->rate = memory->in_force;
}

static bool reason_changes_rate(enum autopilot_reason reason)
{
    return reason == AUTOPILOT_ERRORS || reason == AUTOPILOT_TIMEOUTS ||
           reason == AUTOPILOT_STUCK || reason == AUTOPILOT_LATENCY ||
           reason == AUTOPILOT_RETURNS || reason == AUTOPILOT_GROWS || reason == AUTOPILOT_BEGINS;
}

void autopilot_step(const struct autopilot_goal *goal, const struct autopilot_look *look,
                    struct autopilot_memory *memory, struct autopilot_verdict *verdict)
{
    struct assessment assessment = {.goal = goal, .look = look, .memory = memory, .pressure = -1};
    bool known = follow_load(look, memory, goal != NULL, &assessment.seconds);

    *verdict = (struct autopilot_verdict){.reason = AUTOPILOT_OFF};
    if (goal == NULL) {
        memory->rate = memory->in_force = memory->broke_at = 0;
        return;
    }
    if (!look->moved || memory->rate <= 0) {
        memory->rate = memory->in_force = clamp(goal->start, goal->floor, goal->ceiling);
        memory->broke_at = 0;
        known = false;
    }
    verdict->before = memory->in_force;
    verdict->reason = !known        ? AUTOPILOT_BEGINS
                      : !look->open ? AUTOPILOT_CLOSED
                                    : decide(&assessment);
    verdict->dropped = assessment.dropped;
    settle(&assessment, verdict);
    if (verdict->moved && !reason_changes_rate(verdict->reason)) {
        verdict->reason = AUTOPILOT_NO_SHOWS;
    }
}
