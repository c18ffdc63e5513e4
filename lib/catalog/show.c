#include "lib/catalog/catalog.h"

#include <json-c/json.h>

#include "lib/base/log.h"

static struct str text_member(struct arena *arena, json_object *object, const char *name)
{
    json_object *member = NULL;

    if (!json_object_object_get_ex(object, name, &member) ||
        !json_object_is_type(member, json_type_string)) {
        return str_sized(NULL, 0);
    }
    struct str text =
        str_sized(json_object_get_string(member), (size_t)json_object_get_string_len(member));
    return str_sized(arena_copy(arena, text), text.n);
}

static int64_t number_member(json_object *object, const char *name)
{
    json_object *member = NULL;

    return json_object_object_get_ex(object, name, &member) ? json_object_get_int64(member) : 0;
}

enum catalog_outcome catalog_show(struct catalog *catalog, struct arena *arena, struct str id,
                                  struct catalog_show *show)
{
    struct catalog_object found;
    enum catalog_outcome outcome = catalog_get(catalog, arena, CATALOG_SHOW, id, &found);

    *show = (struct catalog_show){.version = 0};
    if (outcome != CATALOG_FOUND) {
        return outcome;
    }
    json_object *object = json_tokener_parse(arena_copy(arena, found.text));
    show->queue = text_member(arena, object, "queue");
    show->currency = text_member(arena, object, "currency");
    show->max_seats = number_member(object, "maxSeatsPerMember");
    show->version = found.version;
    (void)json_object_put(object);
    if (show->queue.n == 0 || show->max_seats < 1) {
        log_event(LOG_LEVEL_ERROR, "catalog.unreadable", LOG_FIELDS(LOG_STR("show", id)));
        return CATALOG_UNAVAILABLE;
    }
    return CATALOG_FOUND;
}
