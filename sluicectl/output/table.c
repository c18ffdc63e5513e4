#include "sluicectl/output/table.h"

#include <stdio.h>
#include <string.h>

#include "sluicectl/invocation.h"

void table_init(struct table *table, struct arena *arena, const char *alignment)
{
    *table = (struct table){.arena = arena, .alignment = alignment, .columns = strlen(alignment)};
    table->cells = arena_alloc(arena, TABLE_ROWS_MAX * table->columns * sizeof(*table->cells));
}

void table_add(struct table *table, const char *text)
{
    if (table->count == TABLE_ROWS_MAX * table->columns) {
        return;
    }
    char *cell = arena_copy(table->arena, text[0] == '\0' ? STR("-") : str_of(text));
    for (char *c = cell; *c != '\0'; c++) {
        memset(c, ' ', steering_bytes(c));
    }
    table->cells[table->count++] = cell;
}

void table_add_field(struct table *table, json_object *object, const char *name)
{
    json_object *value = NULL;

    (void)json_object_object_get_ex(object, name, &value);
    table_add(table, value == NULL ? "" : json_object_get_string(value));
}

/** Characters of UTF-8. */
static size_t width_of(const char *text)
{
    size_t width = 0;

    for (; *text != '\0'; text++) {
        width += ((unsigned char)*text & 0xc0) != 0x80;
    }
    return width;
}

static void print_spaces(size_t count)
{
    while (count-- > 0) {
        (void)putchar(' ');
    }
}

static void print_row(const struct table *table, size_t first, const size_t *widths)
{
    for (size_t column = 0; column < table->columns; column++) {
        const char *cell = table->cells[first + column];
        size_t room = widths[column] - width_of(cell);
        if (table->alignment[column] == 'r') {
            print_spaces(room);
        }
        (void)fputs(cell, stdout);
        if (column + 1 < table->columns) {
            print_spaces((table->alignment[column] == 'r' ? 0 : room) + 2);
        }
    }
    (void)putchar('\n');
}

void table_print(const struct table *table)
{
    size_t widths[TABLE_COLUMNS_MAX] = {0};

    for (size_t i = 0; i < table->count; i++) {
        size_t width = width_of(table->cells[i]);
        if (width > widths[i % table->columns]) {
            widths[i % table->columns] = width;
        }
    }
    for (size_t first = 0; first + table->columns <= table->count; first += table->columns) {
        print_row(table, first, widths);
    }
}
