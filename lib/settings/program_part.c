#include "lib/settings/program_part.h"

#include <string.h>

#include "lib/base/arena.h"
#include "lib/base/buffer.h"
#include "lib/settings/settings_row.h"

static const char PLACE[] = "{program}";

static bool takes_a_program(const struct setting_row *row)
{
    return row->kind == SETTING_TEXT || row->kind == SETTING_PATH ||
           row->kind == SETTING_SECRET_PATH || row->kind == SETTING_CONNINFO;
}

static const char *filled(struct arena *arena, const char *text, const char *program, size_t most)
{
    struct buffer out;
    const char *from = text;

    buffer_init(&out, most);
    for (const char *at = strstr(from, PLACE); at != NULL; at = strstr(from, PLACE)) {
        buffer_add(&out, str_sized(from, (size_t)(at - from)));
        buffer_add(&out, str_of(program));
        from = at + strlen(PLACE);
    }
    buffer_add(&out, str_of(from));
    const char *result = buffer_ok(&out) ? arena_copy(arena, buffer_text(&out)) : text;
    buffer_free(&out);
    return result;
}

void settings_name_program(struct settings *settings, const char *program)
{
    for (size_t i = 0; i < setting_row_count(); i++) {
        const struct setting_row *row = setting_row(i);
        if (takes_a_program(row)) {
            const char **text = setting_text(settings, row);
            if (strstr(*text, PLACE) != NULL) {
                *text = filled(settings->memory, *text, program, (size_t)row->maximum);
            }
        }
    }
}
