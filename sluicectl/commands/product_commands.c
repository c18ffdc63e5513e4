#include <stdio.h>
#include <string.h>

#include "lib/base/str.h"
#include "sluicectl/commands.h"
#include "sluicectl/output/table.h"
#include "sluicectl/server/client.h"

static const char *product_path(const struct invocation *invocation, const char *sku)
{
    return arena_format(invocation->arena, "/v1/admin/products/%s", sku);
}

static enum exit_code print_product(const struct invocation *invocation, json_object *product)
{
    json_object *price = NULL;
    struct table table;

    if (invocation->json) {
        print_json(product);
        return EXIT_DONE;
    }
    (void)json_object_object_get_ex(product, "price", &price);
    table_init(&table, invocation->arena, "llrlrrl");
    table_add(&table, "SKU");
    table_add(&table, "NAME");
    table_add(&table, "PRICE");
    table_add(&table, "CURRENCY");
    table_add(&table, "STOCK");
    table_add(&table, "LEFT");
    table_add(&table, "QUEUE");
    table_add_field(&table, product, "sku");
    table_add_field(&table, product, "name");
    table_add_field(&table, price, "amount");
    table_add_field(&table, price, "currency");
    table_add_field(&table, product, "stock");
    table_add_field(&table, product, "available");
    table_add_field(&table, product, "queue");
    table_print(&table);
    return EXIT_DONE;
}

enum exit_code command_product_get(const struct command *command,
                                   const struct invocation *invocation)
{
    const char *sku = id_argument(invocation, 0, "SKU");
    struct client_answer answer;

    (void)command;
    if (sku == NULL) {
        return EXIT_USAGE;
    }
    return client_call(invocation, "GET", product_path(invocation, sku), NULL, &answer)
               ? print_product(invocation, answer.body)
               : EXIT_FAILED;
}

static bool read_number(struct str name, struct str text, json_object **value)
{
    int64_t number = 0;

    if (!str_to_int64(text, INT64_MIN, INT64_MAX, &number)) {
        (void)misused("%.*s must be a whole number, not '%.*s'", STR_ARG(name), STR_ARG(text));
        return false;
    }
    *value = json_object_new_int64(number);
    return true;
}

/** Puts one `name=value` into the product, or its price. */
static bool set_field(json_object *product, json_object *price, const char *argument)
{
    struct str name;
    struct str text;
    json_object *value = NULL;

    if (!str_split(str_of(argument), '=', &name, &text)) {
        (void)misused("'%s' does not have the form name=value", argument);
        return false;
    }
    if (str_equal(name, STR("price")) || str_equal(name, STR("stock"))) {
        if (!read_number(name, text, &value)) {
            return false;
        }
        bool is_price = str_equal(name, STR("price"));
        json_object_object_add(is_price ? price : product, is_price ? "amount" : "stock", value);
        return true;
    }
    if (str_equal(name, STR("taxFree"))) {
        if (!str_equal(text, STR("true")) && !str_equal(text, STR("false"))) {
            (void)misused("taxFree must be true or false, not '%.*s'", STR_ARG(text));
            return false;
        }
        json_object_object_add(product, "taxFree",
                               json_object_new_boolean(str_equal(text, STR("true"))));
        return true;
    }
    value = json_object_new_string_len(text.n > 0 ? text.p : "", (int)text.n);
    if (str_equal(name, STR("currency"))) {
        json_object_object_add(price, "currency", value);
    } else if (str_equal(name, STR("name"))) {
        json_object_object_add(product, "name", value);
    } else if (str_equal(name, STR("queue"))) {
        json_object_object_add(product, "queue", value);
    } else {
        (void)json_object_put(value);
        (void)misused(
            "a product has no '%.*s', only name, price, currency, taxFree, stock and queue",
            STR_ARG(name));
        return false;
    }
    return true;
}

/** The current product, or an empty one; NULL if it cannot be read. */
static json_object *product_to_change(const struct invocation *invocation, const char *path)
{
    struct client_answer answer;

    if (!client_request(invocation, "GET", path, NULL, &answer)) {
        return NULL;
    }
    if (answer.status == 200) {
        return answer.body;
    }
    if (answer.status != 404) {
        (void)client_refused(invocation, &answer);
        return NULL;
    }
    json_object *product = scratch_object(invocation);
    json_object_object_add(product, "price", json_object_new_object());
    return product;
}

enum exit_code command_product_set(const struct command *command,
                                   const struct invocation *invocation)
{
    const char *sku = id_argument(invocation, 0, "SKU");
    struct client_answer answer;
    json_object *scratch = scratch_object(invocation);

    (void)command;
    /* The command line is checked before any request is sent. */
    for (int i = 1; i < invocation->argument_count; i++) {
        if (sku == NULL || !set_field(scratch, scratch, invocation->arguments[i])) {
            return EXIT_USAGE;
        }
    }
    const char *path = product_path(invocation, sku);
    json_object *product = product_to_change(invocation, path);
    if (product == NULL) {
        return EXIT_FAILED;
    }
    for (int i = 1; i < invocation->argument_count; i++) {
        (void)set_field(product, json_object_object_get(product, "price"),
                        invocation->arguments[i]);
    }
    return client_call(invocation, "PUT", path, product, &answer)
               ? print_product(invocation, answer.body)
               : EXIT_FAILED;
}
