/*
 * shop — the operator's side of the demo: creates the queue and its products, restocks them from
 * time to time, and watches the queue's statistics.
 */
#ifndef SLUICE_DEMO_SHOP_H
#define SLUICE_DEMO_SHOP_H

#include <stdbool.h>
#include <stdint.h>

#include "demo/api_client.h"
#include "demo/tally.h"

enum { SHOP_PRODUCTS = 4, SKU_TEXT = 80 };

struct shop_numbers {
    int64_t waiting;
    int64_t ready;
    double admitted_per_second;
    bool known; /* false while the server returned none */
};

struct shop {
    struct api_client *api;
    struct tally *tally;
    const char *queue;
    const char *admin_key;
    bool open;   /* queue and products exist */
    bool asking; /* a request about the queue or a shelf is in flight */
    bool asking_stats;
    bool queue_made;
    bool emptied;      /* members left in line by an earlier run have been removed */
    int shelf;         /* the next one of this round; SHOP_PRODUCTS: the round is over */
    int64_t next_look; /* earliest time of the next check of the queue or a shelf */
    int64_t next_stats;
    struct shop_numbers numbers;
};

/** Prepares the shop; nothing is sent yet. All pointers are borrowed. */
void shop_init(struct shop *shop, struct api_client *api, struct tally *tally, const char *queue,
               const char *admin_key);

/** Does what is due at `now` (monotonic ms); returns for how many ms nothing will be due. */
int64_t shop_step(struct shop *shop, int64_t now);

/** Writes the SKU of product `number` (0 … SHOP_PRODUCTS - 1) of `queue`. */
void shop_sku(const char *queue, int number, char sku[SKU_TEXT]);

/** A random product number, popular ones more often. */
int shop_pick(void);

#endif
