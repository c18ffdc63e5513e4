/*
 * invalidation_feed — the changes of the catalogue's objects that this process has been told of,
 * since when it listens, and what that means for what L1 has cached. Each process listens for
 * itself, so nobody has to write into L1 to make it stale.
 */
#ifndef SLUICE_CATALOG_INVALIDATION_FEED_H
#define SLUICE_CATALOG_INVALIDATION_FEED_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/catalog/entry.h"
#include "lib/settings/settings.h"

struct invalidation_feed;

/** Subscribes at the Redis that the settings (borrowed) name. Never NULL. */
struct invalidation_feed *invalidation_feed_new(const struct settings *settings);

/** NULL is allowed. */
void invalidation_feed_free(struct invalidation_feed *feed);

/** Reads the messages that have arrived; never waits. Returns whether it is subscribed. */
bool invalidation_feed_drain(struct invalidation_feed *feed);

/** True when the entry may be from before a change: of one that was announced since, or that may
 *  have been missed. */
bool invalidation_feed_outdates(const struct invalidation_feed *feed, const struct catalog_key *key,
                                const struct catalog_entry *entry);

/** Takes in a message `name generation` at `now_us` (monotonic); for tests. */
void invalidation_feed_note(struct invalidation_feed *feed, struct str message, int64_t now_us);

/** Everything that was cached before `now_us` may be stale: called when the subscription begins;
 *  for tests. */
void invalidation_feed_reset(struct invalidation_feed *feed, int64_t now_us);

#endif
