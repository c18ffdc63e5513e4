#include "sluicectl/server/pages.h"

#include "sluicectl/server/client.h"

enum { OBJECTS_MAX = 100000 };

static void release_json(void *object)
{
    (void)json_object_put(object);
}

json_object *pages_read(const struct invocation *invocation, const char *path, const char *name)
{
    json_object *all = json_object_new_array();
    const char *after = "";

    arena_on_reset(invocation->arena, release_json, all);
    while (after != NULL) {
        struct client_answer answer;
        /* Ids need no encoding. */
        if (!client_call(invocation, "GET",
                         arena_format(invocation->arena, "%s%s%s", path,
                                      after[0] != '\0' ? "?after=" : "", after),
                         NULL, &answer)) {
            return NULL;
        }
        json_object *page = json_object_object_get(answer.body, name);
        for (size_t i = 0; i < json_object_array_length(page); i++) {
            json_object_array_add(all, json_object_get(json_object_array_get_idx(page, i)));
        }
        if (json_object_array_length(all) > OBJECTS_MAX) {
            (void)failed("there are more than %d of them", OBJECTS_MAX);
            return NULL;
        }
        after = text_field(answer.body, "next", NULL);
    }
    return all;
}
