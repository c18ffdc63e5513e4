/*
 * POST /v1/admin/queues/{queue}/actions/{action} — pause, resume, drain, sold-out, reset. All but
 * reset are idempotent. resume clears pause, drain and a declared sold-out, and one for lack of
 * stock if there is stock again; reset removes all members and starts a new epoch.
 *
 * Reply     200 the queue
 * Errors    401 UNAUTHENTICATED, 403 FORBIDDEN, 404 NOT_FOUND (queue or action),
 *           503 ORDERS_UNAVAILABLE, 503 ADMISSION_UNAVAILABLE: stored, takes effect when Redis is
 *           back
 * Touches   sql/queries/queues/queue_act.sql; lua/queues/queue_publish.lua; after a resume
 *           sql/queries/goods/availability.sql, queue_get.sql, lua/goods/sold_out.lua
 * Roles     operator
 */
#include "fcgi-app/http/problem.h"
#include "fcgi-app/operator/queues/queue_answer.h"
#include "fcgi-app/pool/handler.h"
#include "lib/database/goods/availability.h"

/** After a resume: checks whether anything is left to sell. Reads the queue again, as this may have
 *  opened it. */
static bool check_stock(const struct services *services, const struct request *request,
                        struct response *response, struct queue_row *row)
{
    bool found = false;

    if (!availability_publish(services->postgres, services->redis, request->arena, row->id, true)) {
        problem_answer(request, response, PROBLEM_ADMISSION_UNAVAILABLE,
                       "The queue is resumed, but the stock could not be checked. Send the same "
                       "request again.");
        return false;
    }
    return operator_store_answered(
               services, request, response,
               queue_store_get(services->postgres, request->arena, row->id, &found, row)) &&
           (found || queue_not_found(request, response, row->id));
}

void act_on_queue(const struct services *services, const struct request *request,
                  struct response *response)
{
    struct operator_call call;
    enum queue_action action;
    enum queue_change change;
    struct queue_row row;

    if (!operator_begin(services, request, response, false, &call)) {
        return;
    }
    if (!queue_action_parse(request->parameters[1], &action)) {
        problem_answer(
            request, response, PROBLEM_NOT_FOUND,
            "There is no such action. The actions are pause, resume, drain, sold-out and reset.");
        return;
    }
    if (!operator_store_answered(services, request, response,
                                 queue_store_act(services->postgres, request->arena, call.id,
                                                 action, &call.author, &change, &row))) {
        return;
    }
    if (change == QUEUE_MISSING) {
        (void)queue_not_found(request, response, call.id);
        return;
    }
    if (change == QUEUE_CHANGED) {
        operator_log_change("queue.acted", &call, queue_action_word(action));
    }
    if (!queue_change_publish(services, request, response, change, &row) ||
        (action == QUEUE_ACTION_RESUME && !check_stock(services, request, response, &row))) {
        return;
    }
    queue_answer(response, 200, &row);
}
