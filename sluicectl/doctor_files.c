#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "lib/base/secret.h"
#include "sluicectl/doctor.h"

enum { TMPFS = 0x01021994, RAMFS = 0x858458f6 - 0x100000000, SECRET_SHORTEST = 16 };

#define GIB (INT64_C(1024) * 1024 * 1024)

/** The folder that `path` is in; "." where it names none. */
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
                         "others could read it, make a new secret: docs/settings.md.",
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
                     "Make a new one of 32 random bytes: openssl rand -base64 32",
                     length >= SECRET_SHORTEST ? "%s is read by its owner only"
                                               : "%s is so short that it can be guessed",
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
                 "Set admin_key_file: without it nobody can operate this Sluice.",
                 doctor->settings.admin_key_file[0] != '\0' ? "operators have a key"
                                                            : "admin_key_file is not set");
}

/** What many programs of a host write many times a second must not go to a disk. */
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
                    "Make the folder, and let the programs' user write there.", "%s is not there",
                    path);
        return;
    }
    doctor_check(doctor, name,
                 (uint32_t)file_system.f_type == TMPFS || (int32_t)file_system.f_type == RAMFS,
                 FINDING_WARN,
                 arena_format(doctor->arena,
                              "Set %s to a place on a tmpfs, such as /run or /dev/shm.", setting),
                 "%s is%s in memory", path, (uint32_t)file_system.f_type == TMPFS ? "" : " not");
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
                 "Make room, or give it a larger disk: a full one stops every order and every "
                 "place in line.",
                 "%" PRId64 " %% and %.1f GiB are free at %s", percent,
                 (double)free_bytes / (double)GIB, path);
}

void doctor_files(struct doctor *doctor)
{
    if (doctor->has_settings) {
        check_secrets(doctor);
        check_memory(doctor, "metrics_file", doctor->settings.metrics_file);
        check_memory(doctor, "catalog_l1_directory", doctor->settings.catalog_l1_directory);
    }
    if (access(doctor->invocation->data, F_OK) == 0) {
        check_disk(doctor, "disk.data", doctor->invocation->data);
    } else {
        check_disk(doctor, "disk.data", "/var/lib");
    }
    check_disk(doctor, "disk.logs", "/var/log");
}
