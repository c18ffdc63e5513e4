/*
 * code_store — invite and priority codes in PostgreSQL: what there is, and who has used what.
 */
#ifndef SLUICE_ORDERS_CODE_STORE_H
#define SLUICE_ORDERS_CODE_STORE_H

#include <stddef.h>
#include <stdint.h>

#include "lib/admission/codes.h"
#include "lib/base/arena.h"
#include "lib/base/str.h"
#include "lib/store/postgres.h"

/** How many codes of one kind a queue has. Text is borrowed from the answer. */
struct code_count {
    struct str kind;
    int64_t codes;
    int64_t uses; /* in all */
    int64_t used; /* of them */
};

/** One use, for export. Text is borrowed from the answer. */
struct code_used {
    struct code_use use;
    struct str kind;
};

/** Adds codes of `kind` to `queue` by their hashes, each good for `uses` (≥ 1) members until
 *  `ends_ms` (since 1970; 0: for ever). Those that are there already stay as they are; `*added`
 *  gets how many were new. */
enum postgres_outcome code_store_add(struct postgres *postgres, struct arena *arena,
                                     struct str queue, enum code_kind kind,
                                     const struct str *hashes, size_t count, int64_t uses,
                                     int64_t ends_ms, int64_t *added);

/** Codes behind the hash `after` (empty: from the first on), at most CODES_PER_CALL, by hash, in
 *  the arena. */
enum postgres_outcome code_store_page(struct postgres *postgres, struct arena *arena,
                                      struct str queue, struct str after,
                                      const struct code_entry **codes, size_t *count);

/** Uses behind that of `after` (both texts empty: from the first on), as above. */
enum postgres_outcome code_store_uses(struct postgres *postgres, struct arena *arena,
                                      struct str queue, const struct code_use *after,
                                      const struct code_used **uses, size_t *count);

/** Notes uses that Redis has counted; twice is the same as once. */
enum postgres_outcome code_store_note(struct postgres *postgres, struct arena *arena,
                                      struct str queue, const struct code_use *uses, size_t count);

/** Counts the codes of `queue` by kind, in the arena. */
enum postgres_outcome code_store_counts(struct postgres *postgres, struct arena *arena,
                                        struct str queue, const struct code_count **counts,
                                        size_t *count);

#endif
