/*
 * waiting_page — the page that people wait on, made of the files in waiting_room_directory, each of which
 * waiting_room_theme_directory may replace: page.html, page.css, the parts script/<name>.js of the script (see
 * page_files.h), logo.svg and a texts/<language>.json for each language. In page.html these are replaced:
 *
 *     {{lang}} {{face}} {{queue}} {{message}} {{place}} {{ahead}} {{refresh}} {{nonce}} {{text.KEY}}
 *                                                          by their values, escaped for HTML
 *     {{state}} {{texts}} {{style}} {{script}} {{logo}}    as they are; JSON has its '<' as \u003c
 *
 * Blanks at the beginning of lines are left out, and in page.css and the script the comments there: no text in them
 * may run over lines. Files that change are read again within a second; while one is missing or too large the page
 * stays as it was, and while they change under the reading: what was read then may be half of each version.
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

/** What differs from one answer to the next. Text is borrowed. */
struct waiting_page_values {
    struct str language; /* one that waiting_page_language() gave */
    struct str face;
    struct str queue;
    struct str message;
    struct str place;
    struct str ahead;
    struct str nonce;
    struct str state; /* JSON */
    int64_t refresh_s;
};

/** Reads the files; `theme` may be "". NULL, with one sentence in `error`, where the page cannot
 *  be made. */
struct waiting_page *waiting_page_open(const char *directory, const char *theme,
                                       char error[WAITING_PAGE_ERROR]);

/** NULL is allowed. */
void waiting_page_free(struct waiting_page *page);

/** Looks at the files again where the last look is a second old. `now_ms` is monotonic. */
void waiting_page_refresh(struct waiting_page *page, int64_t now_ms);

/** The language to show: `chosen` (the person's choice) where there is such, else the best of an
 *  Accept-Language header, else English, else the first there is. Lives as long as the page's
 *  files stay the same. */
struct str waiting_page_language(const struct waiting_page *page, struct str chosen,
                                 struct str accept_language);

/** True for a language that the page has. */
bool waiting_page_has(const struct waiting_page *page, struct str language);

/** Appends the whole page. */
void waiting_page_write(const struct waiting_page *page, const struct waiting_page_values *values,
                        struct buffer *out);

#endif
