#include "sluicectl/commands.h"
#include "sluicectl/output/table.h"
#include "sluicectl/server/pages.h"

struct column {
    const char *title;
    const char *field; /* "a.b": the field b of the field a */
};

static void add_column(const struct invocation *invocation, struct table *table,
                       json_object *object, const char *field)
{
    struct str outer;
    struct str inner;

    if (str_split(str_of(field), '.', &outer, &inner)) {
        object = json_object_object_get(object, arena_copy(invocation->arena, outer));
        field = inner.p;
    }
    table_add_field(table, object, field);
}

/** Prints all objects of one kind; `alignment` has a letter a column, see table.h. */
static enum exit_code print_list(const struct invocation *invocation, const char *path,
                                 const char *name, const struct column *columns,
                                 const char *alignment)
{
    struct table table;
    json_object *list = pages_read(invocation, path, name);

    if (list == NULL) {
        return EXIT_FAILED;
    }
    if (invocation->json) {
        json_object *answer = scratch_object(invocation);
        json_object_object_add(answer, name, json_object_get(list));
        print_json(answer);
        return EXIT_DONE;
    }
    table_init(&table, invocation->arena, alignment);
    for (size_t i = 0; i < table.columns; i++) {
        table_add(&table, columns[i].title);
    }
    for (size_t row = 0; row < json_object_array_length(list); row++) {
        for (size_t i = 0; i < table.columns; i++) {
            add_column(invocation, &table, json_object_array_get_idx(list, row), columns[i].field);
        }
    }
    table_print(&table);
    return EXIT_DONE;
}

enum exit_code command_product_list(const struct command *command,
                                    const struct invocation *invocation)
{
    static const struct column COLUMNS[] = {{"SKU", "sku"},
                                            {"NAME", "name"},
                                            {"PRICE", "price.amount"},
                                            {"CURRENCY", "price.currency"},
                                            {"STOCK", "stock"},
                                            {"LEFT", "available"},
                                            {"QUEUE", "queue"}};

    (void)command;
    return print_list(invocation, "/v1/admin/products", "products", COLUMNS, "llrlrrl");
}

enum exit_code command_coupons_list(const struct command *command,
                                    const struct invocation *invocation)
{
    static const struct column COLUMNS[] = {
        {"EVENT", "event"}, {"NAME", "name"},       {"QUEUE", "queue"},      {"OPENS", "opensAt"},
        {"ENDS", "endsAt"}, {"CAPTCHA", "captcha"}, {"UPDATED", "updatedAt"}};

    (void)command;
    return print_list(invocation, "/v1/admin/coupon-events", "events", COLUMNS, "lllllll");
}

enum exit_code command_concerts_list(const struct command *command,
                                     const struct invocation *invocation)
{
    static const struct column COLUMNS[] = {
        {"CONCERT", "concert"}, {"TITLE", "title"}, {"VENUE", "venue"}, {"UPDATED", "updatedAt"}};

    (void)command;
    return print_list(invocation, "/v1/admin/concerts", "concerts", COLUMNS, "llll");
}

enum exit_code command_shows_list(const struct command *command,
                                  const struct invocation *invocation)
{
    static const struct column COLUMNS[] = {
        {"SHOW", "show"},       {"CONCERT", "concert"}, {"STARTS", "startsAt"},  {"QUEUE", "queue"},
        {"SEATS", "seatCount"}, {"TAKEN", "taken"},     {"CURRENCY", "currency"}};

    (void)command;
    return print_list(invocation, "/v1/admin/shows", "shows", COLUMNS, "llllrrl");
}
