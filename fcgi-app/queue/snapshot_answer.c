#include "fcgi-app/queue/snapshot_answer.h"

#include "fcgi-app/queue/position_json.h"
#include "fcgi-app/queue/seen_queues.h"
#include "lib/admission/snapshot/snapshot.h"
#include "lib/base/clock.h"
#include "lib/metrics/metrics.h"

bool snapshot_answer(const struct services *services, const struct request *request,
                     const struct line_caller *caller, struct response *response)
{
    struct line_position position;
    int64_t age_ms;

    if (!snapshot_position(services->snapshot, caller, clock_monotonic_ms(), request->arena,
                           &position, &age_ms)) {
        return false;
    }
    struct poll_pause pause = position_pause(&position);
    if (age_ms >= pause.seconds * 1000) {
        return false;
    }
    metrics_add(METRIC_POSITIONS_SNAPSHOT, 1);
    seen_queues_add(caller->queue);
    response_json(response, 200);
    position_json_add(&response->body, caller->queue, &position, pause, str_sized(NULL, 0));
    return true;
}
