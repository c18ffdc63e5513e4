#include "lib/store/postgres_array.h"

#include "lib/base/buffer.h"

enum { BRACES = 2, QUOTES_AND_COMMA = 3 };

static const char *array_end(struct buffer *text, struct arena *arena)
{
    buffer_add_char(text, '}');
    const char *copy = arena_copy(arena, buffer_text(text));
    buffer_free(text);
    return copy;
}

const char *postgres_text_array(struct arena *arena, const struct str *texts, size_t count)
{
    struct buffer text;
    size_t most = BRACES;

    for (size_t i = 0; i < count; i++) {
        most += 2 * texts[i].n + QUOTES_AND_COMMA;
    }
    buffer_init(&text, most);
    buffer_add_char(&text, '{');
    for (size_t i = 0; i < count; i++) {
        buffer_add(&text, i == 0 ? STR("\"") : STR(",\""));
        for (size_t at = 0; at < texts[i].n; at++) {
            if (texts[i].p[at] == '"' || texts[i].p[at] == '\\') {
                buffer_add_char(&text, '\\');
            }
            buffer_add_char(&text, texts[i].p[at]);
        }
        buffer_add_char(&text, '"');
    }
    return array_end(&text, arena);
}

const char *postgres_int_array(struct arena *arena, const int64_t *numbers, size_t count)
{
    struct buffer text;

    buffer_init(&text, BRACES + count * (STR_INT64_TEXT + 1));
    buffer_add_char(&text, '{');
    for (size_t i = 0; i < count; i++) {
        if (i > 0) {
            buffer_add_char(&text, ',');
        }
        buffer_add_int(&text, numbers[i]);
    }
    return array_end(&text, arena);
}
