/*
 * POST /v1/admin/queues/{queue}/codes — adds invite or priority codes, given or generated.
 *
 * Request   {"kind": "invite"|"priority", "codes": [..] or "generate": n, "uses": 1, "expiresAt":
 *           null}: each code is valid for `uses` members; at most 10000 codes a request
 * Reply     201 {"queue", "kind", "uses", "added", "known"} and, of generated ones, "codes": they
 *           are shown only here. known: how many existed before, which stay unchanged
 * Errors    401 UNAUTHENTICATED, 403 FORBIDDEN, 400 INVALID_REQUEST with the pointer;
 *           404 NOT_FOUND, 503 ORDERS_UNAVAILABLE: a part may be stored; 503 ADMISSION_UNAVAILABLE:
 *           stored, takes effect when Redis is back
 * Touches   sql/queries/queues/queue_get.sql, audit_note.sql, codes_add.sql;
 *           lua/line/codes_load.lua
 * Roles     operator
 */
#include <inttypes.h>

#include "fcgi-app/http/problem.h"
#include "fcgi-app/operator/body_reader.h"
#include "fcgi-app/operator/queues/queue_answer.h"
#include "fcgi-app/pool/handler.h"
#include "lib/admission/line/codes.h"
#include "lib/admission/queues/queue_setting_value.h"
#include "lib/base/clock.h"
#include "lib/database/audit/audit_store.h"
#include "lib/database/queues/code_store.h"

enum { CODES_MAX = 10000, USES_MAX = 1000000000 };

/** The codes to add. */
struct order_of_codes {
    enum code_kind kind;
    int64_t uses;
    int64_t ends_ms;
    size_t count;
    struct str *codes;
    bool fresh; /* generated here */
};

static bool read_whole(json_object *value, int64_t maximum, int64_t *number)
{
    *number = json_object_get_int64(value);
    return json_object_is_type(value, json_type_int) && *number >= 1 && *number <= maximum;
}

static bool read_list(const struct body_reader *reader, json_object *list,
                      struct order_of_codes *order)
{
    size_t count = json_object_is_type(list, json_type_array) ? json_object_array_length(list) : 0;

    if (count < 1 || count > CODES_MAX) {
        return body_refuse(reader, "/codes", "codes must be an array of 1 to 10000 codes.");
    }
    order->count = count;
    order->codes = arena_alloc(reader->request->arena, count * sizeof(*order->codes));
    for (size_t i = 0; i < count; i++) {
        order->codes[i] = body_text(json_object_array_get_idx(list, i));
        if (!code_is_sound(order->codes[i])) {
            return body_refuse(
                reader, arena_format(reader->request->arena, "/codes/%zu", i),
                "A code must have 4 to 64 letters or digits, not counting hyphens and spaces.");
        }
    }
    return true;
}

static void make_codes(struct arena *arena, size_t count, struct order_of_codes *order)
{
    order->fresh = true;
    order->count = count;
    order->codes = arena_alloc(arena, count * sizeof(*order->codes));
    for (size_t i = 0; i < count; i++) {
        char *code = arena_alloc(arena, CODE_GENERATED_TEXT + 1);
        code_generate(code);
        order->codes[i] = str_of(code);
    }
}

static bool read_order(const struct request *request, struct response *response, json_object *body,
                       struct order_of_codes *order)
{
    static const char *const FIELDS[] = {"kind", "codes", "generate", "uses", "expiresAt", NULL};
    const struct body_reader reader = {.request = request, .response = response};
    json_object *codes = NULL;
    json_object *generate = NULL;
    json_object *uses = NULL;
    json_object *ends = NULL;
    int64_t count = 0;

    if (!body_only_known(&reader, body, "", FIELDS)) {
        return false;
    }
    if (!code_kind_parse(body_text(json_object_object_get(body, "kind")), &order->kind)) {
        return body_refuse(&reader, "/kind", "kind must be invite or priority.");
    }
    order->uses = 1;
    if (json_object_object_get_ex(body, "uses", &uses) &&
        !read_whole(uses, USES_MAX, &order->uses)) {
        return body_refuse(&reader, "/uses", "uses must be a whole number from 1 to 1000000000.");
    }
    if (json_object_object_get_ex(body, "expiresAt", &ends) && ends != NULL &&
        (!rfc3339_parse(body_text(ends), &order->ends_ms) || order->ends_ms < 1)) {
        return body_refuse(
            &reader, "/expiresAt",
            "expiresAt must be an RFC 3339 time with a zone, from 1970 on, or null.");
    }
    bool listed = json_object_object_get_ex(body, "codes", &codes);
    bool fresh = json_object_object_get_ex(body, "generate", &generate);
    if (listed == fresh) {
        return body_refuse(&reader, "", "Send either codes or generate.");
    }
    if (listed) {
        return read_list(&reader, codes, order);
    }
    if (!read_whole(generate, CODES_MAX, &count)) {
        return body_refuse(&reader, "/generate",
                           "generate must be a whole number from 1 to 10000.");
    }
    make_codes(request->arena, (size_t)count, order);
    return true;
}

/** Stores the codes and loads them into Redis, which may have them already. */
static bool add_codes_in_parts(const struct services *services, const struct request *request,
                               struct response *response, struct str queue,
                               const struct order_of_codes *order, int64_t *added)
{
    struct str hashes[CODES_PER_CALL];
    struct code_entry entries[CODES_PER_CALL];
    bool in_redis = true;

    for (size_t at = 0; at < order->count; at += CODES_PER_CALL) {
        size_t part = order->count - at < CODES_PER_CALL ? order->count - at : CODES_PER_CALL;
        int64_t new_ones = 0;
        for (size_t i = 0; i < part; i++) {
            hashes[i] = code_hash(request->arena, order->codes[at + i]);
            entries[i] = (struct code_entry){.hash = hashes[i],
                                             .kind = str_of(code_kind_word(order->kind)),
                                             .left = order->uses,
                                             .ends_ms = order->ends_ms};
        }
        if (!operator_store_answered(services, request, response,
                                     code_store_add(services->postgres, request->arena, queue,
                                                    order->kind, hashes, part, order->uses,
                                                    order->ends_ms, &new_ones))) {
            return false;
        }
        *added += new_ones;
        /* If PostgreSQL already had some of the codes, perhaps with used uses, reconcile loads
         * them. */
        in_redis = in_redis &&
                   (new_ones < (int64_t)part || codes_load(services->redis, request->arena, queue,
                                                           entries, part, NULL, 0, &new_ones));
    }
    if (!in_redis) {
        problem_answer(request, response, PROBLEM_ADMISSION_UNAVAILABLE,
                       "The codes are stored and take effect when Redis is back.");
    }
    return in_redis;
}

static void answer_added(struct response *response, struct str queue,
                         const struct order_of_codes *order, int64_t added)
{
    json_object *answer = json_object_new_object();

    json_object_object_add(answer, "queue", text_json(queue));
    json_object_object_add(answer, "kind", json_object_new_string(code_kind_word(order->kind)));
    json_object_object_add(answer, "uses", json_object_new_int64(order->uses));
    json_object_object_add(answer, "added", json_object_new_int64(added));
    json_object_object_add(answer, "known", json_object_new_int64((int64_t)order->count - added));
    if (order->fresh) {
        json_object *codes = json_object_new_array();
        for (size_t i = 0; i < order->count; i++) {
            json_object_array_add(codes, text_json(order->codes[i]));
        }
        json_object_object_add(answer, "codes", codes);
    }
    response_json_object(response, 201, answer);
    (void)json_object_put(answer);
}

void add_codes(const struct services *services, const struct request *request,
               struct response *response)
{
    struct operator_call call;
    struct order_of_codes order = {0};
    struct queue_row row;
    bool found = false;
    int64_t added = 0;

    if (!operator_begin(services, request, response, false, &call)) {
        return;
    }
    json_object *body = operator_body(request, response);
    if (body == NULL || !read_order(request, response, body, &order) ||
        !operator_store_answered(
            services, request, response,
            queue_store_get(services->postgres, request->arena, call.id, &found, &row))) {
        return;
    }
    if (!found) {
        (void)queue_not_found(request, response, call.id);
        return;
    }
    const char *details = arena_format(
        request->arena, "{\"after\":{\"kind\":\"%s\",\"codes\":%zu,\"uses\":%" PRId64 "}}",
        code_kind_word(order.kind), order.count, order.uses);
    if (!operator_store_answered(services, request, response,
                                 audit_store_note(services->postgres, request->arena, &call.author,
                                                  "codes.add", call.id, details)) ||
        !add_codes_in_parts(services, request, response, call.id, &order, &added)) {
        return;
    }
    operator_log_change("codes.added", &call, code_kind_word(order.kind));
    answer_added(response, call.id, &order, added);
}
