#include "lib/catalog/l1_file.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { READERS = 512, DATABASES = 2 };

/* The number identifies the format: a release that writes another one uses the next number, so that
 * two releases on one host do not share data. */
static const char RECORDS[] = "records-1";
static const char TEXTS[] = "texts-1";

/* The file that this process has open, for a signal handler, which may call very little. */
static struct {
    char path[L1_PATH_MAX];
    dev_t device;
    ino_t inode;
} open_file;

static bool is_open_file_current(void)
{
    struct stat about;

    return stat(open_file.path, &about) == 0 && about.st_dev == open_file.device &&
           about.st_ino == open_file.inode;
}

static void remove_open_file(void)
{
    if (open_file.path[0] != '\0' && is_open_file_current()) {
        (void)unlink(open_file.path);
    }
}

static void on_sigbus(int number)
{
    remove_open_file();
    (void)signal(number, SIG_DFL); /* the fault recurs and kills the process */
}

static void on_assertion(MDB_env *env, const char *text)
{
    (void)env;
    (void)text;
    remove_open_file();
}

static void data_path(char path[L1_PATH_MAX], const char *directory, const char *name)
{
    (void)snprintf(path, L1_PATH_MAX, "%s/%s", directory, name);
}

static int open_databases(struct l1_file *file)
{
    MDB_txn *transaction = NULL;
    int code = mdb_txn_begin(file->env, NULL, 0, &transaction);

    if (code != 0) {
        return code;
    }
    code = mdb_dbi_open(transaction, RECORDS, MDB_CREATE, &file->records);
    if (code == 0) {
        code = mdb_dbi_open(transaction, TEXTS, MDB_CREATE, &file->texts);
    }
    if (code != 0) {
        mdb_txn_abort(transaction);
        return code;
    }
    return mdb_txn_commit(transaction);
}

/* Reading beyond the end of a truncated file would kill the process. */
static int check_length(const struct l1_file *file, const struct stat *about)
{
    MDB_envinfo info;
    MDB_stat pages;
    int code = mdb_env_info(file->env, &info);

    if (code == 0) {
        code = mdb_env_stat(file->env, &pages);
    }
    if (code == 0 &&
        (uint64_t)about->st_size < (uint64_t)(info.me_last_pgno + 1) * pages.ms_psize) {
        code = L1_FILE_NONSENSE;
    }
    return code;
}

static int remember(const struct l1_file *file, const char *directory)
{
    struct stat about;
    mdb_filehandle_t fd = -1;
    int code = mdb_env_get_fd(file->env, &fd);

    if (code == 0 && fstat(fd, &about) != 0) {
        code = errno;
    }
    if (code == 0) {
        code = check_length(file, &about);
    }
    if (code == 0) {
        struct sigaction action = {.sa_handler = on_sigbus};
        data_path(open_file.path, directory, "data.mdb");
        open_file.device = about.st_dev;
        open_file.inode = about.st_ino;
        (void)sigaction(SIGBUS, &action, NULL);
    }
    return code;
}

int l1_file_open(struct l1_file *file, const char *directory, size_t room)
{
    int dead = 0;
    int code = mdb_env_create(&file->env);

    if (code != 0) {
        file->env = NULL;
        return code;
    }
    (void)mdb_env_set_assert(file->env, on_assertion);
    code = mdb_env_set_mapsize(file->env, room);
    if (code == 0) {
        code = mdb_env_set_maxdbs(file->env, DATABASES);
    }
    if (code == 0) {
        code = mdb_env_set_maxreaders(file->env, READERS);
    }
    if (code == 0) {
        /* It need not survive a crash of the machine. */
        code =
            mdb_env_open(file->env, directory, MDB_NOSYNC | MDB_NOMETASYNC | MDB_NORDAHEAD, 0600);
    }
    if (code == 0) {
        code = remember(file, directory);
    }
    if (code == 0) {
        code = mdb_reader_check(file->env, &dead);
    }
    if (code == 0) {
        code = open_databases(file);
    }
    if (code != 0) {
        l1_file_close(file);
    }
    return code;
}

void l1_file_close(struct l1_file *file)
{
    if (file->env != NULL) {
        mdb_env_close(file->env);
        file->env = NULL;
    }
}

bool l1_file_is_open(const struct l1_file *file)
{
    return file->env != NULL;
}

bool l1_file_is_current(const struct l1_file *file)
{
    return file->env != NULL && is_open_file_current();
}

void l1_file_remove(const struct l1_file *file)
{
    if (file->env != NULL) {
        remove_open_file();
    }
}

void l1_file_unlink(const char *directory)
{
    char path[L1_PATH_MAX];

    data_path(path, directory, "data.mdb");
    (void)unlink(path);
    data_path(path, directory, "lock.mdb");
    (void)unlink(path);
}

void l1_file_clear_readers(struct l1_file *file)
{
    int dead = 0;

    (void)mdb_reader_check(file->env, &dead);
}

int l1_file_begin_read(struct l1_file *file, struct l1_read *read)
{
    read->file = file;
    int code = mdb_txn_begin(file->env, NULL, MDB_RDONLY, &read->transaction);
    if (code == MDB_READERS_FULL) {
        l1_file_clear_readers(file);
        code = mdb_txn_begin(file->env, NULL, MDB_RDONLY, &read->transaction);
    }
    return code;
}

void l1_file_end_read(struct l1_read *read)
{
    mdb_txn_abort(read->transaction);
}

static MDB_val value_of(struct str text)
{
    /* LMDB does not modify its input. */
    union {
        const char *given;
        void *taken;
    } bytes = {.given = text.p};

    return (MDB_val){.mv_size = text.n, .mv_data = bytes.taken};
}

static int get(struct l1_read *read, MDB_dbi database, const struct catalog_key *key,
               struct str *found)
{
    MDB_val name = value_of(str_of(key->text));
    MDB_val value = {0};
    int code = mdb_get(read->transaction, database, &name, &value);

    *found = str_sized(value.mv_data, code == 0 ? value.mv_size : 0);
    return code;
}

int l1_file_record(struct l1_read *read, const struct catalog_key *key, struct str *record)
{
    return get(read, read->file->records, key, record);
}

int l1_file_text(struct l1_read *read, const struct catalog_key *key, struct str *text)
{
    return get(read, read->file->texts, key, text);
}

int l1_file_begin_write(struct l1_file *file, struct l1_write *write)
{
    write->read.file = file;
    return mdb_txn_begin(file->env, NULL, 0, &write->read.transaction);
}

int l1_file_put_record(struct l1_write *write, const struct catalog_key *key, struct str record)
{
    MDB_val name = value_of(str_of(key->text));
    MDB_val value = value_of(record);

    return mdb_put(write->read.transaction, write->read.file->records, &name, &value, 0);
}

int l1_file_put_text(struct l1_write *write, const struct catalog_key *key, struct str head,
                     struct str text)
{
    MDB_val name = value_of(str_of(key->text));
    MDB_val value = {.mv_size = head.n + text.n};
    int code =
        mdb_put(write->read.transaction, write->read.file->texts, &name, &value, MDB_RESERVE);

    if (code == 0) {
        memcpy(value.mv_data, head.p, head.n);
        memcpy((char *)value.mv_data + head.n, text.p, text.n);
    }
    return code;
}

size_t l1_file_used(struct l1_write *write)
{
    const MDB_dbi databases[DATABASES] = {write->read.file->records, write->read.file->texts};
    size_t used = 0;

    for (size_t i = 0; i < DATABASES; i++) {
        MDB_stat pages;
        if (mdb_stat(write->read.transaction, databases[i], &pages) == 0) {
            used += (pages.ms_branch_pages + pages.ms_leaf_pages + pages.ms_overflow_pages) *
                    pages.ms_psize;
        }
    }
    return used;
}

static bool is_expired(MDB_val record, size_t offset, int64_t now)
{
    int64_t until = 0;

    if (record.mv_size < offset + sizeof(until)) {
        return true;
    }
    memcpy(&until, (const char *)record.mv_data + offset, sizeof(until));
    return until < now;
}

static int drop_expired(struct l1_write *write, size_t offset, int64_t now)
{
    MDB_cursor *cursor = NULL;
    MDB_val key;
    MDB_val record;
    int code = mdb_cursor_open(write->read.transaction, write->read.file->records, &cursor);

    if (code != 0) {
        return code;
    }
    while ((code = mdb_cursor_get(cursor, &key, &record, MDB_NEXT)) == 0) {
        if (is_expired(record, offset, now)) {
            code = mdb_del(write->read.transaction, write->read.file->texts, &key, NULL);
            if (code == 0 || code == MDB_NOTFOUND) {
                code = mdb_cursor_del(cursor, 0);
            }
            if (code != 0) {
                break;
            }
        }
    }
    mdb_cursor_close(cursor);
    return code == MDB_NOTFOUND ? 0 : code;
}

int l1_file_drop(struct l1_write *write, enum l1_drop what, size_t offset, int64_t now)
{
    if (what == L1_RUN_OUT) {
        return drop_expired(write, offset, now);
    }
    int code = mdb_drop(write->read.transaction, write->read.file->records, 0);
    return code != 0 ? code : mdb_drop(write->read.transaction, write->read.file->texts, 0);
}

int l1_file_commit(struct l1_write *write)
{
    return mdb_txn_commit(write->read.transaction);
}

void l1_file_abort(struct l1_write *write)
{
    mdb_txn_abort(write->read.transaction);
}

bool l1_file_is_damage(int code)
{
    switch (code) {
    case MDB_PAGE_NOTFOUND:
    case MDB_CORRUPTED:
    case MDB_PANIC:
    case MDB_VERSION_MISMATCH:
    case MDB_INVALID:
    case MDB_MAP_RESIZED:
    case MDB_INCOMPATIBLE:
    case MDB_BAD_TXN:
    case MDB_BAD_DBI:
    case MDB_BAD_VALSIZE:
    case MDB_DBS_FULL:
        return true;
    default:
        return false;
    }
}

bool l1_file_is_full(int code)
{
    return code == MDB_MAP_FULL;
}

const char *l1_file_error(int code)
{
    return mdb_strerror(code);
}
