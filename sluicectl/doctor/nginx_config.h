/*
 * nginx_config — an nginx configuration, parsed from the output of `nginx -T`.
 */
#ifndef SLUICE_SLUICECTL_NGINX_CONFIG_H
#define SLUICE_SLUICECTL_NGINX_CONFIG_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/base/arena.h"
#include "lib/base/str.h"

enum { NGINX_WORDS_MAX = 64 };

/** One directive; words in the arena, without quotes. */
struct nginx_directive {
    struct str words[NGINX_WORDS_MAX]; /* the first is its name; those beyond are dropped */
    size_t count;                      /* ≥ 1 */
};

struct nginx_reader {
    struct arena *arena;
    struct str rest;
};

/** Starts at the beginning of `text`, which must outlive the reader. */
void nginx_reader_start(struct nginx_reader *reader, struct arena *arena, struct str text);

/** Reads the next directive, whether a block follows it or not. False at the end. Blocks of other
 *  languages do not occur: the text has passed nginx -t. */
bool nginx_reader_next(struct nginx_reader *reader, struct nginx_directive *directive);

/** True when the directive is called `name`. */
bool nginx_is(const struct nginx_directive *directive, const char *name);

#endif
