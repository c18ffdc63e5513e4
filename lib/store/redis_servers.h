/*
 * redis_servers — parses what Sentinels and cluster nodes say about who serves what. Internal to
 * lib/store.
 */
#ifndef SLUICE_STORE_REDIS_SERVERS_H
#define SLUICE_STORE_REDIS_SERVERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <hiredis/hiredis.h>

#include "lib/base/str.h"
#include "lib/store/redis_access.h"

enum { REDIS_SLOTS = 16384, REDIS_SERVERS_MAX = 64 };

/** The slot of a key: of its hash tag, if it has one. */
int redis_slot_of(struct str key);

/** Which server serves each slot of a cluster. */
struct redis_slots {
    struct redis_server servers[REDIS_SERVERS_MAX]; /* primaries */
    size_t count;
    int16_t owner[REDIS_SLOTS]; /* an index of `servers`; -1: unknown */
};

/** Forgets all servers: every slot is without an owner. */
void redis_slots_clear(struct redis_slots *slots);

/** Parses the reply to CLUSTER SLOTS; `from` is its sender, for replies without a host. False,
 *  nothing changed, if it is malformed or names too many servers. */
bool redis_slots_read(struct redis_slots *slots, const redisReply *reply,
                      const struct redis_server *from);

/** Records that `slot` is at `server` (a MOVED). Returns its index, -1 if there are too many
 *  servers. */
int redis_slots_note(struct redis_slots *slots, int slot, const struct redis_server *server);

/** True when every slot has an owner. */
bool redis_slots_complete(const struct redis_slots *slots);

/** Parses the reply to SENTINEL get-master-addr-by-name: false if the Sentinel knows no such
 *  primary. */
bool redis_sentinel_read(const redisReply *reply, struct redis_server *server);

/** Where an error redirects a command to. */
enum redis_redirect {
    REDIS_STAYS, /* no error, or one that another server would return too */
    REDIS_MOVED, /* the slot is at another server permanently */
    REDIS_ASK,   /* send this one command to another server, preceded by ASKING */
    REDIS_AGAIN, /* retry a little later: the slot is being moved, or has no owner for a moment */
    REDIS_NO_PRIMARY /* this server is no primary, or not yet */
};

/** Classifies a reply; for REDIS_MOVED and REDIS_ASK also sets slot and server. `from` as above.
 *  NULL is REDIS_STAYS. */
enum redis_redirect redis_redirect_of(const redisReply *reply, const struct redis_server *from,
                                      int *slot, struct redis_server *server);

#endif
