/*
 * DELETE /v1/admin/queues/{queue}[?force=true] — deletes an empty queue; with force also one with
 * members in it, who lose their places.
 * Reply   204
 * Errors  NOT_FOUND; QUEUE_BUSY while a member waits, holds a token or a place, or orders;
 *         ADMISSION_UNAVAILABLE if Redis does not answer
 */
#include <inttypes.h>

#include "fcgi-app/http/problem.h"
#include "fcgi-app/operator/queue_answer.h"
#include "fcgi-app/pool/handler.h"
#include "lib/admission/queues/queue_publication.h"

/** Reads ?force=true|false. */
static bool read_force(const struct request *request, struct response *response, bool *force)
{
    struct str value;

    *force = false;
    if (!request_query(request, STR("force"), &value)) {
        return true;
    }
    *force = str_equal(value, STR("true"));
    if (!*force && !str_equal(value, STR("false"))) {
        problem_answer(request, response, PROBLEM_INVALID_REQUEST, "force must be true or false.");
        return false;
    }
    return true;
}

static bool nobody_left(const struct services *services, const struct request *request,
                        struct response *response, struct str queue)
{
    struct queue_stats stats;
    const redisReply *reply = redis_call(services->redis, request->arena,
                                         queue_publication_stats(request->arena, queue, 1));

    if (queue_publication_read_stats(reply, request->arena, &stats) != OUTCOME_OK) {
        problem_answer(request, response, PROBLEM_ADMISSION_UNAVAILABLE,
                       "Redis does not answer, so the queue may still have members; nothing was "
                       "changed. ?force=true skips this check.");
        return false;
    }
    if (stats.waiting + stats.away + stats.ready + stats.claimed + stats.unpaid > 0) {
        problem_answer(request, response, PROBLEM_QUEUE_BUSY,
                       "%" PRId64 " wait, %" PRId64 " are away with their number kept, %" PRId64
                       " hold an entry token, %" PRId64 " are ordering, %" PRId64
                       " have an unpaid order. Drain or reset the queue first, or send "
                       "?force=true.",
                       stats.waiting, stats.away, stats.ready, stats.claimed, stats.unpaid);
        return false;
    }
    return true;
}

void delete_queue(const struct services *services, const struct request *request,
                  struct response *response)
{
    struct operator_call call;
    enum queue_change change;
    struct queue_row row;
    bool force = false;
    bool found = false;

    if (!operator_begin(services, request, response, false, &call) ||
        !read_force(request, response, &force) ||
        !store_answered(
            services, request, response,
            queue_store_get(services->postgres, request->arena, call.id, &found, &row))) {
        return;
    }
    if (!found) {
        (void)queue_not_found(request, response, call.id);
        return;
    }
    if (!force && !nobody_left(services, request, response, call.id)) {
        return;
    }
    if (!store_answered(services, request, response,
                        queue_store_delete(services->postgres, request->arena, call.id,
                                           &call.author, &change, &row))) {
        return;
    }
    if (change == QUEUE_MISSING) {
        (void)queue_not_found(request, response, call.id);
        return;
    }
    if (!publish_change(services, request, response, change, &row)) {
        return;
    }
    log_change("queue.deleted", &call, "delete");
    response->status = 204;
}
