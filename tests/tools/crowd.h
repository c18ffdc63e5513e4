/*
 * crowd — a bounded load client for tests: many members over fewer kept connections on the
 * loopback. It notes when each entry was sent and answered and which number it got, so that a test
 * can look for duplicates and inversions; afterwards its members may poll as they are told, and
 * order.
 */
#ifndef SLUICE_TESTS_CROWD_H
#define SLUICE_TESTS_CROWD_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/buffer.h"
#include "lib/base/str.h"
#include "lib/identity/mac_key.h"

enum stage { STAGE_ENTER, STAGE_POLL, STAGE_ORDER, STAGE_DONE };

struct crowd_options {
    int port;
    const char *key_file; /* HS256 secret of member JWTs */
    const char *queue;
    const char *prefix; /* of member names; the number follows */
    const char *sku;    /* what each orders, NULL: nothing */
    uint32_t members;
    uint32_t connections;
    int64_t seconds;  /* longest run */
    enum stage until; /* the stage that is not begun any more: STAGE_POLL stops after entering */
};

struct member {
    enum stage stage;
    int status;            /* of the last answer */
    int64_t seq;           /* place number by the ticket, 0 before */
    int64_t sent_us;       /* when the first entry was sent; monotonic */
    int64_t received_us;   /* when it was answered */
    int64_t ready_us;      /* when READY was first seen, 0 before */
    int64_t token_ends_ms; /* wall time, 0 before */
    int order_status;      /* HTTP status of the order, 0 before */
    uint32_t polls;
    uint32_t retries; /* 429, 503, 409 ORDER_IN_PROGRESS, lost connections */
    char *ticket;
    char *token;
};

/** Microseconds on a clock that never jumps. */
int64_t crowd_now_us(void);

/** Writes the request that `member` number `index` sends next into `out`. */
void crowd_write_request(const struct crowd_options *options, struct mac_key *key,
                         const struct member *member, uint32_t index, struct buffer *out);

/** Takes an answer in: moves the member on. Returns after how many µs it asks again; -1 once it
 *  is done. */
int64_t crowd_read_answer(const struct crowd_options *options, struct member *member, int status,
                          int64_t retry_after_s, struct str body);

#endif
