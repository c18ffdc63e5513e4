/*
 * lottery_state — the public state of a queue's draw. Commands are built here and sent by the
 * caller; replies are read here.
 */
#ifndef SLUICE_ADMISSION_LOTTERY_STATE_H
#define SLUICE_ADMISSION_LOTTERY_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/admission/outcome.h"
#include "lib/base/arena.h"
#include "lib/base/str.h"
#include "lib/store/redis_command.h"

/** Text is borrowed from the reply. */
struct lottery_state {
    struct str phase;      /* OPEN: entries take part; CLOSED: about to be drawn; DRAWN */
    struct str commitment; /* hex */
    int64_t entrants;      /* on the list, including those who left */
    int64_t opens_at_ms;   /* -1: not set */
    int64_t epoch;
    struct str seed; /* this and the next three: empty before the draw */
    struct str list_hash;
    struct str ranges;
    struct str secret;
    int64_t now_ms; /* Redis TIME */
};

/** Requests the state of the draw of `queue`. */
struct redis_command *lottery_state_ask(struct arena *arena, struct str queue);

/** OK fills `state`; NOT_FOUND, ADMISSION_UNAVAILABLE. */
enum outcome lottery_state_read(const redisReply *reply, struct lottery_state *state);

/** True if NOT_FOUND means that the queue exists but is no lottery. */
bool lottery_state_is_none(const redisReply *reply);

/** Requests `count` (≥ 1) lines "number member" of the list, starting at index `from` (≥ 0). */
struct redis_command *lottery_entrants_ask(struct arena *arena, struct str queue, int64_t from,
                                           int64_t count);

/** The `*count` lines of the reply, borrowed from it; NULL if Redis did not answer. */
const struct str *lottery_entrants_read(const redisReply *reply, struct arena *arena,
                                        size_t *count);

#endif
