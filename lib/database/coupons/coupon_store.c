#include "lib/database/coupons/coupon_store.h"

#include "lib/database/store_refusal.h"
#include "lib/store/postgres_array.h"

static const char *time_or_null(struct arena *arena, int64_t ms)
{
    return ms == COUPON_NO_TIME ? NULL : arena_int(arena, ms);
}

/* For a call that writes. */
static enum coupon_outcome refused(const struct postgres *postgres, enum postgres_outcome outcome,
                                   const char *call)
{
    switch (store_refusal_of(postgres, outcome, call)) {
    case STORE_RETRY:
    case STORE_UNAVAILABLE:
        return COUPON_UNAVAILABLE;
    case STORE_UNKNOWN:
        return COUPON_UNKNOWN;
    case STORE_RULE:
    case STORE_DEFECT:
        break;
    }
    return COUPON_FAILED;
}

/* Runs a call that only reads, so that an unknown outcome is harmless. */
static enum coupon_outcome read_rows(struct postgres *postgres, struct arena *arena,
                                     enum query query, const char *const *parameters,
                                     const char *call, const PGresult **result)
{
    enum postgres_outcome outcome = postgres_query(postgres, arena, query, parameters, result);

    if (outcome == POSTGRES_OK) {
        return COUPON_FOUND;
    }
    enum coupon_outcome why = refused(postgres, outcome, call);
    return why == COUPON_UNKNOWN ? COUPON_UNAVAILABLE : why;
}

static enum coupon_outcome read_one(struct postgres *postgres, struct arena *arena,
                                    enum query query, const char *const *parameters,
                                    const char *call, const PGresult **result)
{
    enum coupon_outcome outcome = read_rows(postgres, arena, query, parameters, call, result);

    return outcome == COUPON_FOUND && PQntuples(*result) == 0 ? COUPON_NO_SUCH : outcome;
}

struct str coupon_key(struct arena *arena, struct str event)
{
    /* An idempotency key cannot contain a line feed. */
    return str_of(arena_format(arena, "coupon\n%.*s", STR_ARG(event)));
}

enum coupon_outcome coupon_find(struct postgres *postgres, struct arena *arena, struct str event,
                                struct str member, struct coupon *coupon)
{
    const char *const parameters[] = {arena_copy(arena, event), arena_copy(arena, member)};
    const PGresult *result;
    enum coupon_outcome outcome =
        read_one(postgres, arena, QUERY_COUPON_FIND, parameters, "coupon_find", &result);

    *coupon = (struct coupon){0};
    if (outcome == COUPON_FOUND) {
        coupon->id = postgres_text(result, 0, 0);
        coupon->code = postgres_text(result, 0, 1);
        coupon->issued_ms = postgres_int(result, 0, 2, 0);
        coupon->admission = postgres_text(result, 0, 3);
    }
    return outcome;
}

enum coupon_outcome coupons_left(struct postgres *postgres, struct arena *arena, struct str event)
{
    const char *const parameters[] = {arena_copy(arena, event)};
    const PGresult *result;
    enum coupon_outcome outcome =
        read_one(postgres, arena, QUERY_COUPONS_LEFT, parameters, "coupons_left", &result);

    if (outcome == COUPON_FOUND && !str_equal(postgres_text(result, 0, 0), STR("t"))) {
        return COUPON_NO_SUCH;
    }
    return outcome;
}

enum coupon_outcome coupon_event_find(struct postgres *postgres, struct arena *arena, struct str id,
                                      bool counted, struct coupon_event *event)
{
    const char *const parameters[] = {arena_copy(arena, id), counted ? "t" : "f"};
    const PGresult *result;
    enum coupon_outcome outcome = read_one(postgres, arena, QUERY_COUPON_EVENT_FIND, parameters,
                                           "coupon_event_find", &result);

    *event = (struct coupon_event){0};
    if (outcome == COUPON_FOUND) {
        event->id = postgres_text(result, 0, 0);
        event->name = postgres_text(result, 0, 1);
        event->queue = postgres_text(result, 0, 2);
        event->captcha = postgres_text(result, 0, 3);
        event->opens_ms = postgres_int(result, 0, 4, COUPON_NO_TIME);
        event->ends_ms = postgres_int(result, 0, 5, COUPON_NO_TIME);
        event->created_ms = postgres_int(result, 0, 6, 0);
        event->updated_ms = postgres_int(result, 0, 7, 0);
        event->now_ms = postgres_int(result, 0, 8, 0);
        event->issued = postgres_int(result, 0, 9, 0);
        event->left = postgres_int(result, 0, 10, 0);
    }
    return outcome;
}

enum coupon_outcome coupon_event_put(struct postgres *postgres, struct arena *arena,
                                     const struct coupon_event *event,
                                     const struct change_author *author)
{
    const char *const parameters[] = {
        arena_copy(arena, event->id),
        arena_copy(arena, event->name),
        arena_copy(arena, event->queue),
        time_or_null(arena, event->opens_ms),
        time_or_null(arena, event->ends_ms),
        arena_copy(arena, event->captcha),
        author->actor,
        author->request_id,
    };
    const PGresult *result;
    enum postgres_outcome outcome =
        postgres_query(postgres, arena, QUERY_COUPON_EVENT_PUT, parameters, &result);

    if (outcome == POSTGRES_OK) {
        return str_equal(postgres_text(result, 0, 0), STR("t")) ? COUPON_CREATED : COUPON_FOUND;
    }
    if (outcome == POSTGRES_REFUSED && store_refusal_is(postgres, "SL009")) {
        return COUPON_QUEUE_GONE;
    }
    if (outcome == POSTGRES_REFUSED && store_refusal_is(postgres, "SL012")) {
        return COUPON_QUEUE_FIXED;
    }
    return refused(postgres, outcome, "coupon_event_put");
}

bool coupon_code_is_valid(struct str code)
{
    for (size_t i = 0; i < code.n; i++) {
        if (code.p[i] < '!' || code.p[i] > '~') {
            return false;
        }
    }
    return code.n >= 1 && code.n <= COUPON_CODE_MAX;
}

enum coupon_outcome coupons_add(struct postgres *postgres, struct arena *arena, struct str event,
                                const struct str *codes, size_t count, const struct str **known,
                                size_t *known_count)
{
    const char *const parameters[] = {arena_copy(arena, event),
                                      postgres_text_array(arena, codes, count)};
    const PGresult *result;
    enum postgres_outcome outcome =
        postgres_query(postgres, arena, QUERY_COUPONS_ADD, parameters, &result);

    *known_count = 0;
    if (outcome != POSTGRES_OK) {
        return refused(postgres, outcome, "coupons_add");
    }
    *known_count = (size_t)PQntuples(result);
    struct str *found = arena_alloc(arena, (*known_count + 1) * sizeof(*found));
    for (int i = 0; i < PQntuples(result); i++) {
        found[i] = postgres_text(result, i, 0);
    }
    *known = found;
    return COUPON_FOUND;
}

enum postgres_outcome coupons_note(struct postgres *postgres, struct arena *arena,
                                   const struct change_author *author, struct str event,
                                   size_t count, bool generated)
{
    const char *const parameters[] = {
        author->actor,
        generated ? "coupons.generate" : "coupons.add",
        arena_format(arena, "coupon-event/%.*s", STR_ARG(event)),
        author->request_id,
        arena_format(arena, "{\"coupons\":%zu}", count),
    };
    const PGresult *result;

    return postgres_query(postgres, arena, QUERY_AUDIT_NOTE, parameters, &result);
}

enum coupon_outcome coupons_page(struct postgres *postgres, struct arena *arena, struct str event,
                                 struct str after, int64_t limit,
                                 const struct coupon_owner **owners, size_t *count)
{
    const char *const parameters[] = {arena_copy(arena, event), arena_copy(arena, after),
                                      arena_int(arena, limit)};
    const PGresult *result;
    enum coupon_outcome outcome =
        read_rows(postgres, arena, QUERY_COUPONS_PAGE, parameters, "coupons_page", &result);

    *count = 0;
    if (outcome != COUPON_FOUND) {
        return outcome;
    }
    *count = (size_t)PQntuples(result);
    struct coupon_owner *found = arena_alloc(arena, (*count + 1) * sizeof(*found));
    for (int i = 0; i < PQntuples(result); i++) {
        found[i].member = postgres_text(result, i, 0);
        found[i].code = postgres_text(result, i, 1);
        found[i].issued_ms = postgres_int(result, i, 2, 0);
        found[i].epoch = postgres_int(result, i, 3, 0);
        found[i].seq = postgres_int(result, i, 4, 0);
    }
    *owners = found;
    return COUPON_FOUND;
}

enum coupon_outcome coupon_result_read(struct postgres *postgres, struct arena *arena,
                                       struct str event, struct coupon_result *read)
{
    const char *const parameters[] = {arena_copy(arena, event)};
    const PGresult *result;
    enum coupon_outcome outcome =
        read_one(postgres, arena, QUERY_COUPON_RESULT, parameters, "coupon_result", &result);

    *read = (struct coupon_result){0};
    if (outcome == COUPON_FOUND) {
        read->event = postgres_text(result, 0, 0);
        read->queue = postgres_text(result, 0, 1);
        read->opens_ms = postgres_int(result, 0, 2, COUPON_NO_TIME);
        read->ends_ms = postgres_int(result, 0, 3, COUPON_NO_TIME);
        read->now_ms = postgres_int(result, 0, 4, 0);
        read->first_ms = postgres_int(result, 0, 5, COUPON_NO_TIME);
        read->last_ms = postgres_int(result, 0, 6, COUPON_NO_TIME);
        read->issued = postgres_int(result, 0, 7, 0);
        read->left = postgres_int(result, 0, 8, 0);
        read->served = postgres_text(result, 0, 9);
    }
    return outcome;
}
