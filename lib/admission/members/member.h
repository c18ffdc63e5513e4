/*
 * member — single members of a queue, for operators and for sites behind the gate: find, admit, end.
 * Commands are built here and sent by the caller; replies are read here.
 */
#ifndef SLUICE_ADMISSION_MEMBER_H
#define SLUICE_ADMISSION_MEMBER_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/admission/outcome.h"
#include "lib/base/arena.h"
#include "lib/base/str.h"
#include "lib/store/redis_command.h"

/** The place of one member. Text is borrowed from the reply. */
struct member_place {
    struct str kind; /* READY, CLAIMED, WAITING, AWAY or NONE */
    int64_t seq;
    int64_t generation;
    int64_t rank; /* -1 unless WAITING */
    /* End of the token, of the claim's lease, or of keeping the number while away; 0: none. */
    int64_t ends_ms;
    bool has_seen_token;
    struct str unpaid_order; /* empty: none */
    struct str queue_state;
    int64_t now_ms;
};

/** Ends what `member` has in the queue: only the place of `admission`, or everything if that is
 *  empty. ENDED, NOT_THERE, ORDER_IN_PROGRESS, NOT_FOUND. */
struct redis_command *member_end(struct arena *arena, struct str queue, struct str member,
                                 struct str admission);

/** Admits `member` ahead of the line. ADMITTED, NO_ROOM, ALREADY_ACTIVE, NOT_FOUND. */
struct redis_command *member_admit(struct arena *arena, struct str queue, struct str member);

/** Requests the place of `member`. */
struct redis_command *member_find(struct arena *arena, struct str queue, struct str member);

/** OK fills `place`; NOT_FOUND, ADMISSION_UNAVAILABLE. */
enum outcome member_read_place(const redisReply *reply, struct member_place *place);

#endif
