/*
 * PUT /v1/admin/products/{sku} — creates a product or replaces what is said of it. stock is all there is,
 * sold and unsold: what is left changes by the difference, and the queue sells out or opens again with it.
 * Request  {"name", "price": {"amount", "currency"}, "stock", "queue"}, and "taxFree" (false where it is left
 *          out); sku and available of GET's answer are overlooked
 * Reply    201 the new product, 200 the changed one
 * Errors   INVALID_REQUEST with the pointer
 */
#include <inttypes.h>
#include <string.h>

#include "fcgi-app/http/problem.h"
#include "fcgi-app/operator/product_answer.h"
#include "fcgi-app/operator/queue_answer.h"
#include "fcgi-app/pool/handler.h"
#include "lib/admission/queue_setting_value.h"
#include "lib/base/identifier.h"
#include "lib/base/log.h"
#include "lib/orders/audit_store.h"
#include "lib/orders/availability.h"

/** Where the value being read stands, and whom to tell what is wrong with it. */
struct reader {
    const struct request *request;
    struct response *response;
};

static struct str text_of(json_object *value)
{
    if (!json_object_is_type(value, json_type_string)) {
        return str_sized(NULL, 0);
    }
    return str_sized(json_object_get_string(value), (size_t)json_object_get_string_len(value));
}

static bool refuse(const struct reader *reader, const char *pointer, const char *sentence)
{
    problem_answer_at(reader->request, reader->response, pointer, "%s", sentence);
    return false;
}

/** Refuses fields that are none of `known` (the last one NULL), each with `parent` before it. */
static bool only_known(const struct reader *reader, json_object *object, const char *parent,
                       const char *const known[])
{
    json_object_object_foreach(object, name, value)
    {
        size_t i = 0;
        (void)value;
        while (known[i] != NULL && strcmp(known[i], name) != 0) {
            i++;
        }
        if (known[i] == NULL) {
            return refuse(reader,
                          arena_format(reader->request->arena, "%s/%s", parent,
                                       json_pointer_token(reader->request->arena, name)),
                          "There is no field of that name.");
        }
    }
    return true;
}

/** A whole number within [0, max]. */
static bool read_whole(const struct reader *reader, json_object *value, const char *pointer,
                       int64_t max, int64_t *number)
{
    *number = json_object_get_int64(value);
    if (json_object_is_type(value, json_type_int) && *number >= 0 && *number <= max) {
        return true;
    }
    problem_answer_at(reader->request, reader->response, pointer,
                      "%s must be a whole number from 0 to %" PRId64 ".", strrchr(pointer, '/') + 1,
                      max);
    return false;
}

/** 1..PRODUCT_NAME_MAX characters, none of them a control character. */
static bool read_name(const struct reader *reader, json_object *value, struct str *name)
{
    int64_t characters = 0;

    *name = text_of(value);
    for (size_t i = 0; i < name->n; i++) {
        unsigned char c = (unsigned char)name->p[i];
        if (c < ' ' || c == 0x7f) {
            return refuse(reader, "/name", "name must not hold control characters.");
        }
        characters += (c & 0xc0) != 0x80;
    }
    if (characters < 1 || characters > PRODUCT_NAME_MAX) {
        return refuse(reader, "/name", "name must be a text of 1 to 200 characters.");
    }
    return true;
}

static bool read_price(const struct reader *reader, json_object *value, struct product *product)
{
    static const char *const FIELDS[] = {"amount", "currency", NULL};

    if (!json_object_is_type(value, json_type_object)) {
        return refuse(reader, "/price",
                      "price must be {\"amount\", \"currency\"}, the amount in the currency's "
                      "minor unit.");
    }
    if (!only_known(reader, value, "/price", FIELDS) ||
        !read_whole(reader, json_object_object_get(value, "amount"), "/price/amount",
                    PRODUCT_PRICE_MAX, &product->price)) {
        return false;
    }
    product->currency = text_of(json_object_object_get(value, "currency"));
    bool letters = product->currency.n == 3;
    for (size_t i = 0; i < product->currency.n; i++) {
        letters = letters && product->currency.p[i] >= 'A' && product->currency.p[i] <= 'Z';
    }
    return letters || refuse(reader, "/price/currency",
                             "currency must be an ISO 4217 code: three capital letters, like KRW.");
}

/** Whether the price contains no VAT; it does where nothing is said. */
static bool read_tax_free(const struct reader *reader, json_object *value, bool *tax_free)
{
    *tax_free = json_object_get_boolean(value);
    return value == NULL || json_object_is_type(value, json_type_boolean) ||
           refuse(reader, "/taxFree", "taxFree must be true or false.");
}

static bool read_product(const struct reader *reader, json_object *body, struct product *product)
{
    static const char *const FIELDS[] = {"name", "price",     "stock",   "queue",
                                         "sku",  "available", "taxFree", NULL};

    if (!only_known(reader, body, "", FIELDS) ||
        !read_name(reader, json_object_object_get(body, "name"), &product->name) ||
        !read_price(reader, json_object_object_get(body, "price"), product) ||
        !read_tax_free(reader, json_object_object_get(body, "taxFree"), &product->tax_free) ||
        !read_whole(reader, json_object_object_get(body, "stock"), "/stock", PRODUCT_STOCK_MAX,
                    &product->stock)) {
        return false;
    }
    product->queue = text_of(json_object_object_get(body, "queue"));
    return identifier_is_slug(product->queue) ||
           refuse(reader, "/queue", "queue must be the id of the queue that sells it.");
}

/** Answers what the store said; true where the product is stored. */
static bool answer_outcome(const struct reader *reader, enum product_outcome outcome,
                           const struct product *product, int64_t sold)
{
    switch (outcome) {
    case PRODUCT_CREATED:
    case PRODUCT_REPLACED:
        return true;
    case PRODUCT_QUEUE_GONE:
        problem_answer_at(reader->request, reader->response, "/queue", "There is no queue %.*s.",
                          STR_ARG(product->queue));
        return false;
    case PRODUCT_BELOW_SOLD:
        problem_answer_at(reader->request, reader->response, "/stock",
                          "stock must be at least %" PRId64 ": so many are sold already.", sold);
        return false;
    case PRODUCT_QUEUE_FIXED:
        return refuse(reader, "/queue",
                      "Some of it is sold already, so it stays with the queue that it has.");
    case PRODUCT_UNAVAILABLE:
        problem_answer(reader->request, reader->response, PROBLEM_ORDERS_UNAVAILABLE,
                       "PostgreSQL cannot answer at the moment; the change may or may not be "
                       "stored. Send the same request again.");
        return false;
    default:
        problem_answer(reader->request, reader->response, PROBLEM_INTERNAL_ERROR,
                       "PostgreSQL refused the product; nothing was changed.");
        return false;
    }
}

void put_product(const struct services *services, const struct request *request,
                 struct response *response)
{
    const struct reader reader = {.request = request, .response = response};
    struct operator_call call;
    struct product stored;
    int64_t sold = 0;

    if (!operator_begin(services, request, response, false, &call)) {
        return;
    }
    struct product product = {.sku = call.id};
    json_object *body = operator_body(request, response);
    if (body == NULL || !read_product(&reader, body, &product) ||
        !store_answered(
            services, request, response,
            audit_store_name_author(services->postgres, request->arena, &call.author))) {
        return;
    }
    enum product_outcome outcome =
        product_put(services->postgres, request->arena, &product, &stored, &sold);
    if (!answer_outcome(&reader, outcome, &product, sold)) {
        return;
    }
    log_change("product.changed", &call, outcome == PRODUCT_CREATED ? "create" : "change");
    if (!availability_publish(services->postgres, services->redis, request->arena, product.queue,
                              false)) {
        log_event(LOG_LEVEL_WARNING, "product.availability_later",
                  LOG_FIELDS(LOG_STR("queue", product.queue)));
    }
    answer_product(response, outcome == PRODUCT_CREATED ? 201 : 200, &stored);
}
