/*
 * failing_networks — whether failures of the site behind the gate are its own. One client can ask for
 * what always fails as often as it likes; that must not slow the line down for everybody. So
 * failures count once several networks have had some, or half of the few that there are.
 */
#ifndef SLUICE_BOARD_FAILING_NETWORKS_H
#define SLUICE_BOARD_FAILING_NETWORKS_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/str.h"

enum {
    FAILING_NETWORKS_ENOUGH = 5,        /* so many are believed whoever else is there */
    FAILING_NETWORKS_WINDOW_MS = 10000, /* how long an answer is remembered */
    FAILING_NETWORKS_KEPT = 32
};

/** One network's latest answer of a kind. */
struct network_answer {
    uint64_t network; /* a hash */
    int64_t at_ms;
};

/** The networks that had an answer of late, and those of them whose answer was a failure; starts
 *  zeroed. The oldest make room. */
struct failing_networks {
    struct network_answer seen[FAILING_NETWORKS_KEPT];
    struct network_answer failed[FAILING_NETWORKS_KEPT];
};

/** Remembers an answer to `network` (any text; empty: not known) at `now_ms` (monotonic). Returns
 *  whether it counts: always if it is no failure or the network is not known; a failure if
 *  FAILING_NETWORKS_ENOUGH networks, or at least half of those seen, have had one within the
 *  window. */
bool failing_networks_note(struct failing_networks *networks, struct str network, bool is_failure,
                           int64_t now_ms);

#endif
