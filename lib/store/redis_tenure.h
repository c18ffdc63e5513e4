/*
 * redis_tenure — the time for which one process is the primary without a break: from its start, or
 * from when it was made the primary, until it ends or is demoted. Whatever Redis lost, it lost
 * between two tenures: a restart may forget the last second, a fail-over what had not reached the
 * replica, and nothing in the data tells. So the tenures whose data are known to be whole stand in
 * the hash `sluice:tenures`, run id → replication id, and programs speak only to a server whose own
 * is among them. Where the hash is missing, so is everything else (or a release wrote the data that
 * knew nothing of this). Only reconcile writes it, after it has recovered the queues. Internal to
 * lib/store, but for redis_primary.h.
 */
#ifndef SLUICE_STORE_REDIS_TENURE_H
#define SLUICE_STORE_REDIS_TENURE_H

#include <stdbool.h>

#include <hiredis/hiredis.h>

#include "lib/base/arena.h"
#include "lib/base/str.h"
#include "lib/store/redis_command.h"

enum { REDIS_RUN_TEXT = 40 };

#define REDIS_TENURES "sluice:tenures"

struct redis_tenure {
    char run[REDIS_RUN_TEXT + 1]; /* of the process */
    char id[REDIS_RUN_TEXT + 1];  /* replication id: another one after each promotion */
    bool is_primary;
    bool is_first; /* it was never a replica, so another id means no promotion */
};

/** Asks a server for its tenure. */
struct redis_command *redis_tenure_ask(struct arena *arena);

/** Reads the answer; false for anything else. */
bool redis_tenure_read(const redisReply *reply, struct redis_tenure *tenure);

/** Asks for what is known of `tenure`, which must live as long as the command. */
struct redis_command *redis_tenure_known(struct arena *arena, const struct redis_tenure *tenure);

/** Reads the answer: whether the tenure's data are whole. */
bool redis_tenure_is_known(const redisReply *reply, const struct redis_tenure *tenure);

/** True when `id` is what was written down of `tenure`. */
bool redis_tenure_is(const struct redis_tenure *tenure, struct str id);

#endif
