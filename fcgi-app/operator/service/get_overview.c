/*
 * GET /v1/admin/overview[?samples=0..60] — all queues with their statistics, cheap enough for one
 * request a second. A part that does not respond is reported, and the rest is returned: operators
 * look here when something is wrong.
 *
 * Reply     200 {"role", "serverTime", "redis", "postgres", "service": {…}|null, "queues":
 *           [{"queue", "settings", "stats"}, …]} settings as GET of the queue, null without
 *           PostgreSQL; stats null without Redis
 * Errors    401 UNAUTHENTICATED, 400 INVALID_REQUEST, 503 ORDERS_UNAVAILABLE if neither answers
 * Touches   sql/queries/service/service_figures.sql, queue_list.sql; lua/queues/stats.lua once a
 *           queue, sluice:queues
 * Roles     operator, viewer
 */
#include <stdlib.h>
#include <string.h>

#include "fcgi-app/http/problem.h"
#include "fcgi-app/operator/queues/queue_answer.h"
#include "fcgi-app/operator/queues/stats_answer.h"
#include "fcgi-app/pool/handler.h"
#include "lib/admission/line/promotion.h"
#include "lib/base/clock.h"
#include "lib/base/identifier.h"
#include "lib/database/service/service_figures.h"

enum { SAMPLES_MAX = 60 };

/** The parts of the answer. */
struct overview {
    const struct services *services;
    const struct request *request;
    int64_t samples;
    struct service_figures figures;
    struct queue_row *rows;
    size_t count;
    bool postgres_answers;
    bool redis_answers;
};

static bool read_samples(const struct request *request, struct response *response, int64_t *samples)
{
    struct str value;

    *samples = 0;
    if (request_query(request, STR("samples"), &value) &&
        !str_to_int64(value, 0, SAMPLES_MAX, samples)) {
        problem_answer(request, response, PROBLEM_INVALID_REQUEST,
                       "samples must be a whole number from 0 to %d.", SAMPLES_MAX);
        return false;
    }
    return true;
}

static json_object *service_json(const struct service_figures *figures)
{
    json_object *answer = json_object_new_object();

    json_object_object_add(answer, "paymentsStuck", json_object_new_int64(figures->payments_stuck));
    json_object_object_add(answer, "outboxRows", json_object_new_int64(figures->outbox_rows));
    json_object_object_add(answer, "outboxOldestSeconds", seconds_json(figures->outbox_oldest_ms));
    json_object_object_add(answer, "reconciledSecondsAgo",
                           seconds_json(figures->reconciled_ago_ms));
    return answer;
}

/** The statistics of one queue; NULL if Redis does not know it, or does not answer, which is
 *  remembered. */
static json_object *numbers_json(struct overview *overview, struct str queue)
{
    struct queue_stats stats;

    if (!overview->redis_answers) {
        return NULL;
    }
    enum outcome outcome =
        stats_ask(overview->services, overview->request, queue, overview->samples, &stats);
    if (outcome == OUTCOME_ADMISSION_UNAVAILABLE) {
        overview->redis_answers = false;
    }
    return outcome == OUTCOME_OK ? stats_json(queue, &stats, (size_t)overview->samples) : NULL;
}

static void add_queue(struct overview *overview, json_object *queues, struct str queue,
                      json_object *settings)
{
    json_object *entry = json_object_new_object();

    json_object_object_add(entry, "queue", text_json(queue));
    json_object_object_add(entry, "settings", settings);
    json_object_object_add(entry, "stats", numbers_json(overview, queue));
    json_object_array_add(queues, entry);
}

static int by_bytes(const void *a, const void *b)
{
    const struct str *x = a;
    const struct str *y = b;
    int order = memcmp(x->p, y->p, x->n < y->n ? x->n : y->n);

    return order != 0 ? order : (x->n > y->n) - (x->n < y->n);
}

/** Without PostgreSQL: the queues that the schedulers serve, in the same order. */
static void add_listed(struct overview *overview, json_object *queues)
{
    size_t listed = 0;
    struct str *names =
        promotion_queue_ids(overview->services->redis, overview->request->arena, &listed);

    if (names == NULL) {
        overview->redis_answers = false;
        return;
    }
    size_t count = 0;
    for (size_t i = 0; i < listed; i++) {
        names[count] = names[i];
        count += identifier_is_slug(names[count]) ? 1 : 0;
    }
    qsort(names, count, sizeof(*names), by_bytes);
    for (size_t i = 0; i < count; i++) {
        add_queue(overview, queues, names[i], NULL);
    }
}

void get_overview(const struct services *services, const struct request *request,
                  struct response *response)
{
    struct operator_call call;
    struct overview overview = {.services = services, .request = request, .redis_answers = true};

    if (!operator_begin(services, request, response, true, &call) ||
        !read_samples(request, response, &overview.samples)) {
        return;
    }
    overview.postgres_answers = service_figures_read(services->postgres, request->arena,
                                                     &overview.figures) == POSTGRES_OK &&
                                queue_store_list(services->postgres, request->arena, false,
                                                 &overview.rows, &overview.count) == POSTGRES_OK;
    json_object *answer = json_object_new_object();
    json_object *queues = json_object_new_array();
    if (overview.postgres_answers) {
        for (size_t i = 0; i < overview.count; i++) {
            add_queue(&overview, queues, overview.rows[i].id, queue_json(&overview.rows[i]));
        }
        if (overview.count == 0) {
            overview.redis_answers = promotion_queues(services->redis, request->arena) != NULL;
        }
    } else {
        add_listed(&overview, queues);
    }
    json_object_object_add(answer, "role", json_object_new_string(call.author.actor));
    json_object_object_add(answer, "serverTime", time_json(clock_wall_ms()));
    json_object_object_add(answer, "redis", json_object_new_boolean(overview.redis_answers));
    json_object_object_add(answer, "postgres", json_object_new_boolean(overview.postgres_answers));
    json_object_object_add(answer, "service",
                           overview.postgres_answers ? service_json(&overview.figures) : NULL);
    json_object_object_add(answer, "queues", queues);
    if (overview.postgres_answers || overview.redis_answers) {
        response_json_object(response, 200, answer);
    } else {
        problem_answer(request, response, PROBLEM_ORDERS_UNAVAILABLE,
                       "Neither PostgreSQL nor Redis answers.");
    }
    (void)json_object_put(answer);
}
