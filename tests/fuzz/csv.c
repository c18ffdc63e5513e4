/*
 * Comma-separated values: what was read is written with quotes around everything and read again as
 * the same, but for line ends within fields, which all come to be line feeds.
 */
#include "sluicectl/commands/csv.h"

#include <string.h>

#include "lib/base/buffer.h"
#include "tests/fuzz/fuzz.h"

enum { WRITTEN_MAX = 1024 * 1024 };

/* Reads all records and appends them to `out`, quoted; returns how the file ended. */
static enum csv_outcome read_all(struct arena *arena, struct str text, struct buffer *out)
{
    static char nothing[1] = "\n";
    FILE *file = text.n == 0 ? fmemopen(nothing, 1, "r") : fmemopen((char *)text.p, text.n, "r");
    const char *fields[CSV_FIELDS_MAX];
    struct csv_reader reader;
    enum csv_outcome outcome;
    size_t count;

    REQUIRE(file != NULL);
    csv_start(&reader, file);
    while ((outcome = csv_read(&reader, arena, fields, &count)) == CSV_RECORD) {
        REQUIRE(count >= 1 && count <= CSV_FIELDS_MAX && reader.line >= 1);
        for (size_t i = 0; i < count; i++) {
            REQUIRE(strlen(fields[i]) <= CSV_FIELD_MAX);
            buffer_add(out, i == 0 ? STR("\"") : STR(",\""));
            for (const char *c = fields[i]; *c != '\0'; c++) {
                buffer_add_char(out, *c);
                if (*c == '"') {
                    buffer_add_char(out, '"');
                }
            }
            buffer_add_char(out, '"');
        }
        buffer_add_char(out, '\n');
    }
    REQUIRE(outcome == CSV_END || reader.why != NULL);
    (void)fclose(file);
    return outcome;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena *arena = fuzz_arena();
    struct buffer first;
    struct buffer second;

    buffer_init(&first, WRITTEN_MAX);
    buffer_init(&second, WRITTEN_MAX);
    (void)read_all(arena, fuzz_text(data, size), &first);
    if (buffer_ok(&first)) {
        REQUIRE(read_all(arena, buffer_text(&first), &second) == CSV_END);
        REQUIRE(str_equal(buffer_text(&first), buffer_text(&second)) ||
                memchr(first.bytes, '\r', first.length) != NULL);
    }
    buffer_free(&first);
    buffer_free(&second);
    return 0;
}
