/*
 * PUT /v1/admin/queues/{queue} — creates a queue or replaces its settings; missing settings get
 * their defaults. A deleted queue comes back empty, in a new epoch.
 *
 * Request   any of the settings of queue_settings.tbl
 * Reply     201 the new queue, 200 the changed one
 * Errors    401 UNAUTHENTICATED, 403 FORBIDDEN, 400 INVALID_REQUEST with the pointer;
 *           409 QUEUE_BUSY if the mode would change while members are in line, or after the draw;
 *           503 ORDERS_UNAVAILABLE, 503 ADMISSION_UNAVAILABLE: stored, takes effect when Redis is
 *           back; a change of the mode is only stored if Redis finds the line empty
 * Touches   sql/queries/queues/queue_get.sql, queue_write.sql; lua/queues/queue_lock.lua if the
 *           mode changes, lua/queues/queue_publish.lua
 * Roles     operator
 */
#include "fcgi-app/http/problem.h"
#include "fcgi-app/operator/queues/mode_change.h"
#include "fcgi-app/operator/queues/queue_answer.h"
#include "fcgi-app/pool/handler.h"

/** Reads and stores once. `*change` is QUEUE_STALE after a concurrent change. */
static bool attempt(const struct services *services, const struct request *request,
                    struct response *response, const struct operator_call *call, void *wanted,
                    enum queue_change *change, struct queue_row *row)
{
    json_object *settings = wanted;
    bool found = false;
    bool is_stale = false;

    if (!operator_store_answered(
            services, request, response,
            queue_store_get(services->postgres, request->arena, call->id, &found, row)) ||
        (found && !mode_may_change(services, request, response, row, settings, &is_stale))) {
        return false;
    }
    if (is_stale) {
        *change = QUEUE_STALE;
        return true;
    }
    return operator_store_answered(services, request, response,
                                   queue_store_put(services->postgres, request->arena, call->id,
                                                   found ? row->version : 0, settings,
                                                   &call->author, change, row));
}

void put_queue(const struct services *services, const struct request *request,
               struct response *response)
{
    struct operator_call call;
    struct queue_settings_fault fault;
    enum queue_change change;
    struct queue_row row;

    if (!operator_begin(services, request, response, false, &call)) {
        return;
    }
    json_object *given = operator_body(request, response);
    if (given == NULL) {
        return;
    }
    json_object *settings = queue_settings_replace(request->arena, given, &fault);
    if (settings == NULL) {
        problem_answer_at(request, response, fault.pointer, "%s.", fault.sentence);
        return;
    }
    if (!queue_change_make(services, request, response, &call, attempt, settings, &change, &row)) {
        return;
    }
    operator_log_change("queue.changed", &call, change == QUEUE_CREATED ? "create" : "change");
    queue_answer(response, change == QUEUE_CREATED ? 201 : 200, &row);
}
