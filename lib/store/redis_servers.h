/*
 * redis_servers — who serves what: the answers of Sentinels and of a cluster's nodes, read.
 * Internal to lib/store.
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

/** Which slot a key belongs to: that of its hash tag, where it has one. */
int redis_slot_of(struct str key);

/** Who serves each slot of a cluster. */
struct redis_slots {
    struct redis_server servers[REDIS_SERVERS_MAX]; /* primaries */
    size_t count;
    int16_t owner[REDIS_SLOTS]; /* an index of `servers`; -1: nobody that we know of */
};

void redis_slots_clear(struct redis_slots *slots);

/** Reads the answer to CLUSTER SLOTS; `from` is who gave it, for answers that leave out the
 *  host. False, nothing changed, where it is none or names too many servers. */
bool redis_slots_read(struct redis_slots *slots, const redisReply *reply,
                      const struct redis_server *from);

/** Notes that `slot` is at `server` (a MOVED). Returns its index, -1 where there are too many
 *  servers. */
int redis_slots_note(struct redis_slots *slots, int slot, const struct redis_server *server);

/** True when every slot has an owner. */
bool redis_slots_complete(const struct redis_slots *slots);

/** Reads the answer to SENTINEL get-master-addr-by-name: false where the Sentinel knows no such
 *  primary. */
bool redis_sentinel_read(const redisReply *reply, struct redis_server *server);

/** What an error says of where to ask. */
enum redis_redirect {
    REDIS_STAYS, /* no error, or one that asking elsewhere does not mend */
    REDIS_MOVED, /* the slot is at another server for good */
    REDIS_ASK,   /* this once another server is to be asked, behind an ASKING */
    REDIS_AGAIN, /* the same again, a little later: the slot is on its way, or nobody's for a moment */
    REDIS_NO_PRIMARY /* this server is none, or not yet */
};

/** Reads it; for REDIS_MOVED and REDIS_ASK also slot and server. `from` as above. NULL is
 *  REDIS_STAYS. */
enum redis_redirect redis_redirect_of(const redisReply *reply, const struct redis_server *from,
                                      int *slot, struct redis_server *server);

#endif
