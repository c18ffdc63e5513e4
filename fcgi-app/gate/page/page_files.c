#include "fcgi-app/gate/page/page_files.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "lib/base/buffer.h"
#include "lib/base/str.h"
#include "lib/settings/text_file.h"

enum { FILE_MAX = 256 * 1024, PATH_LENGTH = 4096 + 64, PART_NAME_MAX = 31 };

/* The theme's file if there is one. */
static void path_of(const struct page_files *files, const char *name, char path[PATH_LENGTH])
{
    struct stat status;

    if (files->theme[0] != '\0') {
        (void)snprintf(path, PATH_LENGTH, "%s/%s", files->theme, name);
        if (stat(path, &status) == 0) {
            return;
        }
    }
    (void)snprintf(path, PATH_LENGTH, "%s/%s", files->directory, name);
}

static int64_t mix_path(int64_t fingerprint, const char *path)
{
    struct stat status;
    uint64_t mixed = (uint64_t)fingerprint * 31;

    if (stat(path, &status) == 0) {
        mixed = (mixed + (uint64_t)status.st_ino) * 31;
        mixed = (mixed + (uint64_t)status.st_mtim.tv_sec) * 31;
        mixed = (mixed + (uint64_t)status.st_mtim.tv_nsec) * 31 + (uint64_t)status.st_size;
    }
    return (int64_t)mixed;
}

/* The theme's file and the default one: a text of the latter may complete the former. */
static int64_t mix(int64_t fingerprint, const struct page_files *files, const char *name)
{
    char path[PATH_LENGTH];

    if (files->theme[0] != '\0') {
        (void)snprintf(path, sizeof(path), "%s/%s", files->theme, name);
        fingerprint = mix_path(fingerprint, path);
    }
    (void)snprintf(path, sizeof(path), "%s/%s", files->directory, name);
    return mix_path(fingerprint, path);
}

/* Includes the folders, in which new files may appear. */
static int64_t mix_folders(const struct page_files *files)
{
    return mix(mix(0, files, "texts"), files, "script");
}

void page_files_begin(struct page_files *files, const char *directory, const char *theme)
{
    files->directory = directory;
    files->theme = theme;
    files->count = 0;
    files->fingerprint = mix_folders(files);
}

int64_t page_files_fingerprint_now(const struct page_files *files)
{
    int64_t fingerprint = mix_folders(files);

    for (size_t i = 0; i < files->count; i++) {
        fingerprint = mix(fingerprint, files, files->names[i]);
    }
    return fingerprint;
}

/* Adds the file to the fingerprint, whether or not it exists. To be called before the file is read,
 * so that a later change is detected. */
static bool note(struct page_files *files, const char *name, char error[WAITING_PAGE_ERROR])
{
    if (files->count == PAGE_FILES_MAX) {
        (void)snprintf(error, WAITING_PAGE_ERROR, "the waiting page: it has more than %d files",
                       PAGE_FILES_MAX);
        return false;
    }
    (void)snprintf(files->names[files->count++], PAGE_FILE_NAME, "%s", name);
    files->fingerprint = mix(files->fingerprint, files, name);
    return true;
}

static bool read_path(const char *path, char **bytes, char error[WAITING_PAGE_ERROR])
{
    char fault[TEXT_FILE_ERROR];
    size_t length;

    if (!text_file_read(path, FILE_MAX, bytes, &length, fault)) {
        (void)snprintf(error, WAITING_PAGE_ERROR, "the waiting page: %s", fault);
        return false;
    }
    return true;
}

static bool read_noted(const struct page_files *files, const char *name, char **bytes,
                       char error[WAITING_PAGE_ERROR])
{
    char path[PATH_LENGTH];

    path_of(files, name, path);
    return read_path(path, bytes, error);
}

bool page_files_read_default(struct page_files *files, const char *name, char **bytes,
                             char error[WAITING_PAGE_ERROR])
{
    char path[PATH_LENGTH];

    (void)snprintf(path, sizeof(path), "%s/%s", files->directory, name);
    return note(files, name, error) && read_path(path, bytes, error);
}

bool page_files_read(struct page_files *files, const char *name, char **bytes,
                     char error[WAITING_PAGE_ERROR])
{
    return note(files, name, error) && read_noted(files, name, bytes, error);
}

static bool add_part(struct page_files *files, struct str name, struct buffer *script,
                     char error[WAITING_PAGE_ERROR])
{
    char file[PAGE_FILE_NAME];
    char *part = NULL;

    (void)snprintf(file, sizeof(file), "script/%.*s.js", STR_ARG(name));
    if (!page_files_read(files, file, &part, error)) {
        return false;
    }
    buffer_add(script, str_of(part));
    buffer_add_char(script, '\n');
    free(part);
    return true;
}

/* Appends a line with its end, or the part that it includes. */
static bool add_line(struct page_files *files, const char *line, size_t length,
                     struct buffer *script, char error[WAITING_PAGE_ERROR])
{
    static const char NAME[] = "abcdefghijklmnopqrstuvwxyz0123456789-";
    const struct str include = STR("//@include ");
    const char *text = line + strspn(line, " \t");

    if (strncmp(text, include.p, include.n) != 0) {
        buffer_add(script, str_sized(line, length));
        return true;
    }
    text += include.n;
    struct str name = str_trim(str_sized(text, strcspn(text, "\r\n")));
    if (name.n == 0 || name.n > PART_NAME_MAX || strspn(name.p, NAME) < name.n) {
        (void)snprintf(
            error, WAITING_PAGE_ERROR,
            "the waiting page: script/main.js includes '%.*s', which cannot be a part's name",
            (int)(name.n < 64 ? name.n : 64), name.p);
        return false;
    }
    return add_part(files, name, script, error);
}

/* The complete script of a theme, or our main part. That one is not called page.js as well: workers
 * of a release without parts read that name again as soon as it is replaced, and would send a page
 * that does nothing. */
static bool read_main(struct page_files *files, char **text, char error[WAITING_PAGE_ERROR])
{
    static const char WHOLE[] = "page.js";
    char path[PATH_LENGTH];
    struct stat status;

    if (!note(files, WHOLE, error)) {
        return false;
    }
    (void)snprintf(path, sizeof(path), "%s/%s", files->theme, WHOLE);
    if (files->theme[0] != '\0' && stat(path, &status) == 0) {
        return read_noted(files, WHOLE, text, error);
    }
    return page_files_read(files, "script/main.js", text, error);
}

bool page_files_read_script(struct page_files *files, char **script, char error[WAITING_PAGE_ERROR])
{
    char *text = NULL;
    struct buffer whole;

    if (!read_main(files, &text, error)) {
        return false;
    }
    buffer_init(&whole, FILE_MAX);
    bool fine = true;
    for (const char *line = text; fine && *line != '\0';) {
        size_t length = strcspn(line, "\n");
        length += line[length] == '\n' ? 1 : 0;
        fine = add_line(files, line, length, &whole, error);
        line += length;
    }
    free(text);
    buffer_add_char(&whole, '\0');
    if (fine && !buffer_ok(&whole)) {
        (void)snprintf(error, WAITING_PAGE_ERROR, "the waiting page: its script is too large");
        fine = false;
    }
    if (!fine) {
        buffer_free(&whole);
        return false;
    }
    *script = whole.bytes;
    return true;
}

/* The end of a comment that begins at `line`, after its line end; NULL if there is none. */
static const char *skip_comment(const char *line)
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

void page_files_make_small(char *text, bool code)
{
    const char *from = text;
    char *to = text;

    while (*from != '\0') {
        from += strspn(from, " \t");
        const char *behind = code ? skip_comment(from) : NULL;
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
