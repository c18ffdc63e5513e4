#include "lib/admission/snapshot/snapshot_state.h"

static const struct str WORDS[SNAPSHOT_STATES] = {
    [SNAPSHOT_PRE_OPEN] = {.p = "PRE_OPEN", .n = 8},
    [SNAPSHOT_OPEN] = {.p = "OPEN", .n = 4},
    [SNAPSHOT_PAUSED] = {.p = "PAUSED", .n = 6},
    [SNAPSHOT_DRAINING] = {.p = "DRAINING", .n = 8},
    [SNAPSHOT_SOLD_OUT] = {.p = "SOLD_OUT", .n = 8},
    [SNAPSHOT_CLOSED] = {.p = "CLOSED", .n = 6},
};

struct str snapshot_state_word(enum snapshot_state state)
{
    return WORDS[state];
}

bool snapshot_state_read(struct str word, enum snapshot_state *state)
{
    for (int i = 0; i < SNAPSHOT_STATES; i++) {
        if (str_equal(word, WORDS[i])) {
            *state = (enum snapshot_state)i;
            return true;
        }
    }
    return false;
}
