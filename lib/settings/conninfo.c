#include "lib/settings/conninfo.h"

#include <stdbool.h>
#include <string.h>

#define MASK STR("***")

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\v';
}

/* password, sslpassword, passfile: any keyword that contains "pass". */
static bool is_secret(struct str keyword)
{
    for (size_t i = 0; i + 4 <= keyword.n; i++) {
        if (memcmp(keyword.p + i, "pass", 4) == 0) {
            return true;
        }
    }
    return false;
}

/* Sets `*length` to that of the value at `text` by libpq's rules: quoted, or up to white space,
 * with backslash escapes. Returns false if a quote is not closed. */
static bool value_length(struct str text, size_t *length)
{
    bool quoted = text.n > 0 && text.p[0] == '\'';

    for (size_t i = quoted ? 1 : 0; i < text.n; i++) {
        if (text.p[i] == '\\' && i + 1 < text.n) {
            i++;
        } else if (quoted && text.p[i] == '\'') {
            *length = i + 1;
            return true;
        } else if (!quoted && is_space(text.p[i])) {
            *length = i;
            return true;
        }
    }
    *length = text.n;
    return !quoted;
}

static struct str skip(struct str text, size_t n)
{
    return str_sized(text.p + n, text.n - n);
}

static struct str skip_spaces(struct str text)
{
    while (text.n > 0 && is_space(text.p[0])) {
        text = skip(text, 1);
    }
    return text;
}

static bool add_keywords(struct buffer *out, struct str text)
{
    bool first = true;

    for (text = skip_spaces(text); text.n > 0; text = skip_spaces(text)) {
        struct str keyword;
        struct str rest;
        size_t length;
        if (!str_split(text, '=', &keyword, &rest)) {
            return false;
        }
        while (keyword.n > 0 && is_space(keyword.p[keyword.n - 1])) {
            keyword.n--;
        }
        for (size_t i = 0; i < keyword.n; i++) {
            if (is_space(keyword.p[i])) {
                return false;
            }
        }
        rest = skip_spaces(rest);
        if (keyword.n == 0 || !value_length(rest, &length)) {
            return false;
        }
        if (!first) {
            buffer_add_char(out, ' ');
        }
        first = false;
        buffer_add(out, keyword);
        buffer_add_char(out, '=');
        /* In "user= password=x" libpq takes "password=x" as the user: masked as well. */
        struct str value = str_sized(rest.p, length);
        buffer_add(out, is_secret(keyword) || is_secret(value) ? MASK : value);
        text = skip(rest, length);
    }
    return true;
}

/* Adds what follows '?': name=value pairs. A percent-encoded name could hide a secret one, so its
 * value is masked too. */
static void add_parameters(struct buffer *out, struct str parameters)
{
    bool more = true;

    while (more) {
        struct str pair;
        struct str name;
        struct str value;
        more = str_split(parameters, '&', &pair, &parameters);
        bool has_value = str_split(pair, '=', &name, &value);
        bool hidden = is_secret(name) || memchr(pair.n == 0 ? "" : pair.p, '%', name.n) != NULL;
        buffer_add(out, name);
        if (has_value) {
            buffer_add_char(out, '=');
            buffer_add(out, hidden ? MASK : value);
        }
        if (more) {
            buffer_add_char(out, '&');
        }
    }
}

static void add_uri(struct buffer *out, struct str scheme, struct str rest)
{
    struct str before;
    struct str parameters;

    buffer_add(out, scheme);
    bool has_parameters = str_split(rest, '?', &before, &parameters);
    if (parameters.n > 0 && memchr(parameters.p, '@', parameters.n) != NULL) {
        /* Perhaps a password with an unencoded '?', in which case its end cannot be found. */
        buffer_add(out, MASK);
        return;
    }
    size_t at = before.n;
    while (at > 0 && before.p[at - 1] != '@') {
        at--;
    }
    if (at > 0) {
        struct str user;
        struct str password;
        bool has_password = str_split(str_sized(before.p, at - 1), ':', &user, &password);
        buffer_add(out, user);
        if (has_password) {
            buffer_add_char(out, ':');
            buffer_add(out, MASK);
        }
        buffer_add_char(out, '@');
    }
    buffer_add(out, skip(before, at));
    if (has_parameters) {
        buffer_add_char(out, '?');
        add_parameters(out, parameters);
    }
}

void conninfo_add_masked(struct buffer *out, struct str conninfo)
{
    static const char *const SCHEMES[] = {"postgresql://", "postgres://"};
    size_t start = out->length;

    for (size_t i = 0; i < sizeof(SCHEMES) / sizeof(SCHEMES[0]); i++) {
        struct str scheme = str_of(SCHEMES[i]);
        if (str_starts(conninfo, scheme)) {
            add_uri(out, scheme, skip(conninfo, scheme.n));
            return;
        }
    }
    if (!add_keywords(out, conninfo)) {
        out->length = start;
        buffer_add(out, MASK);
    }
}
