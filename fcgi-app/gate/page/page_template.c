#include "fcgi-app/gate/page/page_template.h"

#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <json-c/json.h>

#include "fcgi-app/gate/page/page_files.h"

enum { PAGE_MAX = 512 * 1024, PIECES_MAX = 256, PATH_LENGTH = 4096 + 64 };

/* A version while it is built. */
struct draft {
    struct page_version version;
    json_object *texts;
    struct buffer text;
    struct page_piece pieces[PIECES_MAX];
};

struct page_template {
    struct page_files files;
    char *html, *style, *script, *logo;
    struct buffer all_texts; /* {"en": {…}, …} */
    struct draft drafts[WAITING_PAGE_LANGUAGES_MAX];
    size_t count;
};

void page_template_free(struct page_template *page)
{
    if (page == NULL) {
        return;
    }
    free(page->html);
    free(page->style);
    free(page->script);
    free(page->logo);
    buffer_free(&page->all_texts);
    for (size_t i = 0; i < page->count; i++) {
        (void)json_object_put(page->drafts[i].texts);
        buffer_free(&page->drafts[i].text);
    }
    free(page);
}

static bool language_is_fit(const char *name, size_t length)
{
    return length >= 2 && length <= WAITING_PAGE_LANGUAGE_MAX &&
           strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-") >= length;
}

typedef bool file_reader(struct page_files *files, const char *name, char **bytes,
                         char error[WAITING_PAGE_ERROR]);

/* Returns the texts, or NULL with one sentence in `error`. */
static json_object *read_texts(struct page_template *page, struct str language, file_reader *reader,
                               char error[WAITING_PAGE_ERROR])
{
    char name[sizeof("texts/") + WAITING_PAGE_LANGUAGE_MAX + sizeof(".json")];
    char *text = NULL;

    (void)snprintf(name, sizeof(name), "texts/%.*s.json", STR_ARG(language));
    if (!reader(&page->files, name, &text, error)) {
        return NULL;
    }
    json_object *texts = json_tokener_parse(text);
    free(text);
    if (!json_object_is_type(texts, json_type_object)) {
        (void)json_object_put(texts);
        (void)snprintf(error, WAITING_PAGE_ERROR,
                       "the waiting page: %s is not a JSON object of texts", name);
        return NULL;
    }
    return texts;
}

/* Adds the texts that `texts` lacks: a theme's may be those of an earlier release. */
static void complete_texts(json_object *texts, json_object *defaults)
{
    json_object_object_foreach(defaults, key, text)
    {
        json_object *own = NULL;
        if (!json_object_object_get_ex(texts, key, &own) ||
            !json_object_is_type(own, json_type_string)) {
            (void)json_object_object_add(texts, key, json_object_get(text));
        }
    }
}

static struct draft *find_draft(struct page_template *page, struct str language)
{
    for (size_t i = 0; i < page->count; i++) {
        if (str_equal(str_of(page->drafts[i].version.language), language)) {
            return &page->drafts[i];
        }
    }
    return NULL;
}

/* Reads a language that is new; completes one that the theme has already. */
static bool read_language(struct page_template *page, struct str language,
                          char error[WAITING_PAGE_ERROR])
{
    struct draft *draft = find_draft(page, language);

    if (draft == NULL && page->count == WAITING_PAGE_LANGUAGES_MAX) {
        return true;
    }
    json_object *texts = read_texts(
        page, language, draft == NULL ? page_files_read : page_files_read_default, error);
    if (texts == NULL) {
        return false;
    }
    if (draft != NULL) {
        complete_texts(draft->texts, texts);
        (void)json_object_put(texts);
        return true;
    }
    draft = &page->drafts[page->count++];
    draft->texts = texts;
    memcpy(draft->version.language, language.p, language.n);
    draft->version.language[language.n] = '\0';
    buffer_init(&draft->text, PAGE_MAX);
    return true;
}

/* A language of the theme alone has the default English texts where it lacks one. */
static void complete_languages(struct page_template *page)
{
    const struct draft *english = find_draft(page, STR("en"));

    for (size_t i = 0; english != NULL && i < page->count; i++) {
        if (&page->drafts[i] != english) {
            complete_texts(page->drafts[i].texts, english->texts);
        }
    }
}

static bool read_languages_of(struct page_template *page, const char *directory,
                              char error[WAITING_PAGE_ERROR])
{
    char path[PATH_LENGTH];
    bool fine = true;

    (void)snprintf(path, sizeof(path), "%s/texts", directory);
    DIR *folder = opendir(path);
    for (const struct dirent *entry; fine && folder != NULL && (entry = readdir(folder)) != NULL;) {
        const char *end = strstr(entry->d_name, ".json");
        if (end != NULL && strcmp(end, ".json") == 0 &&
            language_is_fit(entry->d_name, (size_t)(end - entry->d_name))) {
            fine =
                read_language(page, str_sized(entry->d_name, (size_t)(end - entry->d_name)), error);
        }
    }
    if (folder != NULL) {
        (void)closedir(folder);
    }
    return fine;
}

static void collect_texts(struct page_template *page)
{
    buffer_init(&page->all_texts, PAGE_MAX);
    for (size_t i = 0; i < page->count; i++) {
        buffer_add_char(&page->all_texts, i == 0 ? '{' : ',');
        buffer_add_json_string(&page->all_texts, str_of(page->drafts[i].version.language));
        buffer_add_char(&page->all_texts, ':');
        page_add_json(
            &page->all_texts,
            str_of(json_object_to_json_string_ext(
                page->drafts[i].texts, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE)));
    }
    buffer_add_char(&page->all_texts, '}');
}

static enum page_slot slot_named(struct str name)
{
    static const struct {
        struct str name;
        enum page_slot slot;
    } SLOTS[] = {
        {{"lang", 4}, PAGE_SLOT_LANGUAGE},   {{"face", 4}, PAGE_SLOT_FACE},
        {{"queue", 5}, PAGE_SLOT_QUEUE},     {{"message", 7}, PAGE_SLOT_MESSAGE},
        {{"place", 5}, PAGE_SLOT_PLACE},     {{"ahead", 5}, PAGE_SLOT_AHEAD},
        {{"nonce", 5}, PAGE_SLOT_NONCE},     {{"state", 5}, PAGE_SLOT_STATE},
        {{"refresh", 7}, PAGE_SLOT_REFRESH},
    };

    for (size_t i = 0; i < sizeof(SLOTS) / sizeof(SLOTS[0]); i++) {
        if (str_equal(SLOTS[i].name, name)) {
            return SLOTS[i].slot;
        }
    }
    return PAGE_SLOT_NOTHING;
}

/* Appends a constant to the version's text. Returns false for an unknown name. */
static bool add_fixed(const struct page_template *page, struct draft *draft, struct str name)
{
    if (str_starts(name, STR("text."))) {
        json_object *text = NULL;
        char key[64];
        (void)snprintf(key, sizeof(key), "%.*s", (int)(name.n - 5), name.p + 5);
        if (!json_object_object_get_ex(draft->texts, key, &text)) {
            return false;
        }
        page_add_escaped(&draft->text, str_of(json_object_get_string(text)));
    } else if (str_equal(name, STR("style"))) {
        buffer_add(&draft->text, str_of(page->style));
    } else if (str_equal(name, STR("script"))) {
        buffer_add(&draft->text, str_of(page->script));
    } else if (str_equal(name, STR("logo"))) {
        buffer_add(&draft->text, str_of(page->logo));
    } else if (str_equal(name, STR("texts"))) {
        buffer_add(&draft->text, buffer_text(&page->all_texts));
    } else {
        return false;
    }
    return true;
}

/* Pieces are kept as lengths first, as the text may move while it grows. */
static bool end_piece(struct draft *draft, size_t *from, enum page_slot slot)
{
    if (draft->version.piece_count == PIECES_MAX) {
        return false;
    }
    draft->pieces[draft->version.piece_count++] =
        (struct page_piece){.text = {.n = draft->text.length - *from}, .slot = slot};
    *from = draft->text.length;
    return true;
}

static bool compose(const struct page_template *page, struct draft *draft,
                    char error[WAITING_PAGE_ERROR])
{
    const char *rest = page->html;
    size_t from = 0;
    bool fine = true;

    for (const char *mark; fine && (mark = strstr(rest, "{{")) != NULL;) {
        const char *end = strstr(mark, "}}");
        buffer_add(&draft->text, str_sized(rest, (size_t)(mark - rest)));
        if (end == NULL) {
            rest = mark + strlen(mark);
            break;
        }
        struct str name = str_sized(mark + 2, (size_t)(end - mark) - 2);
        enum page_slot slot = slot_named(name);
        fine = slot != PAGE_SLOT_NOTHING ? end_piece(draft, &from, slot)
                                         : add_fixed(page, draft, name);
        if (!fine) {
            (void)snprintf(error, WAITING_PAGE_ERROR,
                           "the waiting page: there is no {{%.*s}} in the language %s",
                           (int)(name.n < 64 ? name.n : 64), name.p, draft->version.language);
        }
        rest = end + 2;
    }
    if (!fine) {
        return false;
    }
    buffer_add(&draft->text, str_of(rest));
    if (!end_piece(draft, &from, PAGE_SLOT_NOTHING) || !buffer_ok(&draft->text)) {
        (void)snprintf(error, WAITING_PAGE_ERROR, "the waiting page is too large");
        return false;
    }
    const char *at = draft->text.bytes;
    for (size_t i = 0; i < draft->version.piece_count; i++) {
        draft->pieces[i].text.p = at;
        at += draft->pieces[i].text.n;
    }
    draft->version.pieces = draft->pieces;
    return true;
}

struct page_template *page_template_read(const char *directory, const char *theme,
                                         char error[WAITING_PAGE_ERROR])
{
    struct page_template *page = calloc(1, sizeof(*page));

    if (page == NULL) {
        abort();
    }
    struct page_files *files = &page->files;
    page_files_begin(files, directory, theme);
    bool fine = page_files_read(files, "page.html", &page->html, error) &&
                page_files_read(files, "page.css", &page->style, error) &&
                page_files_read_script(files, &page->script, error) &&
                page_files_read(files, "logo.svg", &page->logo, error) &&
                (theme[0] == '\0' || read_languages_of(page, theme, error)) &&
                read_languages_of(page, directory, error);
    if (fine && page->count == 0) {
        (void)snprintf(error, WAITING_PAGE_ERROR, "the waiting page: there are no texts/*.json");
        fine = false;
    }
    if (fine) {
        page_files_make_small(page->html, false);
        page_files_make_small(page->style, true);
        page_files_make_small(page->script, true);
        complete_languages(page);
        collect_texts(page);
    }
    for (size_t i = 0; fine && i < page->count; i++) {
        fine = compose(page, &page->drafts[i], error);
    }
    if (!fine) {
        page_template_free(page);
        return NULL;
    }
    return page;
}

size_t page_template_count(const struct page_template *page)
{
    return page->count;
}

const struct page_version *page_template_version(const struct page_template *page, size_t index)
{
    return &page->drafts[index].version;
}

int64_t page_template_fingerprint(const struct page_template *page)
{
    return page->files.fingerprint;
}

int64_t page_template_fingerprint_now(const struct page_template *page)
{
    return page_files_fingerprint_now(&page->files);
}
