#include "fcgi-app/gate/page_template.h"

#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <json-c/json.h>

#include "lib/settings/text_file.h"

enum { FILE_MAX = 256 * 1024, PAGE_MAX = 512 * 1024, PIECES_MAX = 256, PATH_LENGTH = 4096 + 64 };

/* A version while it is made. */
struct draft {
    struct page_version version;
    json_object *texts;
    struct buffer text;
    struct page_piece pieces[PIECES_MAX];
};

struct page_template {
    char *html, *style, *script, *logo;
    struct buffer all_texts; /* {"en": {…}, …} */
    struct draft drafts[WAITING_PAGE_LANGUAGES_MAX];
    size_t count;
};

/* Where the files are. */
struct source {
    const char *directory;
    const char *theme; /* "" for none */
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

/* The theme's file where there is one. */
static void path_of(const struct source *source, const char *name, char path[PATH_LENGTH])
{
    struct stat status;

    if (source->theme[0] != '\0') {
        (void)snprintf(path, PATH_LENGTH, "%s/%s", source->theme, name);
        if (stat(path, &status) == 0) {
            return;
        }
    }
    (void)snprintf(path, PATH_LENGTH, "%s/%s", source->directory, name);
}

static bool read_file(const struct source *source, const char *name, char **bytes,
                      char error[WAITING_PAGE_ERROR])
{
    char path[PATH_LENGTH];
    char fault[TEXT_FILE_ERROR];
    size_t length;

    path_of(source, name, path);
    if (!text_file_read(path, FILE_MAX, bytes, &length, fault)) {
        (void)snprintf(error, WAITING_PAGE_ERROR, "the waiting page: %s", fault);
        return false;
    }
    return true;
}

/* The end of a comment that begins a line, behind its line's end; NULL where there is none at `line`. */
static const char *behind_comment(const char *line)
{
    const char *end = NULL;

    if (line[0] == '/' && line[1] == '*') {
        const char *closing = strstr(line, "*/");
        end = closing == NULL ? NULL : closing + 2;
    } else if ((line[0] == '/' && line[1] == '/') || line[0] == '\n') {
        end = line + strcspn(line, "\n");
    }
    return end == NULL || *end != '\n' ? end : end + 1;
}

/* Takes out blanks at the beginning of lines, and of `code` the comments there and empty lines: a crowd loads it. */
static void make_small(char *text, bool code)
{
    const char *from = text;
    char *to = text;

    while (*from != '\0') {
        from += strspn(from, " \t");
        const char *behind = code ? behind_comment(from) : NULL;
        if (behind != NULL) {
            from = behind;
            continue;
        }
        size_t length = strcspn(from, "\n");
        length += from[length] == '\n' ? 1 : 0;
        memmove(to, from, length);
        to += length;
        from += length;
    }
    *to = '\0';
}

static bool language_is_fit(const char *name, size_t length)
{
    return length >= 2 && length <= WAITING_PAGE_LANGUAGE_MAX &&
           strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-") >= length;
}

static bool read_language(const struct source *source, struct page_template *page, const char *file,
                          size_t length, char error[WAITING_PAGE_ERROR])
{
    struct draft *draft = &page->drafts[page->count];
    char name[sizeof("texts/") + WAITING_PAGE_LANGUAGE_MAX + sizeof(".json")];
    char *text = NULL;

    for (size_t i = 0; i < page->count; i++) {
        if (strncmp(page->drafts[i].version.language, file, length) == 0 &&
            page->drafts[i].version.language[length] == '\0') {
            return true;
        }
    }
    if (page->count == WAITING_PAGE_LANGUAGES_MAX) {
        return true;
    }
    (void)snprintf(name, sizeof(name), "texts/%.*s.json", (int)length, file);
    if (!read_file(source, name, &text, error)) {
        return false;
    }
    draft->texts = json_tokener_parse(text);
    free(text);
    if (!json_object_is_type(draft->texts, json_type_object)) {
        (void)json_object_put(draft->texts);
        (void)snprintf(error, WAITING_PAGE_ERROR, "the waiting page: %s is no JSON object of texts",
                       name);
        return false;
    }
    memcpy(draft->version.language, file, length);
    draft->version.language[length] = '\0';
    buffer_init(&draft->text, PAGE_MAX);
    page->count++;
    return true;
}

static bool read_languages_of(const struct source *source, struct page_template *page,
                              const char *directory, char error[WAITING_PAGE_ERROR])
{
    char path[PATH_LENGTH];
    bool fine = true;

    (void)snprintf(path, sizeof(path), "%s/texts", directory);
    DIR *folder = opendir(path);
    for (const struct dirent *entry; fine && folder != NULL && (entry = readdir(folder)) != NULL;) {
        const char *end = strstr(entry->d_name, ".json");
        if (end != NULL && strcmp(end, ".json") == 0 &&
            language_is_fit(entry->d_name, (size_t)(end - entry->d_name))) {
            fine = read_language(source, page, entry->d_name, (size_t)(end - entry->d_name), error);
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

/* Puts what never changes into the version's text. Returns false for a name that means nothing. */
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

/* Pieces are kept as lengths first: the text moves while it grows. */
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
    const struct source from = {.directory = directory, .theme = theme};
    const struct source *source = &from;
    struct page_template *page = calloc(1, sizeof(*page));

    if (page == NULL) {
        abort();
    }
    bool fine =
        read_file(source, "page.html", &page->html, error) &&
        read_file(source, "page.css", &page->style, error) &&
        read_file(source, "page.js", &page->script, error) &&
        read_file(source, "logo.svg", &page->logo, error) &&
        (source->theme[0] == '\0' || read_languages_of(source, page, source->theme, error)) &&
        read_languages_of(source, page, source->directory, error);
    if (fine && page->count == 0) {
        (void)snprintf(error, WAITING_PAGE_ERROR, "the waiting page: there are no texts/*.json");
        fine = false;
    }
    if (fine) {
        make_small(page->html, false);
        make_small(page->style, true);
        make_small(page->script, true);
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

static int64_t mix(int64_t fingerprint, const char *path)
{
    struct stat status;
    uint64_t mixed = (uint64_t)fingerprint * 31;

    if (stat(path, &status) == 0) {
        mixed = (mixed + (uint64_t)status.st_mtim.tv_sec) * 31;
        mixed = (mixed + (uint64_t)status.st_mtim.tv_nsec) * 31 + (uint64_t)status.st_size;
    }
    return (int64_t)mixed;
}

int64_t page_template_fingerprint(const struct page_template *page, const char *directory,
                                  const char *theme)
{
    static const char *const FILES[] = {"page.html", "page.css", "page.js", "logo.svg", "texts"};
    const struct source source = {.directory = directory, .theme = theme};
    char path[PATH_LENGTH];
    int64_t fingerprint = 0;

    for (size_t i = 0; i < sizeof(FILES) / sizeof(FILES[0]); i++) {
        path_of(&source, FILES[i], path);
        fingerprint = mix(fingerprint, path);
    }
    for (size_t i = 0; i < page->count; i++) {
        char name[sizeof("texts/.json") + WAITING_PAGE_LANGUAGE_MAX];
        (void)snprintf(name, sizeof(name), "texts/%s.json", page->drafts[i].version.language);
        path_of(&source, name, path);
        fingerprint = mix(fingerprint, path);
    }
    return fingerprint;
}
