#include "sluicectl/commands/seat_plan.h"

#include <inttypes.h>
#include <string.h>

#include "lib/base/str.h"
#include "sluicectl/commands/csv.h"

enum column { ID, SECTION, ROW, NUMBER, PRICE, CURRENCY, COLUMNS };

enum { SEATS_MOST = 50000, ABSENT = -1 };

static const char *const NAMES[COLUMNS] = {"id", "section", "row", "number", "price", "currency"};

/** Finds the index of each column; ABSENT for a missing one. */
static bool read_head(const char *const *fields, size_t count, int at[COLUMNS])
{
    for (int column = 0; column < COLUMNS; column++) {
        at[column] = ABSENT;
        for (size_t i = 0; i < count; i++) {
            if (strcmp(fields[i], NAMES[column]) == 0) {
                at[column] = (int)i;
            }
        }
    }
    size_t known = 0;
    for (int column = 0; column < COLUMNS; column++) {
        known += at[column] != ABSENT;
    }
    if (known != count || at[ID] == ABSENT || at[PRICE] == ABSENT || at[CURRENCY] == ABSENT) {
        (void)failed("the first line must name the columns: id, price and currency, and optionally "
                     "section, row and number");
        return false;
    }
    return true;
}

static json_object *read_seat(const struct csv_reader *reader, const char *const *fields,
                              const int at[COLUMNS])
{
    int64_t amount;

    if (!str_to_int64(str_of(fields[at[PRICE]]), 0, INT64_MAX, &amount)) {
        (void)failed("line %" PRId64 ": price must be a whole number in the currency's minor unit, "
                     "not '%s'",
                     reader->line, fields[at[PRICE]]);
        return NULL;
    }
    json_object *seat = json_object_new_object();
    for (int column = ID; column <= NUMBER; column++) {
        if (at[column] != ABSENT) {
            json_object_object_add(seat, NAMES[column], json_object_new_string(fields[at[column]]));
        }
    }
    json_object *price = json_object_new_object();
    json_object_object_add(price, "amount", json_object_new_int64(amount));
    json_object_object_add(price, "currency", json_object_new_string(fields[at[CURRENCY]]));
    json_object_object_add(seat, "price", price);
    return seat;
}

/** Reads the seats after the header line; false, with a message. */
static bool read_seats(const struct invocation *invocation, struct csv_reader *reader,
                       json_object *seats)
{
    const char *fields[CSV_FIELDS_MAX];
    int at[COLUMNS];
    size_t columns;
    size_t count;
    enum csv_outcome outcome = csv_read(reader, invocation->arena, fields, &columns);

    if (outcome == CSV_RECORD && !read_head(fields, columns, at)) {
        return false;
    }
    while (outcome == CSV_RECORD &&
           (outcome = csv_read(reader, invocation->arena, fields, &count)) == CSV_RECORD) {
        if (count != columns) {
            (void)failed("line %" PRId64 ": there are %zu fields, not %zu", reader->line, count,
                         columns);
            return false;
        }
        if (json_object_array_length(seats) == SEATS_MOST) {
            (void)failed("line %" PRId64 ": a show has at most %d seats", reader->line, SEATS_MOST);
            return false;
        }
        json_object *seat = read_seat(reader, fields, at);
        if (seat == NULL) {
            return false;
        }
        json_object_array_add(seats, seat);
    }
    if (outcome == CSV_BROKEN) {
        (void)failed("line %" PRId64 ": %s", reader->line, reader->why);
        return false;
    }
    if (json_object_array_length(seats) == 0) {
        (void)failed("there are no seats in it");
        return false;
    }
    return true;
}

json_object *seat_plan_read(const struct invocation *invocation, FILE *file)
{
    struct csv_reader reader;
    json_object *seats = json_object_new_array();

    csv_start(&reader, file);
    if (!read_seats(invocation, &reader, seats)) {
        (void)json_object_put(seats);
        return NULL;
    }
    return seats;
}

void seat_plan_print(const struct invocation *invocation, json_object *seats)
{
    if (!invocation->json) {
        csv_print(NAMES, COLUMNS);
    }
    for (size_t i = 0; i < json_object_array_length(seats); i++) {
        json_object *seat = json_object_array_get_idx(seats, i);
        json_object *price = json_object_object_get(seat, "price");
        const char *fields[COLUMNS];
        if (invocation->json) {
            print_json(seat);
            continue;
        }
        for (int column = ID; column <= NUMBER; column++) {
            fields[column] = json_object_get_string(json_object_object_get(seat, NAMES[column]));
        }
        fields[PRICE] = json_object_get_string(json_object_object_get(price, "amount"));
        fields[CURRENCY] = json_object_get_string(json_object_object_get(price, "currency"));
        csv_print(fields, COLUMNS);
    }
}
