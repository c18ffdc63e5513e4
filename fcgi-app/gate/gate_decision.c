#include "fcgi-app/gate/gate_decision.h"

bool gate_pass_counts(const struct visit *visit)
{
    return visit->has_pass && visit->pass.kind != GATE_PASS_WATCHED &&
           visit->pass.epoch == visit->known->view.epoch &&
           !gate_cache_has_ended(visit->known, visit->pass.admission);
}

static bool pass_is_due(const struct visit *visit)
{
    const struct gate_view *view = &visit->known->view;

    return visit->pass.incarnation != view->incarnation ||
           gate_cache_redis_ms(visit->known, visit->now_ms) - visit->pass.renewed_ms >=
               view->renew_ms;
}

bool gate_may_enter_at_once(const struct visit *visit)
{
    const struct gate_view *view = &visit->known->view;

    return view->admit_when_idle && view->waiting == 0 && visit->kind == CLIENT_PAGE;
}

static struct gate_decision word(enum gate_step step, const char *verdict)
{
    return (struct gate_decision){step, verdict};
}

static struct gate_decision watch(const struct visit *visit)
{
    bool counted = visit->has_pass && visit->pass.kind == GATE_PASS_WATCHED;
    int64_t now_ms = gate_cache_redis_ms(visit->known, visit->now_ms);

    if ((counted && now_ms - visit->pass.renewed_ms < visit->known->view.renew_ms) ||
        (visit->id.n == 0 && visit->kind != CLIENT_PAGE)) {
        return word(GATE_THROUGH, "watch");
    }
    return word(GATE_WATCH, NULL);
}

struct gate_decision gate_decide(const struct visit *visit)
{
    if (visit->known == NULL) {
        return word(GATE_REFUSE, "unknown-queue");
    }
    const struct gate_view *view = &visit->known->view;
    if (visit->kind == CLIENT_PREFLIGHT) {
        return word(GATE_THROUGH, "preflight");
    }
    if (gate_bypass_match(visit->known->bypass, &visit->facts) != GATE_BYPASS_NONE) {
        return word(GATE_THROUGH, "bypass");
    }
    if (str_equal(view->activation, STR("off"))) {
        return word(GATE_THROUGH, "off");
    }
    if (str_equal(view->activation, STR("watch"))) {
        return watch(visit);
    }
    if (str_equal(view->activation, STR("hold"))) {
        return word(GATE_REFUSE, "hold");
    }
    if (gate_pass_counts(visit) && !pass_is_due(visit)) {
        return word(GATE_THROUGH, "pass");
    }
    if (visit->id.n > 0 && (visit->kind != CLIENT_PREFETCH || gate_pass_counts(visit))) {
        return word(GATE_CHECK, NULL);
    }
    if (gate_may_enter_at_once(visit) && view->for_visitors) {
        return word(GATE_ENTER, NULL);
    }
    return word(GATE_REFUSE, "wait");
}
