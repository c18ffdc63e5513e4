/*
 * waiting_page — the waiting page, built from the files in waiting_room_directory, each of which
 * waiting_room_theme_directory may replace: page.html, page.css, the parts script/<name>.js of the
 * script (see page_files.h), logo.svg and a texts/<language>.json for each language. In page.html
 * these are replaced:
 *
 *     {{lang}} {{face}} {{queue}} {{message}} {{place}} {{ahead}} {{refresh}} {{nonce}}
 *     {{text.KEY}}                                         by their values, escaped for HTML
 *     {{state}} {{texts}} {{style}} {{script}} {{logo}}    unescaped; JSON has its '<' as \u003c
 *
 * A text that a theme's language lacks is the default one of that language, or else the English
 * one, so that a theme of an earlier release remains usable.
 *
 * Blanks at the beginning of lines are removed, and in page.css and the script the comments there:
 * no string in them may span lines. Changed files are read again within a second; if one is missing
 * or too large, or the files change during the reading, the page stays as it was.
 */
#ifndef SLUICE_GATE_WAITING_PAGE_H
#define SLUICE_GATE_WAITING_PAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/buffer.h"
#include "lib/base/str.h"

enum {
    WAITING_PAGE_LANGUAGES_MAX = 16,
    WAITING_PAGE_LANGUAGE_MAX = 15, /* characters of a language's name, e.g. "pt-br" */
    WAITING_PAGE_ERROR = 512
};

struct waiting_page;

/** The values that differ between answers. Text is borrowed. */
struct waiting_page_values {
    struct str language; /* as waiting_page_language() returned it */
    struct str face;
    struct str queue;
    struct str message;
    struct str place;
    struct str ahead;
    struct str nonce;
    struct str state; /* JSON */
    int64_t refresh_s;
};

/** Reads the files; `theme` may be "". NULL, with one sentence in `error`, if the page cannot be
 *  built. */
struct waiting_page *waiting_page_open(const char *directory, const char *theme,
                                       char error[WAITING_PAGE_ERROR]);

/** NULL is allowed. */
void waiting_page_free(struct waiting_page *page);

/** Checks the files for changes if the last check is a second old. `now_ms` is monotonic. */
void waiting_page_refresh(struct waiting_page *page, int64_t now_ms);

/** The language to show: `chosen` (the person's choice) if it exists, else the best of an
 *  Accept-Language header, else English, else the first. Valid until the page's files change. */
struct str waiting_page_language(const struct waiting_page *page, struct str chosen,
                                 struct str accept_language);

/** True if the page has the language. */
bool waiting_page_has(const struct waiting_page *page, struct str language);

/** Appends the page. */
void waiting_page_write(const struct waiting_page *page, const struct waiting_page_values *values,
                        struct buffer *out);

#endif
