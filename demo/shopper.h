/*
 * shopper — one simulated person: arrives, waits, polls exactly when told to, chooses, orders and
 * leaves; then another person takes the same slot. Some repeat their order, some wander off, some
 * come too late.
 */
#ifndef SLUICE_DEMO_SHOPPER_H
#define SLUICE_DEMO_SHOPPER_H

#include <stdbool.h>
#include <stdint.h>

#include "demo/api_client.h"
#include "demo/member_token.h"
#include "demo/tally.h"
#include "lib/base/identifier.h"
#include "lib/base/random.h"

enum { TICKET_TEXT = 2048, ORDER_ID_TEXT = 128, BASKET_TEXT = 512 };

/** What all shoppers share. Pointers are borrowed. */
struct shopper_context {
    struct api_client *api;
    struct tally *tally;
    const char *queue;
    struct mac_key *member_key;   /* signs members' tokens */
    char run[RANDOM_ID_TEXT + 1]; /* distinguishes the members of this run from those of others */
};

enum shopper_step {
    SHOPPER_OUTSIDE,   /* the next person is not here yet */
    SHOPPER_ENTERING,  /* about to enter the queue */
    SHOPPER_IN_LINE,   /* polls */
    SHOPPER_CHOOSING,  /* holds an entry token and thinks */
    SHOPPER_ORDERING,  /* sends the order, and again if there is no answer */
    SHOPPER_REPEATING, /* has the order and sends it once more */
    SHOPPER_LEAVING    /* gives the place up */
};

enum shopper_temper {
    TEMPER_STEADY,
    TEMPER_REPEATS,  /* presses the button twice */
    TEMPER_VANISHES, /* stops polling without leaving */
    TEMPER_LEAVES,   /* gives the place up in line */
    TEMPER_DAWDLES,  /* is away for a while and polls late */
    TEMPER_LATE      /* orders with an expired token, and queues up again */
};

struct shopper {
    const struct shopper_context *context;
    enum shopper_step step;
    enum shopper_temper temper;
    int64_t due;      /* monotonic ms of the next action */
    bool busy;        /* a request is in flight */
    int polls_left;   /* before temper shows */
    int baskets_left; /* before giving up on empty shelves */
    char member[MEMBER_MAX + 1];
    char token[MEMBER_TOKEN_TEXT];
    char ticket[TICKET_TEXT];
    char entry_token[RANDOM_TOKEN_TEXT + 1];
    char key[RANDOM_ID_TEXT + 1]; /* Idempotency-Key of the basket */
    char order[ORDER_ID_TEXT];
    char basket[BASKET_TEXT]; /* body of the order */
};

/** A slot whose first person arrives at `arrival` (monotonic ms). */
void shopper_init(struct shopper *shopper, const struct shopper_context *context, int64_t arrival);

/** Does what is due at `now`; returns when something will be due next: shopper->due, or far in the
 *  future while a request is in flight. */
int64_t shopper_step(struct shopper *shopper, int64_t now);

#endif
