#include "board/snapshot_rounds.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/admission/snapshot/snapshot_keeper.h"
#include "lib/base/clock.h"
#include "lib/base/log.h"

enum { OPEN_AGAIN_MS = 1000 };

struct snapshot_rounds {
    const struct settings *settings;
    struct snapshot_keeper
        *keeper; /* NULL: another process has it open, or the file is not usable */
    bool complained;
    int64_t next_ms; /* monotonic */
};

struct snapshot_rounds *snapshot_rounds_new(const struct settings *settings)
{
    struct snapshot_rounds *rounds = calloc(1, sizeof(*rounds));

    if (rounds == NULL) {
        abort();
    }
    rounds->settings = settings;
    return rounds;
}

void snapshot_rounds_free(struct snapshot_rounds *rounds)
{
    snapshot_keeper_close(rounds->keeper);
    free(rounds);
}

void snapshot_rounds_see(struct snapshot_rounds *rounds, struct str queue, int64_t waiting)
{
    if (rounds->keeper != NULL) {
        snapshot_keeper_see(rounds->keeper, queue, waiting);
    }
}

static bool open_keeper(struct snapshot_rounds *rounds)
{
    rounds->keeper = snapshot_keeper_open(rounds->settings->snapshot_file);
    if (rounds->keeper != NULL) {
        rounds->complained = false;
        return true;
    }
    if (errno != EAGAIN && errno != EACCES && !rounds->complained) {
        log_event(LOG_LEVEL_WARNING, "snapshot.unusable",
                  LOG_FIELDS(LOG_TEXT("file", rounds->settings->snapshot_file),
                             LOG_TEXT("why", strerror(errno))));
        rounds->complained = true;
    }
    return false;
}

/* Stops at the first queue for which Redis does not answer: the others would run into the same
 * time-out. */
static void refresh_all(struct snapshot_rounds *rounds, struct redis *redis, struct arena *arena)
{
    size_t i = 0;

    while (i < snapshot_keeper_count(rounds->keeper)) {
        size_t before = snapshot_keeper_count(rounds->keeper);
        if (!snapshot_keeper_refresh(rounds->keeper, i, redis, arena, clock_monotonic_ms())) {
            return;
        }
        /* After a removal another one has moved to this index. */
        i += snapshot_keeper_count(rounds->keeper) == before ? 1 : 0;
    }
}

int64_t snapshot_rounds_step(struct snapshot_rounds *rounds, struct redis *redis,
                             struct arena *arena)
{
    int64_t now = clock_monotonic_ms();

    if (rounds->settings->snapshot_file[0] == '\0') {
        return OPEN_AGAIN_MS;
    }
    if (now < rounds->next_ms) {
        return rounds->next_ms - now;
    }
    if (rounds->keeper == NULL && !open_keeper(rounds)) {
        rounds->next_ms = now + OPEN_AGAIN_MS;
        return OPEN_AGAIN_MS;
    }
    refresh_all(rounds, redis, arena);
    rounds->next_ms = now + rounds->settings->snapshot_interval_ms;
    int64_t wait = rounds->next_ms - clock_monotonic_ms();
    return wait > 0 ? wait : 0;
}
