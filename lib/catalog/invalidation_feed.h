/*
 * invalidation_feed — the catalogue changes published in Redis that this process has received, and
 * which entries of L1 they outdate. Each process subscribes for itself, so no change has to be
 * written into L1.
 */
#ifndef SLUICE_CATALOG_INVALIDATION_FEED_H
#define SLUICE_CATALOG_INVALIDATION_FEED_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/catalog/entry.h"
#include "lib/settings/settings.h"

struct invalidation_feed;

/** Subscribes at the Redis of the settings (borrowed). Never NULL. */
struct invalidation_feed *invalidation_feed_new(const struct settings *settings);

/** NULL is allowed. */
void invalidation_feed_free(struct invalidation_feed *feed);

/** Processes the messages that have arrived; never blocks. Returns whether it is subscribed. */
bool invalidation_feed_drain(struct invalidation_feed *feed);

/** True if the entry may predate a change: one announced since, or one that may have been
 *  missed. */
bool invalidation_feed_outdates(const struct invalidation_feed *feed, const struct catalog_key *key,
                                const struct catalog_entry *entry);

/** Records a message `name generation` received at `now_us` (monotonic); exported for tests. */
void invalidation_feed_note(struct invalidation_feed *feed, struct str message, int64_t now_us);

/** Treats everything cached before `now_us` as possibly outdated: called when the subscription
 *  begins; exported for tests. */
void invalidation_feed_reset(struct invalidation_feed *feed, int64_t now_us);

#endif
