#include "sluicectl/output/overview.h"

#include "sluicectl/server/client.h"

static void release_json(void *object)
{
    (void)json_object_put(object);
}

static json_object *silent(const char *id)
{
    json_object *line = json_object_new_object();

    json_object_object_add(line, "queue", json_object_new_string(id));
    json_object_object_add(line, "state", json_object_new_string("UNAVAILABLE"));
    return line;
}

/** A server of the previous version has no overview: reads each queue separately. */
static bool read_each(const struct invocation *invocation, int samples, struct overview *overview)
{
    struct client_answer answer;

    if (!client_call(invocation, "GET", "/v1/admin/queues", NULL, &answer)) {
        return false;
    }
    json_object *queues = json_object_object_get(answer.body, "queues");
    for (size_t i = 0; i < json_object_array_length(queues); i++) {
        struct client_answer stats;
        const char *id = text_field(json_object_array_get_idx(queues, i), "queue", "");
        if (!client_request(invocation, "GET",
                            arena_format(invocation->arena, "/v1/admin/queues/%s/stats?samples=%d",
                                         id, samples > 0 ? samples : 1),
                            NULL, &stats)) {
            return false;
        }
        json_object_array_add(overview->queues,
                              stats.status == 200 ? json_object_get(stats.body) : silent(id));
    }
    return true;
}

bool overview_read(const struct invocation *invocation, int samples, struct overview *overview)
{
    struct client_answer answer;

    *overview = (struct overview){.queues = json_object_new_array()};
    arena_on_reset(invocation->arena, release_json, overview->queues);
    if (!client_request(invocation, "GET",
                        arena_format(invocation->arena, "/v1/admin/overview?samples=%d", samples),
                        NULL, &answer)) {
        return false;
    }
    if (answer.status == 404) {
        return read_each(invocation, samples, overview);
    }
    if (answer.status != 200) {
        (void)client_refused(invocation, &answer);
        return false;
    }
    overview->whole = answer.body;
    json_object *queues = json_object_object_get(answer.body, "queues");
    for (size_t i = 0; i < json_object_array_length(queues); i++) {
        json_object *queue = json_object_array_get_idx(queues, i);
        json_object *stats = json_object_object_get(queue, "stats");
        json_object_array_add(overview->queues, stats != NULL
                                                    ? json_object_get(stats)
                                                    : silent(text_field(queue, "queue", "")));
    }
    return true;
}
