/*
 * redis_tenure — a tenure is the time for which one process is the primary without interruption:
 * from its start or promotion until it ends or is demoted. Redis loses data only between two
 * tenures: a restart may lose the last second, a fail-over what had not reached the replica, and
 * nothing in the data shows it. The tenures whose data are known to be complete are therefore
 * recorded in the hash `sluice:tenures`, run id → replication id, and programs use only a server
 * whose own tenure is among them. If the hash is missing, so is everything else (or an earlier
 * release without tenures wrote the data). Only reconcile writes the hash, after it has recovered
 * the queues. Internal to lib/store, except for redis_primary.h.
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
    char run[REDIS_RUN_TEXT + 1]; /* run id of the process */
    char id[REDIS_RUN_TEXT + 1];  /* replication id: changes with each promotion */
    bool is_primary;
    bool is_first; /* it was never a replica, so a different id does not mean a promotion */
};

/** Requests a server's tenure. */
struct redis_command *redis_tenure_ask(struct arena *arena);

/** Parses the reply; false for anything else. */
bool redis_tenure_read(const redisReply *reply, struct redis_tenure *tenure);

/** Requests the record of `tenure`, which must live as long as the command. */
struct redis_command *redis_tenure_known(struct arena *arena, const struct redis_tenure *tenure);

/** Parses the reply: whether the tenure's data are complete. */
bool redis_tenure_is_known(const redisReply *reply, const struct redis_tenure *tenure);

/** True when `id` is what was recorded of `tenure`. */
bool redis_tenure_is(const struct redis_tenure *tenure, struct str id);

#endif
