/*
 * DELETE /v1/admin/queues/{queue}[?force=true] — deletes an empty queue; with force also one with
 * members in it, who lose their places. Without force one step in Redis finds the queue empty and
 * locks it, so that nobody enters before the deletion is published.
 *
 * Reply     204
 * Errors    401 UNAUTHENTICATED, 403 FORBIDDEN, 400 INVALID_REQUEST (force), 404 NOT_FOUND,
 *           409 QUEUE_BUSY while a member waits, holds a token or a place, or orders;
 *           503 ORDERS_UNAVAILABLE, 503 ADMISSION_UNAVAILABLE: Redis does not answer; what was
 *           stored takes effect later
 * Touches   sql/queries/queues/queue_get.sql, queue_delete.sql; lua/queues/queue_lock.lua without
 *           force, lua/queues/queue_publish.lua
 * Roles     operator
 */
#include <inttypes.h>

#include "fcgi-app/http/problem.h"
#include "fcgi-app/operator/queues/queue_answer.h"
#include "fcgi-app/pool/handler.h"

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

/** True if the queue was empty and is now locked, or `*is_stale`: it has been changed since `row`
 *  was read. Answers with a problem otherwise. */
static bool lock_if_empty(const struct services *services, const struct request *request,
                          struct response *response, const struct queue_row *row, bool *is_stale)
{
    struct queue_occupancy who;

    switch (queue_lock(services->redis, request->arena, row, QUEUE_LOCK_ALL, &who)) {
    case OUTCOME_OK:
        return true;
    case OUTCOME_OLDER:
        *is_stale = true;
        return true;
    case OUTCOME_QUEUE_BUSY:
        problem_answer(request, response, PROBLEM_QUEUE_BUSY,
                       "%" PRId64 " wait, %" PRId64 " are away with their number kept, %" PRId64
                       " hold an entry token, %" PRId64 " are ordering, %" PRId64
                       " have an unpaid order. Drain or reset the queue first, or send "
                       "?force=true.",
                       who.waiting, who.away, who.ready, who.claimed, who.unpaid);
        return false;
    default:
        problem_answer(request, response, PROBLEM_ADMISSION_UNAVAILABLE,
                       "Redis does not answer, so the queue may still have members; nothing was "
                       "changed. ?force=true skips this check.");
        return false;
    }
}

/** Reads and deletes once. `*change` is QUEUE_STALE after a concurrent change. */
static bool attempt(const struct services *services, const struct request *request,
                    struct response *response, const struct operator_call *call, void *wanted,
                    enum queue_change *change, struct queue_row *row)
{
    const bool *force = wanted;
    bool found = false;
    bool is_stale = false;

    if (!operator_store_answered(
            services, request, response,
            queue_store_get(services->postgres, request->arena, call->id, &found, row))) {
        return false;
    }
    if (!found) {
        return queue_not_found(request, response, call->id);
    }
    if (!*force && !lock_if_empty(services, request, response, row, &is_stale)) {
        return false;
    }
    if (is_stale) {
        *change = QUEUE_STALE;
        return true;
    }
    if (!operator_store_answered(services, request, response,
                                 queue_store_delete(services->postgres, request->arena, call->id,
                                                    *force ? QUEUE_VERSION_ANY : row->version,
                                                    &call->author, change, row))) {
        return false;
    }
    return *change != QUEUE_MISSING || queue_not_found(request, response, call->id);
}

void delete_queue(const struct services *services, const struct request *request,
                  struct response *response)
{
    struct operator_call call;
    enum queue_change change;
    struct queue_row row;
    bool force = false;

    if (!operator_begin(services, request, response, false, &call) ||
        !read_force(request, response, &force)) {
        return;
    }
    if (!queue_change_make(services, request, response, &call, attempt, &force, &change, &row)) {
        return;
    }
    operator_log_change("queue.deleted", &call, "delete");
    response->status = 204;
}
