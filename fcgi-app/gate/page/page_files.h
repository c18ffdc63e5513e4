/*
 * page_files — reads the waiting page's files: picks the theme's or the default one, minifies it,
 * and detects changes.
 *
 * In script/main.js a line `//@include NAME` stands for script/NAME.js, a part of the script; NAME
 * consists of a-z, 0-9 and '-'. Parts include nothing themselves. A theme's page.js replaces all.
 */
#ifndef SLUICE_GATE_PAGE_FILES_H
#define SLUICE_GATE_PAGE_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fcgi-app/gate/page/waiting_page.h"

enum { PAGE_FILES_MAX = 64, PAGE_FILE_NAME = 48 };

struct page_files {
    const char *directory;
    const char *theme;
    char names[PAGE_FILES_MAX][PAGE_FILE_NAME]; /* the files read */
    size_t count;
    int64_t fingerprint; /* of these files, each taken just before it was read */
};

/** To be called before anything is read. The folders' names are borrowed; a file in `theme` ("" for
 *  none) replaces the one in `directory`. */
void page_files_begin(struct page_files *files, const char *directory, const char *theme);

/** Reads the file `name` into `*bytes`, NUL-terminated; free() it. Returns false, with one sentence
 *  in `error`, if it is missing, too large or world-writable, or beyond PAGE_FILES_MAX. */
bool page_files_read(struct page_files *files, const char *name, char **bytes,
                     char error[WAITING_PAGE_ERROR]);

/** The same of the default file, also where the theme has one. */
bool page_files_read_default(struct page_files *files, const char *name, char **bytes,
                             char error[WAITING_PAGE_ERROR]);

/** The same for the script, with its parts included. */
bool page_files_read_script(struct page_files *files, char **script,
                            char error[WAITING_PAGE_ERROR]);

/** Removes leading blanks of lines, and in `code` also comments there and empty lines. */
void page_files_make_small(char *text, bool code);

/** A number that changes when one of the files read changes, appears or disappears: of their
 *  current state. If it differs from files->fingerprint, the reading may mix two versions. */
int64_t page_files_fingerprint_now(const struct page_files *files);

#endif
