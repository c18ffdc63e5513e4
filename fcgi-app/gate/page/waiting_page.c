#include "fcgi-app/gate/page/waiting_page.h"

#include <stdlib.h>
#include <string.h>

#include "fcgi-app/gate/page/accept_language.h"
#include "fcgi-app/gate/page/page_template.h"
#include "lib/base/log.h"

enum { LOOK_MS = 1000 };

struct waiting_page {
    char *directory;
    char *theme;
    struct page_template *page;
    int64_t looked_at_ms;
    int64_t fingerprint; /* of the files when they were last read, usable or not */
};

struct waiting_page *waiting_page_open(const char *directory, const char *theme,
                                       char error[WAITING_PAGE_ERROR])
{
    struct waiting_page *page = calloc(1, sizeof(*page));

    if (page == NULL || (page->directory = strdup(directory)) == NULL ||
        (page->theme = strdup(theme)) == NULL) {
        abort();
    }
    page->page = page_template_read(page->directory, page->theme, error);
    if (page->page == NULL) {
        waiting_page_free(page);
        return NULL;
    }
    page->fingerprint = page_template_fingerprint(page->page);
    return page;
}

void waiting_page_free(struct waiting_page *page)
{
    if (page != NULL) {
        page_template_free(page->page);
        free(page->directory);
        free(page->theme);
        free(page);
    }
}

void waiting_page_refresh(struct waiting_page *page, int64_t now_ms)
{
    char error[WAITING_PAGE_ERROR];

    if (now_ms - page->looked_at_ms < LOOK_MS) {
        return;
    }
    page->looked_at_ms = now_ms;
    int64_t fingerprint = page_template_fingerprint_now(page->page);
    if (fingerprint == page->fingerprint) {
        return;
    }
    struct page_template *changed = page_template_read(page->directory, page->theme, error);
    if (changed == NULL) {
        page->fingerprint = fingerprint;
        log_event(LOG_LEVEL_WARNING, "waiting_page.unusable", LOG_FIELDS(LOG_TEXT("why", error)));
        return;
    }
    if (page_template_fingerprint_now(changed) != page_template_fingerprint(changed)) {
        /* The files are being changed, and this may mix two versions. The next check reads
         * again. */
        page_template_free(changed);
        return;
    }
    page_template_free(page->page);
    page->page = changed;
    page->fingerprint = page_template_fingerprint(page->page);
}

static const struct page_version *find_version(const struct waiting_page *page, struct str language)
{
    for (size_t i = 0; i < page_template_count(page->page); i++) {
        if (str_equal(str_of(page_template_version(page->page, i)->language), language)) {
            return page_template_version(page->page, i);
        }
    }
    return NULL;
}

bool waiting_page_has(const struct waiting_page *page, struct str language)
{
    return find_version(page, language) != NULL;
}

struct str waiting_page_language(const struct waiting_page *page, struct str chosen,
                                 struct str accept_language)
{
    const char *names[WAITING_PAGE_LANGUAGES_MAX];
    const struct page_version *version = find_version(page, chosen);

    if (version == NULL) {
        for (size_t i = 0; i < page_template_count(page->page); i++) {
            names[i] = page_template_version(page->page, i)->language;
        }
        const char *best =
            accept_language_best(accept_language, names, page_template_count(page->page));
        version = find_version(page, str_of(best == NULL ? "en" : best));
    }
    return str_of(version == NULL ? page_template_version(page->page, 0)->language
                                  : version->language);
}

static void add_value(struct buffer *out, enum page_slot slot,
                      const struct waiting_page_values *values)
{
    switch (slot) {
    case PAGE_SLOT_NOTHING:
        break;
    case PAGE_SLOT_LANGUAGE:
        page_add_escaped(out, values->language);
        break;
    case PAGE_SLOT_FACE:
        page_add_escaped(out, values->face);
        break;
    case PAGE_SLOT_QUEUE:
        page_add_escaped(out, values->queue);
        break;
    case PAGE_SLOT_MESSAGE:
        page_add_escaped(out, values->message);
        break;
    case PAGE_SLOT_PLACE:
        page_add_escaped(out, values->place);
        break;
    case PAGE_SLOT_AHEAD:
        page_add_escaped(out, values->ahead);
        break;
    case PAGE_SLOT_NONCE:
        page_add_escaped(out, values->nonce);
        break;
    case PAGE_SLOT_REFRESH:
        buffer_add_int(out, values->refresh_s);
        break;
    case PAGE_SLOT_STATE:
        page_add_json(out, values->state);
        break;
    }
}

void waiting_page_write(const struct waiting_page *page, const struct waiting_page_values *values,
                        struct buffer *out)
{
    const struct page_version *version = find_version(page, values->language);

    if (version == NULL) {
        version = page_template_version(page->page, 0);
    }
    for (size_t i = 0; i < version->piece_count; i++) {
        buffer_add(out, version->pieces[i].text);
        add_value(out, version->pieces[i].slot, values);
    }
}
