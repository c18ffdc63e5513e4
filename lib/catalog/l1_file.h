/*
 * l1_file — the LMDB file of L1: records and texts by key. A thin wrapper that knows nothing of
 * their meaning. Functions returning int return LMDB's and the system's error codes; 0 is success.
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
    struct l1_read read; /* sees the transaction's own writes */
};

enum l1_drop { L1_RUN_OUT, L1_EVERYTHING };

/** Opens or creates the file in `directory`, of at most `room` bytes. The caller keeps other
 *  processes from opening, writing and removing it meanwhile. A process that hits a hole in it
 *  (SIGBUS: the file was truncated) removes it and dies of the signal. */
int l1_file_open(struct l1_file *file, const char *directory, size_t room);

/** Closes the file; harmless if it is closed. No transaction may be open. */
void l1_file_close(struct l1_file *file);

/** Whether it was opened and not closed since. */
bool l1_file_is_open(const struct l1_file *file);

/** Whether the open file is still the one of that name. */
bool l1_file_is_current(const struct l1_file *file);

/** Unlinks the file, if it is still the one of that name: the next process to open it creates a new
 *  one. */
void l1_file_remove(const struct l1_file *file);

/** Unlinks any L1 file in `directory`. */
void l1_file_unlink(const char *directory);

/** Clears the reader slots of dead processes. */
void l1_file_clear_readers(struct l1_file *file);

/** Begins a transaction that reads one moment of the file. If that succeeds it must be ended. If
 *  all reader slots are taken, those of dead processes are cleared first. */
int l1_file_begin_read(struct l1_file *file, struct l1_read *read);
void l1_file_end_read(struct l1_read *read);

/** Gets a record or text, borrowed until the end of the transaction. MDB_NOTFOUND: there is
 *  none. */
int l1_file_record(struct l1_read *read, const struct catalog_key *key, struct str *record);
int l1_file_text(struct l1_read *read, const struct catalog_key *key, struct str *text);

/** Begins the file's only writing transaction, waiting for that of another process. If that
 *  succeeds it must be committed or aborted. */
int l1_file_begin_write(struct l1_file *file, struct l1_write *write);

/** Stores a record, replacing the one of that key. */
int l1_file_put_record(struct l1_write *write, const struct catalog_key *key, struct str record);

/** Stores the concatenation of both pieces. */
int l1_file_put_text(struct l1_write *write, const struct catalog_key *key, struct str head,
                     struct str text);

/** Bytes that records and texts take, in full pages. */
size_t l1_file_used(struct l1_write *write);

/** Deletes everything, or what has expired: if the number at `offset` in the record is below
 *  `now`. */
int l1_file_drop(struct l1_write *write, enum l1_drop what, size_t offset, int64_t now);

/** Both end the transaction, l1_file_commit() also when it fails: nothing is stored then. */
int l1_file_commit(struct l1_write *write);
void l1_file_abort(struct l1_write *write);

/** Whether the code means that the file cannot be trusted. */
bool l1_file_is_damage(int code);

/** Whether the code means that the file is full. */
bool l1_file_is_full(int code);

/** Describes a code. */
const char *l1_file_error(int code);

#endif
