#include "lib/store/confinement.h"

#include <dirent.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "lib/base/arena.h"
#include "lib/base/log.h"
#include "lib/base/sandbox.h"
#include "lib/settings/settings_row.h"
#include "lib/store/postgres_reach.h"

/* A directory of texts has subdirectories. */
enum { LINKS_DEPTH = 1, LINKS_MOST = 32 };

/* For name look-ups, certificates and libc's modules. Directories rather than files, since files
 * are replaced by new ones. */
static const char *const FOR_THE_NETWORK[] = {
    "/etc",
    "/usr/lib",
    "/usr/share/ca-certificates",
    "/usr/local/share/ca-certificates",
    "/run/systemd/resolve",
    "/run/resolvconf",
    "/run/NetworkManager",
    "/dev/null",
    "/dev/urandom",
};

/* libpq looks up the user's name. */
static const char *const FOR_POSTGRES[] = {"/etc/passwd", "/etc/group", "/etc/nsswitch.conf"};

/* Read to detect shared memory from an earlier boot. */
static const char BOOT_ID[] = "/proc/sys/kernel/random/boot_id";

struct plan {
    struct sandbox sandbox;
    struct arena *arena; /* of paths */
    size_t links;        /* directories that are reached through links only */
};

static const char *folder_of(struct plan *plan, const char *path)
{
    const char *slash = strrchr(path, '/');

    if (slash == NULL || slash == path) {
        return "/";
    }
    return arena_copy(plan->arena, str_sized(path, (size_t)(slash - path)));
}

static bool is_folder(const char *path)
{
    struct stat about;

    return stat(path, &about) == 0 && S_ISDIR(about.st_mode);
}

static bool is_read_already(const struct plan *plan, const char *path)
{
    for (size_t i = 0; i < plan->sandbox.count; i++) {
        if (strcmp(plan->sandbox.paths[i].path, path) == 0) {
            return true;
        }
    }
    return false;
}

/* Allows the target of a link, resolved completely, as the kernel checks that. Certificates are
 * such links, whose target is replaced by a new file beside it. */
static void read_target(struct plan *plan, const char *path)
{
    char target[PATH_MAX];

    if (realpath(path, target) == NULL) {
        return;
    }
    const char *there =
        is_folder(target) ? arena_copy(plan->arena, str_of(target)) : folder_of(plan, target);
    if (is_read_already(plan, there)) {
        return;
    }
    plan->links++;
    if (plan->links <= LINKS_MOST) {
        sandbox_allow(&plan->sandbox, there, false);
    } else if (plan->links == LINKS_MOST + 1) {
        log_event(LOG_LEVEL_WARNING, "sandbox.too_many_links",
                  LOG_FIELDS(LOG_TEXT("first", there)));
    }
}

static void read_links_in(struct plan *plan, const char *folder, int depth)
{
    DIR *listing = opendir(folder);
    const struct dirent *entry;

    while (listing != NULL && (entry = readdir(listing)) != NULL) {
        const char *path = arena_format(plan->arena, "%s/%s", folder, entry->d_name);
        struct stat about;
        if (entry->d_name[0] == '.' || lstat(path, &about) != 0) {
            continue;
        }
        if (S_ISLNK(about.st_mode)) {
            read_target(plan, path);
        } else if (S_ISDIR(about.st_mode) && depth > 0) {
            read_links_in(plan, path, depth - 1);
        }
    }
    if (listing != NULL) {
        (void)closedir(listing);
    }
}

/* Allows a file's directory: the file is reloaded when a new one is renamed to its name. */
static void allow_reading(struct plan *plan, const char *path)
{
    if (path == NULL || path[0] != '/') {
        return;
    }
    if (is_folder(path)) {
        sandbox_allow(&plan->sandbox, path, false);
        read_links_in(plan, path, LINKS_DEPTH);
    } else {
        sandbox_allow(&plan->sandbox, folder_of(plan, path), false);
        read_target(plan, path);
    }
}

static void allow_writing_beside(struct plan *plan, const char *path)
{
    if (path[0] == '/') {
        sandbox_allow(&plan->sandbox, folder_of(plan, path), true);
    }
}

static const char *text_of(const struct settings *settings, const struct setting_row *row)
{
    struct settings copy = *settings;

    return *setting_text(&copy, row);
}

static bool is_path(const struct setting_row *row)
{
    return row->kind == SETTING_PATH || row->kind == SETTING_SECRET_PATH;
}

static void read_named(struct plan *plan, const struct settings *settings,
                       const char *const names[])
{
    for (size_t n = 0; names != NULL && names[n] != NULL; n++) {
        size_t i;
        if (!setting_row_find(str_of(names[n]), &i) || !is_path(setting_row(i))) {
            abort();
        }
        allow_reading(plan, text_of(settings, setting_row(i)));
    }
}

/* Apart from redis_socket, the Redis settings name other machines or files to be read. */
static void add_redis(struct plan *plan, const struct settings *settings)
{
    for (size_t i = 0; i < setting_row_count(); i++) {
        const struct setting_row *row = setting_row(i);
        struct str name = str_of(row->name);
        if (!str_starts(name, STR("redis_")) || str_equal(name, STR("redis_socket"))) {
            continue;
        }
        if (is_path(row)) {
            allow_reading(plan, text_of(settings, row));
        } else if (str_equal(name, STR("redis_address")) ||
                   str_equal(name, STR("redis_sentinels")) ||
                   str_equal(name, STR("redis_cluster"))) {
            plan->sandbox.has_network =
                plan->sandbox.has_network || text_of(settings, row)[0] != '\0';
        }
    }
}

static void add_postgres(struct plan *plan, const struct settings *settings)
{
    struct postgres_reach reach;
    char error[SETTINGS_ERROR];

    /* libpq opens nothing for a conninfo that it refuses; the program has reported that already. */
    if (!postgres_reach_find(settings->postgres_conninfo, plan->arena, &reach, error)) {
        return;
    }
    plan->sandbox.has_network = plan->sandbox.has_network || reach.has_network;
    for (size_t i = 0; i < reach.count; i++) {
        if (reach.files[i].alone) {
            sandbox_allow(&plan->sandbox, reach.files[i].path, false);
        } else {
            allow_reading(plan, reach.files[i].path);
        }
    }
    for (size_t i = 0; i < sizeof(FOR_POSTGRES) / sizeof(FOR_POSTGRES[0]); i++) {
        sandbox_allow(&plan->sandbox, FOR_POSTGRES[i], false);
    }
}

static void add_shared_folders(struct plan *plan, const struct settings *settings,
                               const struct confinement *confinement)
{
    allow_writing_beside(plan, settings->metrics_file);
    allow_writing_beside(plan, settings->snapshot_file);
    allow_writing_beside(plan, settings->catalog_l1_directory);
    if (confinement->keeps_board) {
        allow_writing_beside(plan, settings->origin_socket);
        /* Its parent, since the directory may disappear and be recreated. */
        allow_writing_beside(plan, settings->board_directory);
    }
    if (settings->catalog_l1_directory[0] != '\0') {
        sandbox_allow(&plan->sandbox, BOOT_ID, false);
    }
#ifdef SLUICE_TEST_HOOKS
    sandbox_allow(&plan->sandbox, getenv("SLUICE_TEST_PAUSE_DIR"), true);
#endif
}

static void log_sandbox(struct sandbox_state state)
{
    if (state.is_private && state.has_seccomp && state.has_landlock) {
        log_event(LOG_LEVEL_INFO, "sandbox.entered", LOG_NO_FIELDS);
        return;
    }
    log_event(LOG_LEVEL_WARNING, "sandbox.incomplete",
              LOG_FIELDS(LOG_INT("private", state.is_private),
                         LOG_INT("seccomp", state.has_seccomp),
                         LOG_INT("landlock", state.has_landlock)));
}

void confine(const struct settings *settings, const struct confinement *confinement)
{
    struct plan plan = {.arena = arena_new()};

    if (settings->sandbox) {
        plan.sandbox.has_network = confinement->calls_others;
        read_named(&plan, settings, confinement->reads);
        add_redis(&plan, settings);
        if (confinement->has_postgres) {
            add_postgres(&plan, settings);
        }
        add_shared_folders(&plan, settings, confinement);
        for (size_t i = 0;
             plan.sandbox.has_network && i < sizeof(FOR_THE_NETWORK) / sizeof(FOR_THE_NETWORK[0]);
             i++) {
            sandbox_allow(&plan.sandbox, FOR_THE_NETWORK[i], false);
        }
        log_sandbox(sandbox_enter(&plan.sandbox));
    }
    arena_free(plan.arena);
    sandbox_break_out();
}
