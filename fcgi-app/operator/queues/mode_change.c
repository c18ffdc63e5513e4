#include "fcgi-app/operator/queues/mode_change.h"

#include <inttypes.h>
#include <string.h>

#include "fcgi-app/http/problem.h"
#include "lib/admission/queues/queue_publication.h"

static const char *mode_of(json_object *settings)
{
    json_object *mode = NULL;

    return json_object_object_get_ex(settings, "mode", &mode) ? json_object_get_string(mode)
                                                              : "fifo";
}

bool mode_may_change(const struct services *services, const struct request *request,
                     struct response *response, const struct queue_row *row, json_object *settings)
{
    struct queue_stats stats;

    if (strcmp(mode_of(row->settings), mode_of(settings)) == 0) {
        return true;
    }
    if (row->lottery_draw.n > 0) {
        problem_answer(
            request, response, PROBLEM_QUEUE_BUSY,
            "The queue has held the draw of this epoch. Reset it before you change its mode.");
        return false;
    }
    const redisReply *reply = redis_call(services->redis, request->arena,
                                         queue_publication_stats(request->arena, row->id, 0));
    if (queue_publication_read_stats(reply, request->arena, &stats) != OUTCOME_OK) {
        problem_answer(request, response, PROBLEM_ADMISSION_UNAVAILABLE,
                       "Redis does not answer, so the queue may not be empty, and only an empty "
                       "queue may change its mode; nothing was changed.");
        return false;
    }
    if (stats.waiting + stats.away > 0) {
        problem_answer(request, response, PROBLEM_QUEUE_BUSY,
                       "The mode may only change while the line is empty: %" PRId64
                       " wait, %" PRId64 " are away with their number kept. Reset the queue first.",
                       stats.waiting, stats.away);
        return false;
    }
    return true;
}
