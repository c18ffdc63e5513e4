#include "fcgi-app/operator/queues/mode_change.h"

#include <inttypes.h>
#include <string.h>

#include "fcgi-app/http/problem.h"

static const char *mode_of(json_object *settings)
{
    json_object *mode = NULL;

    return json_object_object_get_ex(settings, "mode", &mode) ? json_object_get_string(mode)
                                                              : "fifo";
}

bool mode_may_change(const struct services *services, const struct request *request,
                     struct response *response, const struct queue_row *row, json_object *settings,
                     bool *is_stale)
{
    struct queue_occupancy who;

    *is_stale = false;
    if (strcmp(mode_of(row->settings), mode_of(settings)) == 0) {
        return true;
    }
    if (row->lottery_draw.n > 0) {
        problem_answer(
            request, response, PROBLEM_QUEUE_BUSY,
            "The queue has held the draw of this epoch. Reset it before you change its mode.");
        return false;
    }
    switch (queue_lock(services->redis, request->arena, row, QUEUE_LOCK_LINE, &who)) {
    case OUTCOME_OK:
        return true;
    case OUTCOME_OLDER:
        *is_stale = true;
        return true;
    case OUTCOME_QUEUE_BUSY:
        problem_answer(request, response, PROBLEM_QUEUE_BUSY,
                       "The mode may only change while the line is empty: %" PRId64
                       " wait, %" PRId64 " are away with their number kept, %" PRId64
                       " have not picked up their entry token. Reset the queue first.",
                       who.waiting, who.away, who.pickup);
        return false;
    default:
        problem_answer(request, response, PROBLEM_ADMISSION_UNAVAILABLE,
                       "Redis does not answer, so the queue may not be empty, and only an empty "
                       "queue may change its mode; nothing was changed.");
        return false;
    }
}
