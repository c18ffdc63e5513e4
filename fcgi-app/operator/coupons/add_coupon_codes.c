/*
 * POST /v1/admin/coupon-events/{event}/codes — adds coupons to an event, with given codes or
 * generated, unguessable ones. They are issued in the order in which they were added; a queue that
 * was sold out opens again.
 *
 * Request   {"codes": [..]} or {"generate": n}, n ≤ 100000; a code has 1 to 64 printable ASCII
 *           characters, no spaces
 * Reply     201 {"event", "added", "known", "knownCodes", "codes"}. known: how many the event had
 *           before, which stay unchanged; knownCodes: the first 100 of them; codes: the generated
 *           ones, none otherwise
 * Errors    401 UNAUTHENTICATED, 403 FORBIDDEN, 400 INVALID_REQUEST with the pointer, also for a
 *           code twice in the list; 404 NOT_FOUND, 503 ORDERS_UNAVAILABLE: a part may be stored;
 *           sending the same list again adds the rest
 * Touches   sql/queries/coupons/coupon_event_find.sql, audit_note.sql, coupons_add.sql,
 *           availability.sql, lua/goods/sold_out.lua
 * Roles     operator
 */
#include <stdlib.h>
#include <string.h>

#include "fcgi-app/http/problem.h"
#include "fcgi-app/operator/coupons/coupon_event_answer.h"
#include "fcgi-app/operator/operator_call.h"
#include "fcgi-app/pool/handler.h"
#include "lib/admission/line/codes.h"
#include "lib/admission/queues/queue_setting_value.h"
#include "lib/base/log.h"
#include "lib/database/goods/availability.h"

enum { GENERATE_MAX = 100000, CODES_PER_STATEMENT = 2000, KNOWN_SHOWN = 100 };

/** The codes to add, and the result. */
struct addition {
    size_t count;
    struct str *codes;
    bool fresh; /* generated here */
    size_t known;
    struct str shown[KNOWN_SHOWN];
};

/** A code and its index in the list. */
struct listed {
    struct str code;
    size_t index;
};

static bool refuse(const struct request *request, struct response *response, const char *pointer,
                   const char *sentence)
{
    problem_answer_at(request, response, pointer, "%s", sentence);
    return false;
}

static int compare_listed(const void *one, const void *other)
{
    const struct listed *a = one;
    const struct listed *b = other;
    size_t shorter = a->code.n < b->code.n ? a->code.n : b->code.n;
    int order = memcmp(a->code.p, b->code.p, shorter);

    if (order != 0) {
        return order;
    }
    if (a->code.n != b->code.n) {
        return a->code.n < b->code.n ? -1 : 1;
    }
    return a->index < b->index ? -1 : a->index > b->index;
}

/** Refuses a list with a duplicate code: its sender expects two coupons. */
static bool each_once(const struct request *request, struct response *response,
                      const struct addition *addition)
{
    struct listed *list = arena_alloc(request->arena, addition->count * sizeof(*list));

    for (size_t i = 0; i < addition->count; i++) {
        list[i] = (struct listed){.code = addition->codes[i], .index = i};
    }
    qsort(list, addition->count, sizeof(*list), compare_listed);
    for (size_t i = 1; i < addition->count; i++) {
        if (str_equal(list[i - 1].code, list[i].code)) {
            problem_answer_at(request, response,
                              arena_format(request->arena, "/codes/%zu", list[i].index),
                              "This code is already in the list, at index %zu. Nothing was added.",
                              list[i - 1].index);
            return false;
        }
    }
    return true;
}

static bool read_list(const struct request *request, struct response *response, json_object *list,
                      struct addition *addition)
{
    size_t count = json_object_is_type(list, json_type_array) ? json_object_array_length(list) : 0;

    if (count < 1) {
        return refuse(request, response, "/codes", "codes must be an array of at least one code.");
    }
    addition->count = count;
    addition->codes = arena_alloc(request->arena, count * sizeof(*addition->codes));
    for (size_t i = 0; i < count; i++) {
        json_object *value = json_object_array_get_idx(list, i);
        if (json_object_is_type(value, json_type_string)) {
            addition->codes[i] =
                str_sized(json_object_get_string(value), (size_t)json_object_get_string_len(value));
        }
        if (!coupon_code_is_valid(addition->codes[i])) {
            return refuse(request, response, arena_format(request->arena, "/codes/%zu", i),
                          "A code must have 1 to 64 printable ASCII characters, none of them a "
                          "space. Nothing was added.");
        }
    }
    return each_once(request, response, addition);
}

static void make_codes(struct arena *arena, struct str *codes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        char *code = arena_alloc(arena, CODE_GENERATED_TEXT + 1);
        code_generate(code);
        codes[i] = str_of(code);
    }
}

static bool read_addition(const struct request *request, struct response *response,
                          json_object *body, struct addition *addition)
{
    json_object *codes = NULL;
    json_object *generate = NULL;
    bool listed = json_object_object_get_ex(body, "codes", &codes);
    bool fresh = json_object_object_get_ex(body, "generate", &generate);

    json_object_object_foreach(body, name, value)
    {
        (void)value;
        if (strcmp(name, "codes") != 0 && strcmp(name, "generate") != 0) {
            return refuse(
                request, response,
                arena_format(request->arena, "/%s", json_pointer_token(request->arena, name)),
                "There is no such field.");
        }
    }
    if (listed == fresh) {
        return refuse(request, response, "", "Send either codes or generate.");
    }
    if (listed) {
        return read_list(request, response, codes, addition);
    }
    int64_t count = json_object_get_int64(generate);
    if (!json_object_is_type(generate, json_type_int) || count < 1 || count > GENERATE_MAX) {
        return refuse(request, response, "/generate",
                      "generate must be a whole number from 1 to 100000.");
    }
    addition->fresh = true;
    addition->count = (size_t)count;
    addition->codes = arena_alloc(request->arena, addition->count * sizeof(*addition->codes));
    make_codes(request->arena, addition->codes, addition->count);
    return true;
}

/** Stores the codes in parts. A collision of 80 random bits means that the generator is broken. */
static bool store(const struct services *services, const struct request *request,
                  struct response *response, struct str event, struct addition *addition)
{
    for (size_t at = 0; at < addition->count; at += CODES_PER_STATEMENT) {
        size_t left = addition->count - at;
        size_t part = left < CODES_PER_STATEMENT ? left : CODES_PER_STATEMENT;
        const struct str *known = NULL;
        size_t known_count = 0;
        enum coupon_outcome outcome = coupons_add(services->postgres, request->arena, event,
                                                  &addition->codes[at], part, &known, &known_count);
        if (outcome != COUPON_FOUND) {
            problem_answer(
                request, response,
                outcome == COUPON_FAILED ? PROBLEM_INTERNAL_ERROR : PROBLEM_ORDERS_UNAVAILABLE,
                "PostgreSQL stopped answering after %zu of %zu codes. %s", at, addition->count,
                addition->fresh ? "Check how many coupons the event has before you generate more."
                                : "Send the same list again: stored codes are not changed.");
            return false;
        }
        for (size_t i = 0; i < known_count; i++, addition->known++) {
            if (addition->known < KNOWN_SHOWN) {
                addition->shown[addition->known] = known[i];
            }
        }
    }
    return true;
}

static void answer_added(struct response *response, struct str event,
                         const struct addition *addition)
{
    json_object *answer = json_object_new_object();
    json_object *known = json_object_new_array();
    json_object *codes = json_object_new_array();

    for (size_t i = 0; i < addition->known && i < KNOWN_SHOWN; i++) {
        json_object_array_add(known, text_json(addition->shown[i]));
    }
    for (size_t i = 0; addition->fresh && i < addition->count; i++) {
        json_object_array_add(codes, text_json(addition->codes[i]));
    }
    json_object_object_add(answer, "event", text_json(event));
    json_object_object_add(answer, "added",
                           json_object_new_int64((int64_t)(addition->count - addition->known)));
    json_object_object_add(answer, "known", json_object_new_int64((int64_t)addition->known));
    json_object_object_add(answer, "knownCodes", known);
    json_object_object_add(answer, "codes", codes);
    response_json_object(response, 201, answer);
    (void)json_object_put(answer);
}

void add_coupon_codes(const struct services *services, const struct request *request,
                      struct response *response)
{
    struct operator_call call;
    struct addition addition = {0};
    struct coupon_event event;

    if (!operator_begin(services, request, response, false, &call)) {
        return;
    }
    json_object *body = operator_body(request, response);
    if (body == NULL || !read_addition(request, response, body, &addition) ||
        !coupon_event_require(services, request, response, call.id, &event) ||
        !operator_store_answered(services, request, response,
                                 coupons_note(services->postgres, request->arena, &call.author,
                                              call.id, addition.count, addition.fresh)) ||
        !store(services, request, response, call.id, &addition)) {
        return;
    }
    operator_log_change("coupons.added", &call, addition.fresh ? "generate" : "add");
    if (!availability_publish(services->postgres, services->redis, request->arena, event.queue,
                              false)) {
        log_event(LOG_LEVEL_WARNING, "coupons.availability_later",
                  LOG_FIELDS(LOG_STR("queue", event.queue)));
    }
    answer_added(response, call.id, &addition);
}
