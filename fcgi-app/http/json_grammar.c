#include "fcgi-app/http/json_grammar.h"

#include <ctype.h>
#include <stdint.h>
#include <string.h>

static const char NOT_JSON[] = "The body is not valid JSON.";
static const char NOT_UTF8[] = "The body is not valid UTF-8.";
static const char TOO_DEEP[] = "The body is nested too deep.";

static const char NUL_IN_TEXT[] = "The body contains a string with U+0000.";
static const char TOO_MANY[] = "The body contains too many values.";

enum { NO_UNIT = 0x10000 };

struct scanner {
    const unsigned char *at;
    const unsigned char *end;
    const char *why;
    int32_t objects; /* and arrays, so far */
    int32_t values;  /* in them */
};

static bool fail(struct scanner *s, const char *why)
{
    s->why = s->why == NULL ? why : s->why;
    return false;
}

static void skip_space(struct scanner *s)
{
    while (s->at < s->end &&
           (*s->at == ' ' || *s->at == '\t' || *s->at == '\n' || *s->at == '\r')) {
        s->at++;
    }
}

static bool take(struct scanner *s, char c)
{
    if (s->at < s->end && *s->at == (unsigned char)c) {
        s->at++;
        return true;
    }
    return false;
}

static bool take_word(struct scanner *s, const char *word)
{
    size_t n = strlen(word);

    if ((size_t)(s->end - s->at) < n || memcmp(s->at, word, n) != 0) {
        return fail(s, NOT_JSON);
    }
    s->at += n;
    return true;
}

static size_t take_digits(struct scanner *s)
{
    const unsigned char *first = s->at;

    while (s->at < s->end && *s->at >= '0' && *s->at <= '9') {
        s->at++;
    }
    return (size_t)(s->at - first);
}

static bool take_number(struct scanner *s)
{
    (void)take(s, '-');
    if (!take(s, '0') && take_digits(s) == 0) {
        return fail(s, NOT_JSON);
    }
    if (take(s, '.') && take_digits(s) == 0) {
        return fail(s, NOT_JSON);
    }
    if (take(s, 'e') || take(s, 'E')) {
        (void)(take(s, '+') || take(s, '-'));
        return take_digits(s) > 0 || fail(s, NOT_JSON);
    }
    return true;
}

static bool is_between(unsigned char c, unsigned char least, unsigned char most)
{
    return c >= least && c <= most;
}

/* A non-ASCII character: not overlong, no surrogate, not above U+10FFFF. */
static bool take_utf8(struct scanner *s)
{
    unsigned char c = *s->at;
    size_t more = c >= 0xf0 ? 3 : c >= 0xe0 ? 2 : 1;

    if (!is_between(c, 0xc2, 0xf4) || (size_t)(s->end - s->at) <= more) {
        return fail(s, NOT_UTF8);
    }
    unsigned char least = c == 0xe0 ? 0xa0 : c == 0xf0 ? 0x90 : 0x80;
    unsigned char most = c == 0xed ? 0x9f : c == 0xf4 ? 0x8f : 0xbf;
    for (size_t i = 1; i <= more; i++) {
        if (!is_between(s->at[i], i == 1 ? least : 0x80, i == 1 ? most : 0xbf)) {
            return fail(s, NOT_UTF8);
        }
    }
    s->at += more + 1;
    return true;
}

/* The four hex digits of a \u escape, NO_UNIT if there are none. */
static unsigned int take_unit(struct scanner *s)
{
    unsigned int unit = 0;

    for (int i = 0; i < 4; i++, s->at++) {
        if (s->at == s->end || !isxdigit(*s->at)) {
            return NO_UNIT;
        }
        unsigned int c = *s->at | 0x20u; /* lower case; leaves digits unchanged */
        unit = unit << 4 | (c <= '9' ? c - '0' : c - 'a' + 10);
    }
    return unit;
}

static bool take_escape(struct scanner *s)
{
    if (s->at == s->end || *s->at == '\0' || strchr("\"\\/bfnrtu", *s->at) == NULL) {
        return fail(s, NOT_JSON);
    }
    if (*s->at++ != 'u') {
        return true;
    }
    unsigned int unit = take_unit(s);
    if (unit == 0) {
        return fail(s, NUL_IN_TEXT);
    }
    if (unit >= 0xdc00 && unit <= 0xdfff) {
        return fail(s, NOT_UTF8);
    }
    if (unit >= 0xd800 && unit <= 0xdbff) {
        if (!take(s, '\\') || !take(s, 'u')) {
            return fail(s, NOT_UTF8);
        }
        unit = take_unit(s);
        return (unit >= 0xdc00 && unit <= 0xdfff) || fail(s, NOT_UTF8);
    }
    return unit != NO_UNIT || fail(s, NOT_JSON);
}

static bool take_string(struct scanner *s)
{
    if (!take(s, '"')) {
        return fail(s, NOT_JSON);
    }
    while (s->at < s->end && *s->at >= 0x20) {
        if (take(s, '"')) {
            return true;
        }
        if (take(s, '\\')) {
            if (!take_escape(s)) {
                return false;
            }
        } else if (*s->at < 0x80) {
            s->at++;
        } else if (!take_utf8(s)) {
            return false;
        }
    }
    return fail(s, NOT_JSON);
}

static bool take_value(struct scanner *s, int depth);

/* The members of an object or the elements of an array, after the opening bracket. */
static bool take_members(struct scanner *s, int depth, bool named, char closing)
{
    int32_t count = 0;

    if (++s->objects > JSON_OBJECTS_MAX) {
        return fail(s, TOO_MANY);
    }
    skip_space(s);
    if (take(s, closing)) {
        return true;
    }
    do {
        if (++s->values > JSON_VALUES_MAX || (named && ++count > JSON_NAMES_MAX)) {
            return fail(s, TOO_MANY);
        }
        skip_space(s);
        if (named) {
            if (!take_string(s)) {
                return false;
            }
            skip_space(s);
            if (!take(s, ':')) {
                return fail(s, NOT_JSON);
            }
        }
        if (!take_value(s, depth)) {
            return false;
        }
    } while (take(s, ','));
    return take(s, closing) || fail(s, NOT_JSON);
}

/* A value with the white space around it. `depth`: how many levels of nesting are left. */
static bool take_value(struct scanner *s, int depth)
{
    bool taken;

    skip_space(s);
    if (s->at == s->end) {
        return fail(s, NOT_JSON);
    }
    switch (*s->at) {
    case '{':
    case '[': {
        bool named = *s->at++ == '{';
        if (depth == 0) {
            return fail(s, TOO_DEEP);
        }
        taken = take_members(s, depth - 1, named, named ? '}' : ']');
        break;
    }
    case '"':
        taken = take_string(s);
        break;
    case 't':
        taken = take_word(s, "true");
        break;
    case 'f':
        taken = take_word(s, "false");
        break;
    case 'n':
        taken = take_word(s, "null");
        break;
    default:
        taken = take_number(s);
    }
    skip_space(s);
    return taken;
}

bool json_grammar_holds(struct str text, int depth, const char **why)
{
    struct scanner s = {.at = (const unsigned char *)text.p,
                        .end = (const unsigned char *)text.p + text.n};
    bool holds = take_value(&s, depth) && (s.at == s.end || fail(&s, NOT_JSON));

    if (!holds) {
        *why = s.why;
    }
    return holds;
}
