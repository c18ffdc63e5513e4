#include "sluicectl/commands/csv.h"

#include <string.h>

#include "lib/base/buffer.h"

void csv_start(struct csv_reader *reader, FILE *file)
{
    *reader = (struct csv_reader){.file = file, .next_line = 1};
    /* Spreadsheets put a byte order mark before UTF-8. */
    int first = getc(file);
    if (first == 0xef) {
        (void)getc(file);
        (void)getc(file);
    } else if (first != EOF) {
        (void)ungetc(first, file);
    }
}

static int next_byte(struct csv_reader *reader)
{
    int c = getc(reader->file);

    if (c == '\r') {
        int behind = getc(reader->file);
        if (behind == '\n') {
            c = '\n';
        } else if (behind != EOF) {
            (void)ungetc(behind, reader->file);
        }
    }
    reader->next_line += c == '\n';
    return c;
}

/* Reads quoted text, up to and including the closing quote. */
static bool read_quoted(struct csv_reader *reader, struct buffer *field)
{
    for (;;) {
        int c = next_byte(reader);
        if (c == EOF) {
            reader->why = "a quote is not closed";
            return false;
        }
        if (c == '"') {
            c = getc(reader->file);
            if (c != '"') {
                if (c != EOF) {
                    (void)ungetc(c, reader->file);
                }
                return true;
            }
        }
        buffer_add_char(field, (char)c);
    }
}

/* Reads one field; `*end` gets what follows it: a comma, a line feed or EOF. */
static bool read_field(struct csv_reader *reader, struct buffer *field, int *end)
{
    bool quoted = false;

    buffer_clear(field);
    for (;;) {
        int c = next_byte(reader);
        if (c == ',' || c == '\n' || c == EOF) {
            *end = c;
            break;
        }
        if (quoted || (c == '"' && field->length > 0)) {
            reader->why = "there is a quote within a field";
            return false;
        }
        if (c == '"') {
            quoted = true;
            if (!read_quoted(reader, field)) {
                return false;
            }
        } else {
            buffer_add_char(field, (char)c);
        }
    }
    if (!buffer_ok(field) ||
        (field->length > 0 && memchr(buffer_text(field).p, '\0', field->length) != NULL)) {
        reader->why = "a field is too long, or contains a NUL";
        return false;
    }
    return true;
}

static bool read_record(struct csv_reader *reader, struct arena *arena,
                        const char *fields[CSV_FIELDS_MAX], size_t *count, int *end)
{
    struct buffer field;
    bool sound = true;

    buffer_init(&field, CSV_FIELD_MAX);
    *count = 0;
    *end = ',';
    while (sound && *end == ',') {
        if (*count == CSV_FIELDS_MAX) {
            reader->why = "there are too many fields";
            sound = false;
        } else {
            sound = read_field(reader, &field, end);
        }
        if (sound) {
            fields[(*count)++] = arena_copy(arena, buffer_text(&field));
        }
    }
    buffer_free(&field);
    return sound;
}

enum csv_outcome csv_read(struct csv_reader *reader, struct arena *arena,
                          const char *fields[CSV_FIELDS_MAX], size_t *count)
{
    int end = '\n';

    do {
        reader->line = reader->next_line;
        if (!read_record(reader, arena, fields, count, &end)) {
            return CSV_BROKEN;
        }
        if (*count > 1 || fields[0][0] != '\0') {
            return CSV_RECORD;
        }
    } while (end != EOF);
    return CSV_END;
}

static void print_field(const char *text)
{
    if (strpbrk(text, ",\"\r\n") == NULL) {
        (void)fputs(text, stdout);
        return;
    }
    (void)putchar('"');
    for (const char *c = text; *c != '\0'; c++) {
        if (*c == '"') {
            (void)putchar('"');
        }
        (void)putchar(*c);
    }
    (void)putchar('"');
}

void csv_print(const char *const *fields, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (i > 0) {
            (void)putchar(',');
        }
        print_field(fields[i]);
    }
    (void)fputs("\r\n", stdout);
}
