#include "lib/orders/text_array.h"

#include "lib/base/buffer.h"

const char *text_array(struct arena *arena, const struct str *texts, size_t count)
{
    enum { QUOTES_AND_COMMA = 3 };
    struct buffer text;
    size_t most = 3;

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
    buffer_add_char(&text, '}');
    const char *copy = arena_copy(arena, buffer_text(&text));
    buffer_free(&text);
    return copy;
}
