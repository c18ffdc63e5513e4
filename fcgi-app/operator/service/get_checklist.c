/*
 * GET /v1/admin/checklist[?queue=…] — what must be right before an opening, for the service and
 * for all queues or one.
 *
 * Reply     200 {"items": [{"name", "queue": id or null, "state": "ok"|"warn"|"fail", "detail",
 *           "do"}, …]}, also if a part does not respond
 * Errors    401 UNAUTHENTICATED, 400 INVALID_REQUEST, 404 NOT_FOUND
 * Touches   sql/queries/service/service_figures.sql, queue_list.sql or queue_get.sql,
 *           goods_list.sql; TIME, lua/line/pool_life.lua, stats.lua in Redis
 * Roles     operator, viewer
 */
#include <stdarg.h>
#include <stdio.h>

#include "fcgi-app/http/problem.h"
#include "fcgi-app/operator/queues/queue_answer.h"
#include "fcgi-app/operator/service/checklist.h"
#include "fcgi-app/pool/handler.h"
#include "lib/base/identifier.h"

enum { DETAIL_MAX = 512 };

void check_add(struct checklist *list, const char *name, enum check_state state,
               const char *what_to_do, const char *detail, ...)
{
    static const char *const STATES[] = {"ok", "warn", "fail"};
    json_object *item = json_object_new_object();
    char *text = arena_alloc(list->request->arena, DETAIL_MAX);
    va_list arguments;

    va_start(arguments, detail);
    (void)vsnprintf(text, DETAIL_MAX, detail, arguments);
    va_end(arguments);
    json_object_object_add(item, "name", json_object_new_string(name));
    json_object_object_add(item, "queue", list->queue.n > 0 ? text_json(list->queue) : NULL);
    json_object_object_add(item, "state", json_object_new_string(STATES[state]));
    json_object_object_add(item, "detail", json_object_new_string(text));
    json_object_object_add(item, "do", json_object_new_string(state == CHECK_OK ? "" : what_to_do));
    json_object_array_add(list->items, item);
}

static void check_queues(struct checklist *list, const struct queue_row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        list->queue = rows[i].id;
        checklist_queue(list, &rows[i]);
    }
    if (count == 0) {
        check_add(list, "queues", CHECK_WARN,
                  "Create one: sluicectl queue set NAME ratePerSecond=20.", "There is no queue.");
    }
}

/* One queue, or all of them if none is named. Returns false with an answer if that one does not
 * exist. */
static bool check_wanted(struct checklist *list, struct response *response, struct str queue)
{
    const struct services *services = list->services;
    struct arena *arena = list->request->arena;
    struct queue_row one;
    struct queue_row *rows = &one;
    size_t count = 1;
    bool found = true;

    if (!list->postgres_answers) {
        return true;
    }
    enum postgres_outcome outcome =
        queue.n > 0 ? queue_store_get(services->postgres, arena, queue, &found, &one)
                    : queue_store_list(services->postgres, arena, false, &rows, &count);
    if (outcome == POSTGRES_OK && !found) {
        return queue_not_found(list->request, response, queue);
    }
    if (outcome == POSTGRES_OK) {
        check_queues(list, rows, count);
    }
    return true;
}

void get_checklist(const struct services *services, const struct request *request,
                   struct response *response)
{
    struct operator_call call;
    struct checklist list = {.services = services, .request = request};
    struct str queue = {0};

    if (!operator_begin(services, request, response, true, &call)) {
        return;
    }
    if (request_query(request, STR("queue"), &queue) && !identifier_is_slug(queue)) {
        problem_answer(request, response, PROBLEM_INVALID_REQUEST, "queue must be a queue's id.");
        return;
    }
    list.items = json_object_new_array();
    checklist_service(&list);
    if (check_wanted(&list, response, queue)) {
        json_object *answer = json_object_new_object();
        json_object_object_add(answer, "items", json_object_get(list.items));
        response_json_object(response, 200, answer);
        (void)json_object_put(answer);
    }
    (void)json_object_put(list.items);
}
