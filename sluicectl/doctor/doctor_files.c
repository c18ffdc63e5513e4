#include <dirent.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "lib/base/clock.h"
#include "lib/base/secret.h"
#include "sluicectl/doctor/doctor.h"

enum { BOARD_SILENT_S = 10 };
enum { TMPFS = 0x01021994, RAMFS = 0x858458f6 - 0x100000000, SECRET_SHORTEST = 16 };

#define GIB (INT64_C(1024) * 1024 * 1024)

/** The folder that contains `path`; "." if it names none. */
static const char *folder_of(struct arena *arena, const char *path)
{
    const char *slash = strrchr(path, '/');

    if (slash == NULL) {
        return ".";
    }
    return slash == path ? "/" : arena_copy(arena, str_sized(path, (size_t)(slash - path)));
}

static void check_secret(struct doctor *doctor, const char *setting, const char *path)
{
    char error[SECRET_ERROR];
    char *bytes = NULL;
    size_t length = 0;
    struct stat folder;
    const char *name = arena_format(doctor->arena, "secret.%s", setting);

    if (!secret_read(path, &bytes, &length, error)) {
        doctor_note(
            doctor, name, FINDING_FAIL,
            arena_format(doctor->arena,
                         "chown it to the user that the programs run as, and chmod 600 %s. If "
                         "others could read it, generate a new secret: docs/settings.md.",
                         path),
            "%s", error);
        return;
    }
    secret_free(bytes, length);
    const char *place = folder_of(doctor->arena, path);
    bool writable = stat(place, &folder) == 0 && (folder.st_mode & (S_IWGRP | S_IWOTH)) != 0;
    if (writable) {
        doctor_note(doctor, name, FINDING_FAIL, arena_format(doctor->arena, "chmod go-w %s", place),
                    "others may write in %s and put another secret there", place);
    } else {
        doctor_check(doctor, name, length >= SECRET_SHORTEST, FINDING_FAIL,
                     "Generate a new one of 32 random bytes: openssl rand -base64 32",
                     length >= SECRET_SHORTEST ? "%s is readable only by its owner"
                                               : "%s is too short: it could be guessed",
                     path);
    }
}

#define CHECK_SECRET_PATH(name)                                                                    \
    if (doctor->settings.name[0] != '\0') {                                                        \
        check_secret(doctor, #name, doctor->settings.name);                                        \
    }
#define CHECK_TEXT(name)
#define CHECK_CHOICE(name)
#define CHECK_PATH(name)
#define CHECK_CONNINFO(name)
#define CHECK_INTEGER(name)
#define CHECK_BOOLEAN(name)

static void check_secrets(struct doctor *doctor)
{
#define SETTING(name, kind, minimum, maximum, initial, unit, description) CHECK_##kind(name)
#include "lib/settings/settings.tbl"
#undef SETTING
    doctor_check(doctor, "secret.admin", doctor->settings.admin_key_file[0] != '\0', FINDING_FAIL,
                 "Set admin_key_file: without it no one can operate this Sluice.",
                 doctor->settings.admin_key_file[0] != '\0' ? "operators have a key"
                                                            : "admin_key_file is not set");
}

/** Files that many programs of a host write many times a second must not be on a disk. */
static void check_memory(struct doctor *doctor, const char *setting, const char *path)
{
    struct statfs file_system;
    const char *name = arena_format(doctor->arena, "memory.%s", setting);

    if (path[0] == '\0') {
        return;
    }
    if (statfs(path, &file_system) != 0 &&
        statfs(folder_of(doctor->arena, path), &file_system) != 0) {
        doctor_note(doctor, name, FINDING_FAIL,
                    "Create the folder, and let the programs' user write there.",
                    "%s does not exist", path);
        return;
    }
    doctor_check(doctor, name,
                 (uint32_t)file_system.f_type == TMPFS || (int32_t)file_system.f_type == RAMFS,
                 FINDING_WARN,
                 arena_format(doctor->arena,
                              "Set %s to a place on a tmpfs, such as /run or /dev/shm.", setting),
                 "%s is%s in memory", path, (uint32_t)file_system.f_type == TMPFS ? "" : " not");
}

/** The last modification time in `folder`, ms since 1970; 0 for an empty one, -1 if it cannot be
 *  read. */
static int64_t last_written(const char *folder)
{
    DIR *files = opendir(folder);
    const struct dirent *entry;
    struct stat status;
    int64_t newest = 0;

    if (files == NULL) {
        return -1;
    }
    while ((entry = readdir(files)) != NULL) {
        if (entry->d_name[0] != '.' && fstatat(dirfd(files), entry->d_name, &status, 0) == 0) {
            int64_t at = (int64_t)status.st_mtim.tv_sec * 1000 + status.st_mtim.tv_nsec / 1000000;
            newest = at > newest ? at : newest;
        }
    }
    (void)closedir(files);
    return newest;
}

static void check_board(struct doctor *doctor)
{
    const char *folder = doctor->settings.board_directory;
    int64_t written = folder[0] == '\0' ? 0 : last_written(folder);
    int64_t silent_s = (clock_wall_ms() - written) / 1000;

    if (written < 0) {
        doctor_note(
            doctor, "board", FINDING_FAIL,
            "Create the folder; sluice-board must be able to write there, and nginx to read.",
            "%s cannot be read", folder);
    } else if (written > 0) {
        doctor_check(doctor, "board", silent_s <= BOARD_SILENT_S, FINDING_FAIL,
                     "Start sluice-board on this host: without it every waiting page queries the "
                     "server instead of reading a file.",
                     "sluice-board last wrote %" PRId64 " s ago", silent_s);
    }
}

static void check_disk(struct doctor *doctor, const char *name, const char *path)
{
    struct statvfs disk;

    if (statvfs(path, &disk) != 0 || disk.f_blocks == 0) {
        return;
    }
    int64_t free_bytes = (int64_t)disk.f_bavail * (int64_t)disk.f_frsize;
    int64_t percent = (int64_t)disk.f_bavail * 100 / (int64_t)disk.f_blocks;
    bool full = free_bytes < GIB || percent < 5;
    doctor_check(doctor, name, !full && percent >= 10, full ? FINDING_FAIL : FINDING_WARN,
                 "Free some space, or use a larger disk: a full one stops all orders and entries.",
                 "%" PRId64 " %% and %.1f GiB are free at %s", percent,
                 (double)free_bytes / (double)GIB, path);
}

void doctor_files(struct doctor *doctor)
{
    if (doctor->has_settings) {
        check_secrets(doctor);
        check_memory(doctor, "metrics_file", doctor->settings.metrics_file);
        check_memory(doctor, "snapshot_file", doctor->settings.snapshot_file);
        check_memory(doctor, "catalog_l1_directory", doctor->settings.catalog_l1_directory);
        check_board(doctor);
    }
    if (access(doctor->invocation->data, F_OK) == 0) {
        check_disk(doctor, "disk.data", doctor->invocation->data);
    } else {
        check_disk(doctor, "disk.data", "/var/lib");
    }
    check_disk(doctor, "disk.logs", "/var/log");
}
