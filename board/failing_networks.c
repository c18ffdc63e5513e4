#include "board/failing_networks.h"

#include <stddef.h>

#include "lib/base/hash.h"

static bool is_recent(const struct network_answer *answer, int64_t now_ms)
{
    return answer->network != 0 && now_ms - answer->at_ms < FAILING_NETWORKS_WINDOW_MS;
}

static void remember(struct network_answer answers[FAILING_NETWORKS_KEPT], uint64_t network,
                     int64_t now_ms)
{
    struct network_answer *place = &answers[0];

    for (size_t i = 0; i < FAILING_NETWORKS_KEPT && place->network != network; i++) {
        if (answers[i].network == network || answers[i].at_ms < place->at_ms) {
            place = &answers[i];
        }
    }
    *place = (struct network_answer){.network = network, .at_ms = now_ms};
}

static int count_recent(const struct network_answer answers[FAILING_NETWORKS_KEPT], int64_t now_ms)
{
    int count = 0;

    for (size_t i = 0; i < FAILING_NETWORKS_KEPT; i++) {
        count += is_recent(&answers[i], now_ms);
    }
    return count;
}

bool failing_networks_note(struct failing_networks *networks, struct str network, bool is_failure,
                           int64_t now_ms)
{
    uint64_t hash = hash_text(network) | 1; /* 0 is an empty place */

    if (network.n == 0) {
        return true;
    }
    remember(networks->seen, hash, now_ms);
    if (!is_failure) {
        return true;
    }
    remember(networks->failed, hash, now_ms);
    int failed = count_recent(networks->failed, now_ms);
    return failed >= FAILING_NETWORKS_ENOUGH || 2 * failed >= count_recent(networks->seen, now_ms);
}
