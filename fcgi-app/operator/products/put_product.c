/*
 * PUT /v1/admin/products/{sku} — creates or replaces a product. stock is the total, sold and
 * unsold: what is left changes by the difference, and the queue is sold out or opens again
 * accordingly.
 *
 * Request   {"name", "price": {"amount", "currency"}, "stock", "queue"}, and "taxFree" (default
 *           false); sku and available of GET's answer are ignored
 * Reply     201 the new product, 200 the changed one
 * Errors    401 UNAUTHENTICATED, 403 FORBIDDEN, 400 INVALID_REQUEST with the pointer;
 *           503 ORDERS_UNAVAILABLE
 * Touches   sql/queries/audit/audit_author.sql, product_put.sql, availability.sql,
 *           lua/goods/sold_out.lua. Without Redis reconcile publishes what is left later
 * Roles     operator
 */
#include <inttypes.h>

#include "fcgi-app/http/problem.h"
#include "fcgi-app/operator/body_reader.h"
#include "fcgi-app/operator/operator_call.h"
#include "fcgi-app/operator/products/product_answer.h"
#include "fcgi-app/pool/handler.h"
#include "lib/base/identifier.h"
#include "lib/base/log.h"
#include "lib/database/audit/audit_store.h"
#include "lib/database/goods/availability.h"

/** Whether the price contains no VAT; by default it does. */
static bool read_tax_free(const struct body_reader *reader, json_object *value, bool *tax_free)
{
    *tax_free = json_object_get_boolean(value);
    return value == NULL || json_object_is_type(value, json_type_boolean) ||
           body_refuse(reader, "/taxFree", "taxFree must be true or false.");
}

static bool read_product(const struct body_reader *reader, json_object *body,
                         struct product *product)
{
    static const char *const FIELDS[] = {"name", "price",     "stock",   "queue",
                                         "sku",  "available", "taxFree", NULL};

    if (!body_only_known(reader, body, "", FIELDS) ||
        !body_read_text(reader, json_object_object_get(body, "name"), "/name", 1, PRODUCT_NAME_MAX,
                        false, &product->name) ||
        !body_read_price(reader, json_object_object_get(body, "price"), "/price", PRODUCT_PRICE_MAX,
                         &product->price, &product->currency) ||
        !read_tax_free(reader, json_object_object_get(body, "taxFree"), &product->tax_free) ||
        !body_read_whole(reader, json_object_object_get(body, "stock"), "/stock", 0,
                         PRODUCT_STOCK_MAX, -1, &product->stock)) {
        return false;
    }
    product->queue = body_text(json_object_object_get(body, "queue"));
    return identifier_is_slug(product->queue) ||
           body_refuse(reader, "/queue", "queue must be the id of the queue that sells it.");
}

/** Answers the outcome of the store; true if the product is stored. */
static bool answer_outcome(const struct body_reader *reader, enum product_outcome outcome,
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
                          "stock must be at least %" PRId64 ": that many are already sold.", sold);
        return false;
    case PRODUCT_QUEUE_FIXED:
        return body_refuse(reader, "/queue",
                           "Some of it is already sold, so its queue cannot change.");
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
    const struct body_reader reader = {.request = request, .response = response};
    struct operator_call call;
    struct product stored;
    int64_t sold = 0;

    if (!operator_begin(services, request, response, false, &call)) {
        return;
    }
    struct product product = {.sku = call.id};
    json_object *body = operator_body(request, response);
    if (body == NULL || !read_product(&reader, body, &product) ||
        !operator_store_answered(
            services, request, response,
            audit_store_name_author(services->postgres, request->arena, &call.author))) {
        return;
    }
    enum product_outcome outcome =
        product_put(services->postgres, request->arena, &product, &stored, &sold);
    if (!answer_outcome(&reader, outcome, &product, sold)) {
        return;
    }
    operator_log_change("product.changed", &call, outcome == PRODUCT_CREATED ? "create" : "change");
    if (!availability_publish(services->postgres, services->redis, request->arena, product.queue,
                              false)) {
        log_event(LOG_LEVEL_WARNING, "product.availability_later",
                  LOG_FIELDS(LOG_STR("queue", product.queue)));
    }
    product_answer(response, outcome == PRODUCT_CREATED ? 201 : 200, &stored);
}
