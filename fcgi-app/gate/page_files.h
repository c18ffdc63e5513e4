/*
 * page_files — the waiting page's files as they lie in their folders: which of two counts, what it
 * says, as small as a crowd should load it, and whether any has changed.
 *
 * In script/main.js a line `//@include NAME` stands for script/NAME.js, a part of the script; NAME
 * is of a-z, 0-9 and '-'. Parts include nothing themselves. A theme's page.js replaces them all.
 */
#ifndef SLUICE_GATE_PAGE_FILES_H
#define SLUICE_GATE_PAGE_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fcgi-app/gate/waiting_page.h"

enum { PAGE_FILES_MAX = 64, PAGE_FILE_NAME = 48 };

struct page_files {
    const char *directory;
    const char *theme;
    char names[PAGE_FILES_MAX][PAGE_FILE_NAME]; /* what was read */
    size_t count;
    int64_t fingerprint; /* of these files, each as it was just before it was read */
};

/** Before anything is read. The folders' names are borrowed: what `theme` has, "" for none,
 *  replaces the same of `directory`. */
void page_files_begin(struct page_files *files, const char *directory, const char *theme);

/** Reads the file `name` into `*bytes`, NUL behind it; free() it. Returns false, with one
 *  sentence in `error`, for one that is missing, too large or writable by everyone, and beyond
 *  PAGE_FILES_MAX. */
bool page_files_read(struct page_files *files, const char *name, char **bytes,
                     char error[WAITING_PAGE_ERROR]);

/** The same of the script, with its parts in their places. */
bool page_files_read_script(struct page_files *files, char **script,
                            char error[WAITING_PAGE_ERROR]);

/** Takes out blanks at the beginning of lines, and of `code` the comments there and empty lines. */
void page_files_make_small(char *text, bool code);

/** A number that changes when one of the files that were read does, or when one comes or goes:
 *  of how they are now. Where it is not files->fingerprint, what was read may be of two
 *  versions. */
int64_t page_files_fingerprint_now(const struct page_files *files);

#endif
