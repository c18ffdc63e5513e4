#include "demo/tally.h"

#include <inttypes.h>

void tally_new_second(struct tally *tally)
{
    tally->peak = tally->in_flight;
    tally->trouble[0] = '\0';
}

void tally_order_begins(struct tally *tally)
{
    tally->in_flight++;
    if (tally->in_flight > tally->peak) {
        tally->peak = tally->in_flight;
    }
}

void tally_order_ends(struct tally *tally)
{
    tally->in_flight--;
}

void tally_unanswered(struct tally *tally, const struct api_reply *reply)
{
    tally->unanswered++;
    if (reply->status == 0) {
        (void)snprintf(tally->trouble, sizeof(tally->trouble),
                       "the server does not answer; continuing");
    } else {
        (void)snprintf(tally->trouble, sizeof(tally->trouble), "%ld %s; continuing", reply->status,
                       reply->code);
    }
}

void tally_unexpected(struct tally *tally, const char *asked, const struct api_reply *reply)
{
    tally->unexpected++;
    (void)snprintf(tally->trouble, sizeof(tally->trouble), "unexpected: %s answered %ld %s", asked,
                   reply->status, reply->code);
}

void tally_print(const struct tally *tally, int64_t seconds, FILE *file)
{
    const struct {
        const char *text;
        int64_t number;
    } rows[] = {
        {"shoppers who came", tally->arrived},
        {"let in", tally->admitted},
        {"orders", tally->ordered},
        {"repeats answered with the same order", tally->replayed},
        {"baskets out of stock", tally->out_of_stock},
        {"turned away", tally->turned_away},
        {"left the queue", tally->left},
        {"never came back", tally->vanished},
        {"came too late", tally->late},
        {"requests without an answer", tally->unanswered},
        {"unexpected answers", tally->unexpected},
    };

    (void)fprintf(file, "summary after %" PRId64 " s:\n", seconds);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        (void)fprintf(file, "%8" PRId64 "  %s\n", rows[i].number, rows[i].text);
    }
}
