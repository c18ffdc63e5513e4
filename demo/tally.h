/*
 * tally — what the simulated shoppers saw, counted since the start.
 */
#ifndef SLUICE_DEMO_TALLY_H
#define SLUICE_DEMO_TALLY_H

#include <stdint.h>
#include <stdio.h>

#include "demo/api_client.h"

enum { TROUBLE_TEXT = 96 };

struct tally {
    int64_t arrived;      /* shoppers who arrived */
    int64_t admitted;     /* polls that turned READY */
    int64_t ordered;      /* orders made */
    int64_t replayed;     /* repeats under the same key answered with the same order */
    int64_t out_of_stock; /* baskets refused */
    int64_t turned_away;  /* arrived while the queue was closed, full or sold out */
    int64_t left;         /* gave up their place */
    int64_t vanished;     /* stopped polling and never came back */
    int64_t late;         /* came with an expired token */
    int64_t unanswered;   /* requests without an answer, or answered as unavailable */
    int64_t
        unexpected; /* answers that the contract does not foresee; 0 unless something is broken */
    int64_t in_flight;          /* orders in flight now */
    int64_t peak;               /* most orders in flight since tally_new_second() */
    char trouble[TROUBLE_TEXT]; /* what went wrong since tally_new_second(); "" nothing */
};

/** Begins a new second: resets peak and trouble. */
void tally_new_second(struct tally *tally);

/** An order request is sent, or has been answered. */
void tally_order_begins(struct tally *tally);
void tally_order_ends(struct tally *tally);

/** Records a request that got no answer, or one that asks to come back later. */
void tally_unanswered(struct tally *tally, const struct api_reply *reply);

/** Records an unexpected answer; `asked` says to what. */
void tally_unexpected(struct tally *tally, const char *asked, const struct api_reply *reply);

/** Writes the summary, one fact a line. `seconds`: how long the demo ran. */
void tally_print(const struct tally *tally, int64_t seconds, FILE *file);

#endif
