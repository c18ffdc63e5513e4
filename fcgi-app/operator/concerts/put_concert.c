/*
 * PUT /v1/admin/concerts/{concert} — creates or replaces a concert; its shows are set by
 * PUT /v1/admin/shows/{show}.
 *
 * Request   {"title", "venue", "description": ""}; the other fields of GET's answer are ignored
 * Reply     201 the new concert, 200 the changed one, as GET returns it; repeating it changes
 *           nothing
 * Errors    401 UNAUTHENTICATED, 403 FORBIDDEN, 400 INVALID_REQUEST with the pointer;
 *           503 ORDERS_UNAVAILABLE
 * Touches   sql/queries/seats/concert_put.sql, concert_find.sql, outbox_done.sql; the catalogue.
 *           Without Redis the outbox updates it later
 * Roles     operator
 */
#include "fcgi-app/http/problem.h"
#include "fcgi-app/operator/body_reader.h"
#include "fcgi-app/operator/concerts/show_answer.h"
#include "fcgi-app/operator/operator_call.h"
#include "fcgi-app/pool/handler.h"
#include "lib/base/log.h"
#include "lib/catalog/catalog.h"
#include "lib/database/outbox/outbox_store.h"

static bool read_concert(const struct body_reader *reader, json_object *body,
                         struct concert_record *concert)
{
    static const char *const FIELDS[] = {"title",   "venue",     "description", "concert",
                                         "version", "createdAt", "updatedAt",   NULL};

    return body_only_known(reader, body, "", FIELDS) &&
           body_read_text(reader, json_object_object_get(body, "title"), "/title", 1,
                          CONCERT_TITLE_MAX, false, &concert->title) &&
           body_read_text(reader, json_object_object_get(body, "venue"), "/venue", 1,
                          CONCERT_VENUE_MAX, false, &concert->venue) &&
           body_read_text(reader, json_object_object_get(body, "description"), "/description", 0,
                          CONCERT_DESCRIPTION_MAX, true, &concert->description);
}

/* If this fails, the outbox does it. */
static void publish(const struct services *services, struct arena *arena, struct str concert,
                    int64_t outbox_row)
{
    if (!catalog_concert_changed(services->redis, arena, concert)) {
        log_event(LOG_LEVEL_WARNING, "concert.catalogue_later",
                  LOG_FIELDS(LOG_STR("concert", concert)));
    } else if (outbox_row > 0) {
        (void)outbox_done(services->postgres, arena, &outbox_row, 1);
    }
}

void put_concert(const struct services *services, const struct request *request,
                 struct response *response)
{
    const struct body_reader reader = {.request = request, .response = response};
    struct operator_call call;
    struct concert_record stored;
    int64_t outbox_row;

    if (!operator_begin(services, request, response, false, &call)) {
        return;
    }
    struct concert_record concert = {.id = call.id};
    json_object *body = operator_body(request, response);
    if (body == NULL || !read_concert(&reader, body, &concert)) {
        return;
    }
    enum show_outcome put =
        concert_store_put(services->postgres, request->arena, &concert, &call.author, &outbox_row);
    if (put != SHOW_CREATED && put != SHOW_CHANGED && put != SHOW_SAME) {
        (void)show_refuse(request, response, put, "concert", call.id);
        return;
    }
    if (put != SHOW_SAME) {
        operator_log_change("concert.changed", &call, put == SHOW_CREATED ? "create" : "change");
    }
    publish(services, request->arena, call.id, outbox_row);
    enum show_outcome found =
        concert_store_find(services->postgres, request->arena, call.id, &stored);
    if (found != SHOW_FOUND) {
        (void)show_refuse(request, response, found, "concert", call.id);
        return;
    }
    concert_answer(response, put == SHOW_CREATED ? 201 : 200, &stored);
}
