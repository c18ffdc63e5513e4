#include "demo/crowd.h"

#include <stdio.h>
#include <stdlib.h>

#include "lib/base/random.h"

enum { BURST_PERCENT = 70, BURST_MS = 1500, TRICKLE_MS = 30000, LONGEST_WAIT_MS = 1000 };

struct crowd {
    size_t count;
    struct shopper shoppers[];
};

struct crowd *crowd_new(const struct shopper_context *context, int64_t count, int64_t now)
{
    struct crowd *crowd = calloc(1, sizeof(*crowd) + (size_t)count * sizeof(crowd->shoppers[0]));

    if (crowd == NULL) {
        (void)fprintf(stderr, "sluice-shoppers: out of memory\n");
        exit(EXIT_FAILURE);
    }
    crowd->count = (size_t)count;
    for (size_t i = 0; i < crowd->count; i++) {
        uint32_t within = random_below(100) < BURST_PERCENT ? BURST_MS : TRICKLE_MS;
        shopper_init(&crowd->shoppers[i], context, now + random_below(within));
    }
    return crowd;
}

void crowd_free(struct crowd *crowd)
{
    free(crowd);
}

int64_t crowd_step(struct crowd *crowd, int64_t now)
{
    int64_t next = now + LONGEST_WAIT_MS;

    for (size_t i = 0; i < crowd->count; i++) {
        int64_t due = shopper_step(&crowd->shoppers[i], now);
        if (due < next) {
            next = due;
        }
    }
    return next > now ? next - now : 0;
}
