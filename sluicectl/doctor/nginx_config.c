#include "sluicectl/doctor/nginx_config.h"

#include <string.h>

void nginx_reader_start(struct nginx_reader *reader, struct arena *arena, struct str text)
{
    *reader = (struct nginx_reader){.arena = arena, .rest = text};
}

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static void skip(struct str *rest, size_t n)
{
    rest->p += n;
    rest->n -= n;
}

/** Skips blanks and comments. */
static void skip_blank(struct str *rest)
{
    while (rest->n > 0) {
        if (is_space(rest->p[0])) {
            skip(rest, 1);
        } else if (rest->p[0] == '#') {
            const char *end = memchr(rest->p, '\n', rest->n);
            skip(rest, end == NULL ? rest->n : (size_t)(end - rest->p));
        } else {
            return;
        }
    }
}

/** Reads a word, quoted or not; a backslash escapes the next character. */
static struct str read_word(struct nginx_reader *reader)
{
    struct str *rest = &reader->rest;
    char quote = rest->p[0] == '"' || rest->p[0] == '\'' ? rest->p[0] : '\0';
    char *word = NULL;
    size_t length = 0;
    size_t at = quote != '\0' ? 1 : 0;
    size_t end = at;

    while (end < rest->n &&
           (quote != '\0' ? rest->p[end] != quote
                          : !is_space(rest->p[end]) && rest->p[end] != ';' &&
                                (rest->p[end] != '{' || (end > 0 && rest->p[end - 1] == '$')))) {
        end += rest->p[end] == '\\' && end + 1 < rest->n ? 2 : 1;
    }
    word = arena_alloc(reader->arena, end - at + 1);
    for (; at < end && at < rest->n; at++) {
        if (rest->p[at] == '\\' && at + 1 < end && rest->p[at + 1] == quote && quote != '\0') {
            at++;
        }
        word[length++] = rest->p[at];
    }
    skip(rest, quote != '\0' && end < rest->n ? end + 1 : (end < rest->n ? end : rest->n));
    return str_sized(word, length);
}

bool nginx_reader_next(struct nginx_reader *reader, struct nginx_directive *directive)
{
    struct str *rest = &reader->rest;

    directive->count = 0;
    for (;;) {
        skip_blank(rest);
        if (rest->n == 0) {
            return directive->count > 0;
        }
        char c = rest->p[0];
        if (c == ';' || c == '{' || c == '}') {
            skip(rest, 1);
            if (directive->count > 0) {
                return true;
            }
            continue;
        }
        struct str word = read_word(reader);
        if (directive->count < NGINX_WORDS_MAX) {
            directive->words[directive->count++] = word;
        }
    }
}

bool nginx_is(const struct nginx_directive *directive, const char *name)
{
    return str_equal(directive->words[0], str_of(name));
}
