/*
 * page_template — one reading of the waiting page's files: a version for each language, with
 * everything constant in place, cut where a value is inserted. See waiting_page.h for the files and
 * the names in them.
 */
#ifndef SLUICE_GATE_PAGE_TEMPLATE_H
#define SLUICE_GATE_PAGE_TEMPLATE_H

#include <stddef.h>
#include <stdint.h>

#include "fcgi-app/gate/page/waiting_page.h"
#include "lib/base/buffer.h"
#include "lib/base/str.h"

/** The value that follows a piece of the page. */
enum page_slot {
    PAGE_SLOT_NOTHING,
    PAGE_SLOT_LANGUAGE,
    PAGE_SLOT_FACE,
    PAGE_SLOT_QUEUE,
    PAGE_SLOT_MESSAGE,
    PAGE_SLOT_PLACE,
    PAGE_SLOT_AHEAD,
    PAGE_SLOT_NONCE,
    PAGE_SLOT_REFRESH,
    PAGE_SLOT_STATE
};

struct page_piece {
    struct str text;
    enum page_slot slot;
};

/** The page in one language. */
struct page_version {
    char language[WAITING_PAGE_LANGUAGE_MAX + 1];
    const struct page_piece *pieces;
    size_t piece_count;
};

struct page_template;

/** Reads the files of `directory`, or of `theme` for those that are there; both names must outlive
 *  the template. Free it with page_template_free(). Returns NULL, with one sentence in `error`, if
 *  the page cannot be built. */
struct page_template *page_template_read(const char *directory, const char *theme,
                                         char error[WAITING_PAGE_ERROR]);

/** NULL is allowed. */
void page_template_free(struct page_template *page);

/** The number of languages, ≥ 1, and the one at `index`. */
size_t page_template_count(const struct page_template *page);
const struct page_version *page_template_version(const struct page_template *page, size_t index);

/** A number that changes with the files: as each was before it was read, and as they are now. If
 *  these differ right after the reading, the template may mix two versions. */
int64_t page_template_fingerprint(const struct page_template *page);
int64_t page_template_fingerprint_now(const struct page_template *page);

/** Append text escaped for HTML, and JSON in which no text can end a script element. */
void page_add_escaped(struct buffer *out, struct str text);
void page_add_json(struct buffer *out, struct str json);

#endif
