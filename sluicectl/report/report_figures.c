#include "sluicectl/report/report_figures.h"

#include <math.h>

#include "lib/base/clock.h"

static const char *const COUNTERS[REPORT_COUNTERS] = {
    [REPORT_ENTERED] = "entered",    [REPORT_ADMITTED] = "admitted",
    [REPORT_CONSUMED] = "consumed",  [REPORT_EXPIRED] = "expired",
    [REPORT_LEFT] = "left",          [REPORT_WITHDRAWN] = "withdrawn",
    [REPORT_ERRORS] = "orderErrors",
};

static const char *const GAUGES[REPORT_GAUGES] = {
    [REPORT_WAITING] = "waiting",          [REPORT_READY] = "ready",
    [REPORT_CLAIMED] = "claimed",          [REPORT_RATE] = "ratePerSecond",
    [REPORT_P50] = "orderP50Ms",           [REPORT_P95] = "orderP95Ms",
    [REPORT_P99] = "orderP99Ms",           [REPORT_PROMISED] = "promisedWaitSeconds",
    [REPORT_ACTUAL] = "actualWaitSeconds",
};

const char *report_counter_name(enum report_counter counter)
{
    return COUNTERS[counter];
}

const char *report_gauge_name(enum report_gauge gauge)
{
    return GAUGES[gauge];
}

static double number_of(json_object *point, const char *name)
{
    json_object *value = json_object_object_get(point, name);

    return value == NULL ? (double)NAN : json_object_get_double(value);
}

static int64_t time_of(json_object *point)
{
    int64_t ms = 0;

    (void)rfc3339_parse(str_of(json_object_get_string(json_object_object_get(point, "at"))), &ms);
    return ms / 1000;
}

static void note_peak(struct report_peak *peak, double value, int64_t at)
{
    if (!isnan(value) && value > 0 && value > peak->value) {
        *peak = (struct report_peak){.value = value, .at = at};
    }
}

static void compute_counter(struct report_figures *figures, enum report_counter counter,
                            json_object *points, int64_t step_s, bool from_zero)
{
    double before = from_zero ? 0 : (double)NAN;
    int64_t before_at = figures->count > 0 ? figures->times[0] - step_s : 0;

    for (size_t i = 0; i < figures->count; i++) {
        double now = number_of(json_object_array_get_idx(points, i), COUNTERS[counter]);
        int64_t seconds = figures->times[i] - before_at;
        double grown = now < before ? now : now - before;
        figures->per_second[counter][i] = seconds > 0 ? grown / (double)seconds : (double)NAN;
        if (!isnan(grown)) {
            figures->sums[counter] += grown;
            if (counter == REPORT_CONSUMED && grown > 0) {
                figures->last_consumed = figures->times[i];
            }
        }
        note_peak(&figures->peaks[counter], figures->per_second[counter][i], figures->times[i]);
        if (!isnan(now)) {
            before = now;
            before_at = figures->times[i];
        }
    }
}

void report_figures_compute(struct report_figures *figures, struct arena *arena,
                            json_object *points, int64_t step_s, bool from_zero)
{
    *figures = (struct report_figures){.count = json_object_array_length(points)};
    size_t bytes = (figures->count + 1) * sizeof(double);
    figures->times = arena_alloc(arena, (figures->count + 1) * sizeof(int64_t));
    for (size_t i = 0; i < figures->count; i++) {
        figures->times[i] = time_of(json_object_array_get_idx(points, i));
    }
    for (int counter = 0; counter < REPORT_COUNTERS; counter++) {
        figures->per_second[counter] = arena_alloc(arena, bytes);
        compute_counter(figures, (enum report_counter)counter, points, step_s, from_zero);
    }
    for (int gauge = 0; gauge < REPORT_GAUGES; gauge++) {
        figures->gauges[gauge] = arena_alloc(arena, bytes);
        for (size_t i = 0; i < figures->count; i++) {
            figures->gauges[gauge][i] =
                number_of(json_object_array_get_idx(points, i), GAUGES[gauge]);
            note_peak(&figures->gauge_peaks[gauge], figures->gauges[gauge][i], figures->times[i]);
        }
    }
}
