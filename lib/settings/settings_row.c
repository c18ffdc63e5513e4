#include "lib/settings/settings_row.h"

#include <stdio.h>
#include <stdlib.h>

#include "lib/base/arena.h"

static const struct setting_row ROWS[] = {
#define SETTING(row, row_kind, least, most, start, measure, text)                                  \
    {.name = #row,                                                                                 \
     .kind = SETTING_##row_kind,                                                                   \
     .minimum = (least),                                                                           \
     .maximum = (most),                                                                            \
     .initial = (start),                                                                           \
     .unit = (measure),                                                                            \
     .description = (text),                                                                        \
     .offset = offsetof(struct settings, row)},
#include "lib/settings/settings.tbl"
#undef SETTING
};

size_t setting_row_count(void)
{
    return sizeof(ROWS) / sizeof(ROWS[0]);
}

const struct setting_row *setting_row(size_t i)
{
    return &ROWS[i];
}

bool setting_row_find(struct str name, size_t *i)
{
    for (size_t at = 0; at < setting_row_count(); at++) {
        if (str_equal(name, str_of(ROWS[at].name))) {
            *i = at;
            return true;
        }
    }
    return false;
}

static void *field(const struct settings *settings, const struct setting_row *row)
{
    return (char *)(uintptr_t)settings + row->offset;
}

const char **setting_text(struct settings *settings, const struct setting_row *row)
{
    return field(settings, row);
}

/* The words of a CHOICE, which its description lists before the colon. */
static struct str choice_words(const struct setting_row *row)
{
    struct str words;
    struct str rest;

    if (!str_split(str_of(row->description), ':', &words, &rest)) {
        abort();
    }
    return words;
}

static void choice_allowed(const struct setting_row *row, char out[SETTING_ALLOWED])
{
    struct str rest = choice_words(row);
    int length = snprintf(out, SETTING_ALLOWED, "one of");
    const char *separator = " ";
    bool more = true;

    while (more && length > 0 && length < SETTING_ALLOWED) {
        struct str word;
        more = str_split(rest, '|', &word, &rest);
        length += snprintf(out + length, (size_t)(SETTING_ALLOWED - length), "%s%.*s", separator,
                           STR_ARG(word));
        separator = ", ";
    }
}

void setting_allowed(const struct setting_row *row, char out[SETTING_ALLOWED])
{
    switch (row->kind) {
    case SETTING_CHOICE:
        choice_allowed(row, out);
        return;
    case SETTING_BOOLEAN:
        (void)snprintf(out, SETTING_ALLOWED, "true or false");
        return;
    case SETTING_INTEGER:
        (void)snprintf(out, SETTING_ALLOWED, "a whole number from %lld to %lld (%s)",
                       (long long)row->minimum, (long long)row->maximum, row->unit);
        return;
    case SETTING_PATH:
    case SETTING_SECRET_PATH:
        (void)snprintf(out, SETTING_ALLOWED, "an absolute path of at most %lld bytes",
                       (long long)row->maximum);
        return;
    case SETTING_TEXT:
    case SETTING_CONNINFO:
        (void)snprintf(out, SETTING_ALLOWED, "text of at most %lld bytes", (long long)row->maximum);
        return;
    }
    abort();
}

static bool is_choice(const struct setting_row *row, struct str value)
{
    struct str rest = choice_words(row);
    bool more = true;

    while (more) {
        struct str word;
        more = str_split(rest, '|', &word, &rest);
        if (str_equal(word, value)) {
            return true;
        }
    }
    return false;
}

static bool is_text(const struct setting_row *row, struct str value)
{
    if (value.n < (size_t)row->minimum || value.n > (size_t)row->maximum) {
        return false;
    }
    for (size_t i = 0; i < value.n; i++) {
        unsigned char c = (unsigned char)value.p[i];
        if (c < 0x20 || c == 0x7f) {
            return false;
        }
    }
    return true;
}

static bool set_boolean(bool *flag, struct str value)
{
    bool yes = str_equal(value, STR("true"));

    if (!yes && !str_equal(value, STR("false"))) {
        return false;
    }
    *flag = yes;
    return true;
}

static bool is_allowed_text(const struct setting_row *row, struct str value)
{
    if (row->kind == SETTING_CHOICE) {
        return is_choice(row, value);
    }
    bool is_path = row->kind == SETTING_PATH || row->kind == SETTING_SECRET_PATH;
    if (is_path && value.n > 0 && value.p[0] != '/') {
        return false;
    }
    return is_text(row, value);
}

bool setting_set(struct settings *settings, const struct setting_row *row, struct str value)
{
    if (row->kind == SETTING_INTEGER) {
        return str_to_int64(value, row->minimum, row->maximum, field(settings, row));
    }
    if (row->kind == SETTING_BOOLEAN) {
        return set_boolean(field(settings, row), value);
    }
    if (!is_allowed_text(row, value)) {
        return false;
    }
    *setting_text(settings, row) = arena_copy(settings->memory, value);
    return true;
}

void setting_number_text(const struct settings *settings, const struct setting_row *row,
                         char out[32])
{
    if (row->kind == SETTING_BOOLEAN) {
        const bool *flag = field(settings, row);
        (void)snprintf(out, 32, "%s", *flag ? "true" : "false");
        return;
    }
    const int64_t *number = field(settings, row);
    (void)snprintf(out, 32, "%lld", (long long)*number);
}
