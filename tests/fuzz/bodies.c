/*
 * Bodies that operators and members send, through the routes that read them, up to what would be
 * stored: what gets there keeps the bounds that the stores rely on, and whatever does not is
 * answered. First line: which route; the rest: the body. Callers and stores are played here; behind
 * them PostgreSQL is never there.
 */
#include <string.h>

#include "fcgi-app/http/caller.h"
#include "fcgi-app/http/json_grammar.h"
#include "fcgi-app/http/problem.h"
#include "fcgi-app/operator/concerts/show_answer.h"
#include "fcgi-app/operator/coupons/coupon_event_answer.h"
#include "fcgi-app/operator/queues/queue_answer.h"
#include "fcgi-app/pool/handler.h"
#include "fcgi-app/pool/transaction_handler.h"
#include "lib/admission/seats/seats.h"
#include "lib/base/identifier.h"
#include "lib/database/audit/audit_store.h"
#include "lib/database/coupons/coupon_store.h"
#include "lib/database/goods/product_store.h"
#include "lib/database/queues/code_store.h"
#include "lib/database/seats/show_store.h"
#include "tests/fuzz/fuzz.h"

static bool stored; /* the body came to where it would be stored */
static bool ends;   /* it has an expiresAt that is not null */

static void is_text(struct str text, size_t least, size_t most, bool lines)
{
    size_t characters = 0;

    for (size_t i = 0; i < text.n; i++) {
        unsigned char c = (unsigned char)text.p[i];
        REQUIRE((c >= 0x20 && c != 0x7f) || (lines && c == '\n'));
        characters += (c & 0xc0) != 0x80;
    }
    REQUIRE(characters >= least && characters <= most);
}

static void is_currency(struct str text)
{
    REQUIRE(text.n == 3);
    for (size_t i = 0; i < text.n; i++) {
        REQUIRE(text.p[i] >= 'A' && text.p[i] <= 'Z');
    }
}

static bool unavailable(const struct request *request, struct response *response)
{
    problem_answer(request, response, PROBLEM_ORDERS_UNAVAILABLE, "Played.");
    return false;
}

bool operator_begin(const struct services *services, const struct request *request,
                    struct response *response, bool reads, struct operator_call *call)
{
    (void)services;
    (void)response;
    REQUIRE(!reads);
    *call = (struct operator_call){.id = request->parameters[0]};
    return true;
}

json_object *operator_body(const struct request *request, struct response *response)
{
    const char *why;
    json_object *body = request_json(request, &why);

    if (body == NULL) {
        problem_answer_at(request, response, "", "%s", why);
    }
    return body;
}

bool operator_store_answered(const struct services *services, const struct request *request,
                             struct response *response, enum postgres_outcome outcome)
{
    (void)services;
    return outcome == POSTGRES_OK || unavailable(request, response);
}

bool show_refuse(const struct request *request, struct response *response,
                 enum show_outcome outcome, const char *what, struct str id)
{
    (void)outcome;
    (void)what;
    (void)id;
    return unavailable(request, response);
}

bool coupon_event_refuse(const struct request *request, struct response *response,
                         enum coupon_outcome outcome, struct str id)
{
    (void)outcome;
    (void)id;
    return unavailable(request, response);
}

bool coupon_event_require(const struct services *services, const struct request *request,
                          struct response *response, struct str id, struct coupon_event *event)
{
    (void)services;
    (void)request;
    (void)response;
    *event = (struct coupon_event){.id = id};
    return true;
}

bool caller_require(const struct services *services, const struct request *request,
                    struct response *response, struct caller *caller)
{
    (void)services;
    (void)request;
    (void)response;
    memset(caller, 0, sizeof(*caller));
    return true;
}

enum postgres_outcome audit_store_name_author(struct postgres *postgres, struct arena *arena,
                                              const struct change_author *author)
{
    (void)postgres;
    (void)arena;
    (void)author;
    return POSTGRES_OK;
}

enum postgres_outcome audit_store_note(struct postgres *postgres, struct arena *arena,
                                       const struct change_author *author, const char *action,
                                       struct str id, const char *details)
{
    const char *why;

    (void)postgres;
    (void)arena;
    (void)author;
    (void)action;
    (void)id;
    REQUIRE(json_grammar_holds(str_of(details), 8, &why));
    return POSTGRES_OK;
}

enum product_outcome product_put(struct postgres *postgres, struct arena *arena,
                                 const struct product *product, struct product *now, int64_t *sold)
{
    (void)postgres;
    (void)arena;
    (void)now;
    (void)sold;
    is_text(product->name, 1, PRODUCT_NAME_MAX, false);
    is_currency(product->currency);
    REQUIRE(product->price >= 0 && product->price <= PRODUCT_PRICE_MAX);
    REQUIRE(product->stock >= 0 && product->stock <= PRODUCT_STOCK_MAX);
    REQUIRE(identifier_is_slug(product->queue));
    stored = true;
    return PRODUCT_UNAVAILABLE;
}

enum show_outcome concert_store_put(struct postgres *postgres, struct arena *arena,
                                    const struct concert_record *concert,
                                    const struct change_author *author, int64_t *outbox_row)
{
    (void)postgres;
    (void)arena;
    (void)author;
    (void)outbox_row;
    is_text(concert->title, 1, CONCERT_TITLE_MAX, false);
    is_text(concert->venue, 1, CONCERT_VENUE_MAX, false);
    is_text(concert->description, 0, CONCERT_DESCRIPTION_MAX, true);
    stored = true;
    return SHOW_UNAVAILABLE;
}

enum show_outcome show_store_find(struct postgres *postgres, struct arena *arena, struct str id,
                                  struct show_record *show)
{
    (void)postgres;
    (void)arena;
    (void)id;
    (void)show;
    return SHOW_NONE;
}

struct postgres *postgres_new(const char *conninfo, int64_t statement_timeout_ms,
                              int64_t lock_timeout_ms)
{
    (void)conninfo;
    (void)statement_timeout_ms;
    (void)lock_timeout_ms;
    return NULL;
}

void postgres_free(struct postgres *postgres)
{
    REQUIRE(postgres == NULL);
}

enum show_outcome show_store_put(struct postgres *postgres, struct arena *arena,
                                 const struct show_record *show, const struct plan_seat *seats,
                                 size_t count, const struct change_author *author,
                                 struct show_change *change)
{
    (void)postgres;
    (void)arena;
    (void)author;
    *change = (struct show_change){.fixed_count = 0};
    REQUIRE(identifier_is_slug(show->concert) && identifier_is_slug(show->queue));
    REQUIRE(show->starts_ms >= 0);
    REQUIRE(show->max_seats >= 1 && show->max_seats <= SEATS_MAX);
    REQUIRE(show->hold_ttl_seconds >= HOLD_TTL_SECONDS_MIN &&
            show->hold_ttl_seconds <= HOLD_TTL_SECONDS_MAX);
    REQUIRE(count <= SHOW_SEATS_MAX && (seats != NULL || count == 0));
    for (size_t i = 0; i < count; i++) {
        REQUIRE(identifier_is_seat(seats[i].id));
        is_text(seats[i].section, 0, SEAT_LABEL_MAX, false);
        is_text(seats[i].row, 0, SEAT_LABEL_MAX, false);
        is_text(seats[i].number, 0, SEAT_LABEL_MAX, false);
        REQUIRE(seats[i].price >= 0 && seats[i].price <= SEAT_PRICE_MAX);
    }
    if (count > 0) {
        is_currency(show->currency);
    }
    stored = true;
    return SHOW_UNAVAILABLE;
}

enum coupon_outcome coupon_event_find(struct postgres *postgres, struct arena *arena, struct str id,
                                      bool counted, struct coupon_event *event)
{
    (void)postgres;
    (void)arena;
    (void)id;
    (void)counted;
    (void)event;
    return COUPON_NO_SUCH;
}

enum coupon_outcome coupon_event_put(struct postgres *postgres, struct arena *arena,
                                     const struct coupon_event *event,
                                     const struct change_author *author)
{
    bool bounded = event->opens_ms != COUPON_NO_TIME && event->ends_ms != COUPON_NO_TIME;

    (void)postgres;
    (void)arena;
    (void)author;
    is_text(event->name, 1, COUPON_EVENT_NAME_MAX, false);
    REQUIRE(identifier_is_slug(event->queue) && event->captcha.n >= 4);
    REQUIRE(!bounded || event->opens_ms < event->ends_ms);
    stored = true;
    return COUPON_UNAVAILABLE;
}

bool coupon_code_is_valid(struct str code)
{
    for (size_t i = 0; i < code.n; i++) {
        if (code.p[i] <= 0x20 || code.p[i] > 0x7e) {
            return false;
        }
    }
    return code.n >= 1 && code.n <= 64;
}

enum postgres_outcome coupons_note(struct postgres *postgres, struct arena *arena,
                                   const struct change_author *author, struct str event,
                                   size_t count, bool generated)
{
    (void)postgres;
    (void)arena;
    (void)author;
    (void)event;
    (void)generated;
    REQUIRE(count >= 1);
    return POSTGRES_OK;
}

enum coupon_outcome coupons_add(struct postgres *postgres, struct arena *arena, struct str event,
                                const struct str *codes, size_t count, const struct str **known,
                                size_t *known_count)
{
    (void)postgres;
    (void)arena;
    (void)event;
    (void)known;
    (void)known_count;
    for (size_t i = 0; i < count; i++) {
        REQUIRE(coupon_code_is_valid(codes[i]));
        REQUIRE(i == 0 || i > 100 || !str_equal(codes[i - 1], codes[i]));
    }
    stored = true;
    return COUPON_UNAVAILABLE;
}

enum postgres_outcome queue_store_get(struct postgres *postgres, struct arena *arena, struct str id,
                                      bool *found, struct queue_row *row)
{
    (void)postgres;
    (void)arena;
    (void)id;
    (void)row;
    *found = true;
    return POSTGRES_OK;
}

enum postgres_outcome code_store_add(struct postgres *postgres, struct arena *arena,
                                     struct str queue, enum code_kind kind,
                                     const struct str *hashes, size_t count, int64_t uses,
                                     int64_t ends_ms, int64_t *added)
{
    (void)postgres;
    (void)arena;
    (void)queue;
    (void)added;
    REQUIRE(kind == CODE_INVITE || kind == CODE_PRIORITY);
    REQUIRE(count >= 1 && count <= CODES_PER_CALL && uses >= 1);
    REQUIRE(ends ? ends_ms > 0 : ends_ms == 0);
    for (size_t i = 0; i < count; i++) {
        REQUIRE(hashes[i].n == SHA256_TEXT);
    }
    stored = true;
    return POSTGRES_UNREACHABLE;
}

/* An answer that is whole: a problem, and where it was the body's fault, where. */
static void is_problem(const struct response *response)
{
    const char *why;
    struct str body = buffer_text(&response->body);

    REQUIRE(response->status >= 400 && response->status <= 599);
    REQUIRE(json_grammar_holds(body, 8, &why));
    REQUIRE(stored == (response->status >= 500));
    if (response->status == 400) {
        REQUIRE(memmem(body.p, body.n, "\"pointer\":\"", 11) != NULL);
    }
}

/* Up to the transaction, which none gets to. */
static void coupon(const struct services *services, const struct request *request,
                   struct response *response)
{
    static struct transaction transaction;

    REQUIRE(post_coupon_begin(services, request, response, &transaction) == TRANSACTION_ANSWERED);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct {
        const char *name;
        handler *route;
    } ROUTES[] = {
        {"concert", put_concert},    {"codes", add_codes},          {"coupon", coupon},
        {"event", put_coupon_event}, {"coupons", add_coupon_codes}, {"product", put_product},
        {"show", put_show},
    };
    static const struct settings settings = {.postgres_conninfo = ""};
    static const struct services services = {.pool = POOL_OPERATOR, .settings = &settings};
    static struct response response;
    struct arena *arena = fuzz_arena();
    struct str rest = fuzz_text(data, size);
    struct str name = fuzz_line(arena, &rest);
    const struct request request = {.arena = arena,
                                    .path = STR("/v1/admin/x"),
                                    .request_id = STR("id"),
                                    .parameters = {STR("some-id")},
                                    .body = rest};

    if (response.body.maximum == 0) {
        response_init(&response);
    }
    const char *why;
    ends = json_object_object_get(request_json(&request, &why), "expiresAt") != NULL;
    for (size_t i = 0; i < sizeof(ROUTES) / sizeof(ROUTES[0]); i++) {
        if (str_equal(name, str_of(ROUTES[i].name))) {
            stored = false;
            response_clear(&response);
            ROUTES[i].route(&services, &request, &response);
            is_problem(&response);
        }
    }
    return 0;
}
