/*
 * news — what this process has heard of changes, since when it has been listening, and what that means for
 * something that L1 keeps. Each process listens for itself, so nobody has to write into L1 to make it old.
 */
#ifndef SLUICE_CATALOG_NEWS_H
#define SLUICE_CATALOG_NEWS_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/catalog/entry.h"
#include "lib/settings/settings.h"

struct news;

/** Listens at the Redis that the settings (borrowed) name. Never NULL. */
struct news *news_new(const struct settings *settings);

/** NULL is allowed. */
void news_free(struct news *news);

/** Hears whatever has arrived; never waits. Returns whether it listens. */
bool news_drain(struct news *news);

/** Whether the entry may be from before a change: one was heard of since, or may have been missed since. */
bool news_make_old(const struct news *news, const struct catalog_key *key,
                   const struct catalog_entry *entry);

/** Takes in a message `name generation` at `now_us`; for tests. */
void news_hear(struct news *news, struct str message, int64_t now_us);

/** What was asked before `now_us` may be old, whatever it is: called when listening begins; for tests. */
void news_begin(struct news *news, int64_t now_us);

#endif
