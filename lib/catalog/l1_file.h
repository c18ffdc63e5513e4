/*
 * l1_file — the LMDB file of L1: records and texts by key. Thin: it knows nothing of what they
 * mean. Codes are LMDB's and the system's; 0 is success.
 */
#ifndef SLUICE_CATALOG_L1_FILE_H
#define SLUICE_CATALOG_L1_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <lmdb.h>
#include <sys/types.h>

#include "lib/base/str.h"
#include "lib/catalog/entry.h"

enum { L1_PATH_MAX = 4096 + 32, L1_FILE_NONSENSE = MDB_CORRUPTED };

struct l1_file {
    MDB_env *env; /* NULL while it is closed */
    MDB_dbi records;
    MDB_dbi texts;
};

struct l1_read {
    MDB_txn *transaction;
    struct l1_file *file;
};

struct l1_write {
    struct l1_read read; /* sees what was written already */
};

enum l1_drop { L1_RUN_OUT, L1_EVERYTHING };

/** Opens or makes the file in `directory`, `room` bytes at most. The caller keeps others from
 *  opening, writing and removing it meanwhile. A process that meets a hole in it (SIGBUS:
 *  somebody has cut it) removes it and dies of that. */
int l1_file_open(struct l1_file *file, const char *directory, size_t room);

void l1_file_close(struct l1_file *file);

bool l1_file_is_open(const struct l1_file *file);

/** Whether the file that is open is still the one of that name. */
bool l1_file_is_current(const struct l1_file *file);

/** Takes its name away, if it is still the one of that name: whoever opens it next makes a new
 *  one. */
void l1_file_remove(const struct l1_file *file);

/** Takes away whatever is there. */
void l1_file_unlink(const char *directory);

/** Clears the slots of readers that are dead. */
void l1_file_clear_readers(struct l1_file *file);

int l1_file_begin_read(struct l1_file *file, struct l1_read *read);
void l1_file_end_read(struct l1_read *read);

/** Borrowed until the end of the transaction. MDB_NOTFOUND: there is none. */
int l1_file_record(struct l1_read *read, const struct catalog_key *key, struct str *record);
int l1_file_text(struct l1_read *read, const struct catalog_key *key, struct str *text);

int l1_file_begin_write(struct l1_file *file, struct l1_write *write);
int l1_file_put_record(struct l1_write *write, const struct catalog_key *key, struct str record);

/** Both pieces, one behind the other. */
int l1_file_put_text(struct l1_write *write, const struct catalog_key *key, struct str head,
                     struct str text);

/** Bytes that records and texts take, in whole pages. */
size_t l1_file_used(struct l1_write *write);

/** Drops everything, or what has run out: the number at `offset` in the record is below `now`. */
int l1_file_drop(struct l1_write *write, enum l1_drop what, size_t offset, int64_t now);

int l1_file_commit(struct l1_write *write);
void l1_file_abort(struct l1_write *write);

/** Whether the code says that the file cannot be trusted, or that it is full. */
bool l1_file_is_damage(int code);
bool l1_file_is_full(int code);

/** A code in words. */
const char *l1_file_error(int code);

#endif
