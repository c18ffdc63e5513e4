/*
 * code_store — invite and priority codes in PostgreSQL: the codes and their uses.
 */
#ifndef SLUICE_ORDERS_CODE_STORE_H
#define SLUICE_ORDERS_CODE_STORE_H

#include <stddef.h>
#include <stdint.h>

#include "lib/admission/line/codes.h"
#include "lib/base/arena.h"
#include "lib/base/str.h"
#include "lib/store/postgres.h"

/** How many codes of one kind a queue has. Text lives as long as the arena. */
struct code_count {
    struct str kind;
    int64_t codes;
    int64_t uses; /* that all of them allow */
    int64_t used; /* of these */
};

/** One use, for export. Text lives as long as the arena. */
struct code_used {
    struct code_use use;
    struct str kind;
};

/** Adds codes of `kind` to `queue` by their hashes, each valid for `uses` (≥ 1) members until
 *  `ends_ms` (since 1970; 0: no end). Existing codes stay unchanged; `*added` gets how many were
 *  new. */
enum postgres_outcome code_store_add(struct postgres *postgres, struct arena *arena,
                                     struct str queue, enum code_kind kind,
                                     const struct str *hashes, size_t count, int64_t uses,
                                     int64_t ends_ms, int64_t *added);

/** Reads a page of at most CODES_PER_CALL codes, ordered by hash, that follow the hash `after`
 *  (empty: the first page), into the arena. */
enum postgres_outcome code_store_page(struct postgres *postgres, struct arena *arena,
                                      struct str queue, struct str after,
                                      const struct code_entry **codes, size_t *count);

/** Likewise a page of uses that follow the use `after` (both texts empty: the first page). */
enum postgres_outcome code_store_uses(struct postgres *postgres, struct arena *arena,
                                      struct str queue, const struct code_use *after,
                                      const struct code_used **uses, size_t *count);

/** Records uses that Redis has counted. Idempotent. */
enum postgres_outcome code_store_note(struct postgres *postgres, struct arena *arena,
                                      struct str queue, const struct code_use *uses, size_t count);

/** Counts the codes of `queue` by kind, into the arena. */
enum postgres_outcome code_store_counts(struct postgres *postgres, struct arena *arena,
                                        struct str queue, const struct code_count **counts,
                                        size_t *count);

#endif
