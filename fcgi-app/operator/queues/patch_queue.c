/*
 * PATCH /v1/admin/queues/{queue} — changes only the settings that it names.
 *
 * Request   some of the settings of queue_settings.tbl
 * Reply     200 the queue
 * Errors    401 UNAUTHENTICATED, 403 FORBIDDEN, 404 NOT_FOUND; otherwise as PUT
 * Touches   sql/queries/queues/queue_get.sql, queue_write.sql; lua/queues/queue_lock.lua if the
 *           mode changes, lua/queues/queue_publish.lua
 * Roles     operator
 */
#include "fcgi-app/http/problem.h"
#include "fcgi-app/operator/queues/mode_change.h"
#include "fcgi-app/operator/queues/queue_answer.h"
#include "fcgi-app/pool/handler.h"

/** Reads, merges and stores once. `*change` is QUEUE_STALE after a concurrent change. */
static bool attempt(const struct services *services, const struct request *request,
                    struct response *response, const struct operator_call *call, void *wanted,
                    enum queue_change *change, struct queue_row *row)
{
    struct queue_settings_fault fault;
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
    json_object *settings = queue_settings_change(request->arena, row->settings, wanted, &fault);
    if (settings == NULL) {
        problem_answer_at(request, response, fault.pointer, "%s.", fault.sentence);
        return false;
    }
    if (!mode_may_change(services, request, response, row, settings, &is_stale)) {
        return false;
    }
    if (is_stale) {
        *change = QUEUE_STALE;
        return true;
    }
    if (!operator_store_answered(services, request, response,
                                 queue_store_change(services->postgres, request->arena, call->id,
                                                    row->version, settings, &call->author, change,
                                                    row))) {
        return false;
    }
    return *change != QUEUE_MISSING || queue_not_found(request, response, call->id);
}

void patch_queue(const struct services *services, const struct request *request,
                 struct response *response)
{
    struct operator_call call;
    enum queue_change change;
    struct queue_row row;

    if (!operator_begin(services, request, response, false, &call)) {
        return;
    }
    json_object *given = operator_body(request, response);
    if (given == NULL) {
        return;
    }
    if (!queue_change_make(services, request, response, &call, attempt, given, &change, &row)) {
        return;
    }
    operator_log_change("queue.changed", &call, "change");
    queue_answer(response, 200, &row);
}
