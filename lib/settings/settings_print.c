#include "lib/settings/settings.h"

#include "lib/base/buffer.h"
#include "lib/settings/conninfo.h"
#include "lib/settings/settings_row.h"

static void print_conninfo(FILE *stream, const char *name, const char *conninfo)
{
    struct buffer masked;

    buffer_init(&masked, SETTINGS_FILE_MAX);
    conninfo_add_masked(&masked, str_of(conninfo));
    struct str text = buffer_text(&masked);
    (void)fprintf(stream, "%s = %.*s\n", name, (int)text.n, text.n == 0 ? "" : text.p);
    buffer_free(&masked);
}

void settings_print(FILE *stream, const struct settings *settings)
{
    struct settings copy = *settings;

    for (size_t i = 0; i < setting_row_count(); i++) {
        const struct setting_row *row = setting_row(i);
        if (row->kind == SETTING_INTEGER || row->kind == SETTING_BOOLEAN) {
            char text[32];
            setting_number_text(settings, row, text);
            (void)fprintf(stream, "%s = %s\n", row->name, text);
        } else if (row->kind == SETTING_CONNINFO) {
            print_conninfo(stream, row->name, *setting_text(&copy, row));
        } else {
            (void)fprintf(stream, "%s = %s\n", row->name, *setting_text(&copy, row));
        }
    }
}

void settings_help(FILE *stream)
{
    for (size_t i = 0; i < setting_row_count(); i++) {
        const struct setting_row *row = setting_row(i);
        char allowed[SETTING_ALLOWED];
        setting_allowed(row, allowed);
        (void)fprintf(stream, "  %s\n      %s\n      %s; %s%s\n", row->name, row->description,
                      allowed, row->initial[0] == '\0' ? "not set by default" : "default ",
                      row->initial);
    }
}
