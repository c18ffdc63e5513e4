#include "sluicectl/sale/sale_change.h"

#include <string.h>

#include "lib/admission/queues/queue_setting_value.h"
#include "sluicectl/sale/sale_compare.h"
#include "sluicectl/server/client.h"

static void release_json(void *object)
{
    (void)json_object_put(object);
}

static const char *object_path(const struct invocation *invocation,
                               const struct sale_change *change)
{
    return arena_format(invocation->arena, "%s/%s", change->kind->path, change->id);
}

static void add_field(const struct sale_change *change, const char *name, json_object *before,
                      json_object *after)
{
    json_object *field = json_object_new_object();

    json_object_object_add(field, "name", json_object_new_string(name));
    json_object_object_add(field, "before", before);
    json_object_object_add(field, "after", after);
    json_object_array_add(change->fields, field);
}

/** Plans are shown by their size: two lists of fifty thousand seats would be unreadable. */
static void compare_seats(const struct invocation *invocation, const struct sale_change *change)
{
    json_object *wanted =
        sale_seats(invocation->arena, json_object_object_get(change->wanted, "seats"),
                   json_object_object_get(change->wanted, "plan"));
    json_object *present =
        sale_seats(invocation->arena, json_object_object_get(change->present, "seats"), NULL);
    size_t count = json_object_array_length(wanted);
    size_t old = json_object_array_length(present);
    size_t differ = 0;

    for (size_t i = 0; i < count; i++) {
        differ += i >= old || !sale_same(json_object_array_get_idx(wanted, i),
                                         json_object_array_get_idx(present, i));
    }
    if (differ > 0 || count != old) {
        add_field(change, "seats",
                  json_object_new_string(arena_format(invocation->arena, "%zu seats", old)),
                  json_object_new_string(arena_format(invocation->arena,
                                                      "%zu seats, %zu of them new or different",
                                                      count, differ)));
    }
}

/** The setting as the server would store it: with omitted parts filled in. A value that the server
 *  would refuse stays as it is. Lives as long as the arena. */
static json_object *as_stored(const struct invocation *invocation, const char *name,
                              json_object *value)
{
    struct queue_settings_fault fault;
    json_object *stored = NULL;

    for (int i = 0; i < QUEUE_SETTING_COUNT; i++) {
        const struct queue_setting *setting = queue_setting((enum queue_setting_number)i);
        if (strcmp(setting->name, name) == 0 &&
            queue_setting_check(setting, value, invocation->arena, &stored, &fault)) {
            arena_on_reset(invocation->arena, release_json, stored);
            return stored;
        }
    }
    return value;
}

static void compare(const struct invocation *invocation, const struct sale_change *change)
{
    bool is_queue = change->kind->fields == NULL;
    bool seats = false;

    json_object_object_foreach(change->wanted, name, value)
    {
        json_object *before = NULL;
        if (strcmp(name, "seats") == 0 || strcmp(name, "plan") == 0) {
            seats = seats || value != NULL;
            continue;
        }
        json_object *after = is_queue ? as_stored(invocation, name, value) : value;
        bool there = json_object_object_get_ex(change->present, name, &before) != 0;
        if (!there || !sale_same(after, before)) {
            add_field(change, name, json_object_get(before), json_object_get(after));
        }
    }
    if (seats) {
        compare_seats(invocation, change);
    }
}

bool sale_change_find(const struct invocation *invocation, const struct sale_kind *kind,
                      const char *id, json_object *wanted, struct sale_change *change)
{
    struct client_answer answer;

    *change = (struct sale_change){.kind = kind, .id = id, .wanted = wanted};
    if (!client_request(invocation, "GET", object_path(invocation, change), NULL, &answer)) {
        return false;
    }
    if (answer.status != 200 && answer.status != 404) {
        (void)client_refused(invocation, &answer);
        return false;
    }
    change->present = answer.status == 200 ? answer.body : NULL;
    change->fields = json_object_new_array();
    arena_on_reset(invocation->arena, release_json, change->fields);
    compare(invocation, change);
    return true;
}

/** The body of the PUT: the server's fields, overridden by the file's, and the plan only if it
 *  changes. */
static json_object *merged(const struct invocation *invocation, const struct sale_change *change)
{
    json_object *whole = scratch_object(invocation);
    bool seats_differ = false;

    for (size_t i = 0; i < json_object_array_length(change->fields); i++) {
        seats_differ |= strcmp(text_field(json_object_array_get_idx(change->fields, i), "name", ""),
                               "seats") == 0;
    }
    if (change->present != NULL) {
        json_object_object_foreach(change->present, name, value)
        {
            if (strcmp(name, "seats") != 0 && sale_field_is_known(change->kind, name)) {
                json_object_object_add(whole, name, json_object_get(value));
            }
        }
    }
    json_object_object_foreach(change->wanted, field, wanted)
    {
        bool plan = strcmp(field, "seats") == 0 || strcmp(field, "plan") == 0;
        if (!plan || seats_differ) {
            json_object_object_add(whole, field, json_object_get(wanted));
        }
    }
    return whole;
}

/** Only the differences, so that concurrent changes of other fields are kept. */
static json_object *differing(const struct invocation *invocation, const struct sale_change *change)
{
    json_object *settings = scratch_object(invocation);

    for (size_t i = 0; i < json_object_array_length(change->fields); i++) {
        json_object *field = json_object_array_get_idx(change->fields, i);
        json_object_object_add(settings, text_field(field, "name", ""),
                               json_object_get(json_object_object_get(field, "after")));
    }
    return settings;
}

bool sale_change_make(const struct invocation *invocation, const struct sale_change *change)
{
    bool patches = change->kind->fields == NULL && change->present != NULL;
    json_object *body = patches ? differing(invocation, change) : merged(invocation, change);
    struct client_answer answer;

    if (!client_request(invocation, patches ? "PATCH" : "PUT", object_path(invocation, change),
                        body, &answer)) {
        return false;
    }
    if (answer.status == 200 || answer.status == 201) {
        return true;
    }
    (void)client_refused(invocation, &answer);
    (void)failed("%s/%s could not be applied; everything before it was", change->kind->one,
                 change->id);
    return false;
}
