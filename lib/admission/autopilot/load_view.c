#include "lib/admission/autopilot/load_view.h"

#include <math.h>

/* What remains of a weight after one second. */
static const double LATENCY_KEPT = 0.6;
static const double DROPS_KEPT = 0.9;

static bool was_reset(const struct load_counts *before, const struct load_counts *now)
{
    for (int i = 0; i < LOAD_BUCKETS; i++) {
        if (now->buckets[i] < before->buckets[i]) {
            return true;
        }
    }
    return now->errors < before->errors || now->timeouts < before->timeouts ||
           now->busy < before->busy;
}

bool load_view_add(struct load_view *view, const struct load_counts *before,
                   const struct load_counts *now, double seconds)
{
    double latency_kept = pow(LATENCY_KEPT, seconds);
    double drops_kept = pow(DROPS_KEPT, seconds);

    if (was_reset(before, now)) {
        *view = (struct load_view){0};
        return false;
    }
    view->answered *= drops_kept;
    for (int i = 0; i < LOAD_BUCKETS; i++) {
        double more = (double)(now->buckets[i] - before->buckets[i]);
        view->buckets[i] = view->buckets[i] * latency_kept + more;
        view->answered += more;
    }
    view->failed = view->failed * drops_kept + (double)(now->errors - before->errors);
    view->late = view->late * drops_kept + (double)(now->timeouts - before->timeouts) +
                 (double)(now->busy - before->busy);
    return true;
}

void load_view_fade(struct load_view *view, double kept)
{
    for (int i = 0; i < LOAD_BUCKETS; i++) {
        view->buckets[i] *= kept;
    }
}

double load_view_weight(const struct load_view *view)
{
    double weight = 0;

    for (int i = 0; i < LOAD_BUCKETS; i++) {
        weight += view->buckets[i];
    }
    return weight;
}

double load_view_quantile(const struct load_view *view, double part)
{
    double weight = load_view_weight(view);
    double wanted = weight * part;
    double passed = 0;

    if (weight < 1) {
        return -1;
    }
    for (int i = 0; i < LOAD_BUCKETS; i++) {
        double begins = i == 0 ? 0 : order_load_bucket_end(i - 1);
        if (view->buckets[i] > 0 && passed + view->buckets[i] >= wanted) {
            return begins +
                   (order_load_bucket_end(i) - begins) * (wanted - passed) / view->buckets[i];
        }
        passed += view->buckets[i];
    }
    return order_load_bucket_end(LOAD_BUCKETS - 1);
}

double load_view_dropped(const struct load_view *view)
{
    double dropped = view->failed + view->late;

    return dropped > 0 ? dropped / (dropped + view->answered) : 0;
}
