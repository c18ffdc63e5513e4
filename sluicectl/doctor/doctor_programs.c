#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sluicectl/doctor/doctor.h"
#include "sluicectl/doctor/program_output.h"

enum { SECONDS_MOST = 20 };

/* `pool` is NULL for a program without pools. */
static const struct {
    const char *name;
    const char *unit;
    const char *program;
    const char *pool;
} PROGRAMS[] = {
    {"queue-pool", "sluice-pool@queue.service", "sluice-fcgi", "queue"},
    {"order-pool", "sluice-pool@order.service", "sluice-fcgi", "order"},
    {"payment-pool", "sluice-pool@payment.service", "sluice-fcgi", "payment"},
    {"catalog-pool", "sluice-pool@catalog.service", "sluice-fcgi", "catalog"},
    {"operator-pool", "sluice-pool@operator.service", "sluice-fcgi", "operator"},
    {"scheduler", "sluice-scheduler.service", "sluice-scheduler", NULL},
    {"board", "sluice-board.service", "sluice-board", NULL},
    {"reconcile", "sluice-reconcile.service", "sluice-reconcile", NULL},
};

/* What systemd starts a program with. */
struct unit {
    const char *user;      /* NULL if none is set */
    const char **settings; /* NAME=VALUE */
    size_t count;
    bool reads_these; /* settings, and no other file's */
};

/** A variable that a program takes settings from; libpq reads those that begin with PG. */
static bool is_setting(struct str variable)
{
    return str_starts(variable, STR("SLUICE_")) || str_starts(variable, STR("PG"));
}

/** The settings in `text`, words separated by spaces. systemctl puts a word with special characters
 *  in double quotes, and a backslash before some of them. */
static void read_settings(struct arena *arena, struct str text, struct unit *unit)
{
    char *word = arena_alloc(arena, text.n + 1);
    size_t length = 0;
    bool quoted = false;

    unit->settings = arena_alloc(arena, (text.n / 2 + 1) * sizeof(*unit->settings));
    unit->count = 0;
    for (size_t i = 0; i <= text.n; i++) {
        if (i == text.n || (text.p[i] == ' ' && !quoted)) {
            if (is_setting(str_sized(word, length))) {
                unit->settings[unit->count++] = arena_copy(arena, str_sized(word, length));
            }
            length = 0;
        } else if (text.p[i] == '"') {
            quoted = !quoted;
        } else {
            i += text.p[i] == '\\' && i + 1 < text.n;
            word[length++] = text.p[i];
        }
    }
}

/** False if there is no such unit. */
static bool read_unit(struct doctor *doctor, const char *name, struct unit *unit)
{
    const char *const words[] = {"systemctl", "show", "--property=User,ExecStart,Environment", name,
                                 NULL};
    const char *option = arena_format(doctor->arena, " --config %s ", doctor->settings_file);
    struct program_output shown;
    struct str line;

    *unit = (struct unit){0};
    if (!program_output(doctor->arena, words, SECONDS_MOST, &shown) || shown.status != 0) {
        return false;
    }
    struct str rest = shown.output;
    while (rest.n > 0) {
        struct str key;
        struct str value;
        (void)str_split(rest, '\n', &line, &rest);
        if (!str_split(line, '=', &key, &value)) {
            continue;
        }
        if (str_equal(key, STR("User")) && value.n > 0) {
            unit->user = arena_copy(doctor->arena, value);
        } else if (str_equal(key, STR("ExecStart"))) {
            unit->reads_these = strstr(arena_copy(doctor->arena, value), option) != NULL;
        } else if (str_equal(key, STR("Environment"))) {
            read_settings(doctor->arena, value, unit);
        }
    }
    return true;
}

/** The command by which `PROGRAMS[program]` checks the settings as its unit's user and with its
 *  unit's environment. Not with ours, which may name other settings. */
static const char *const *check_command(struct doctor *doctor, size_t program,
                                        const struct unit *unit)
{
    const char *path = getenv("PATH");
    const char *pool = PROGRAMS[program].pool;
    const char *const before[] = {
        "runuser",
        "-u",
        unit->user,
        "--",
        "env",
        "-i",
        arena_format(doctor->arena, "PATH=%s", path == NULL ? "/usr/bin:/bin" : path)};
    const char *const after[] = {PROGRAMS[program].program,
                                 "--check-config",
                                 "--config",
                                 doctor->settings_file,
                                 pool == NULL ? NULL : "--pool",
                                 pool};
    size_t n_before = sizeof(before) / sizeof(before[0]);
    size_t n_after = sizeof(after) / sizeof(after[0]);
    const char **words =
        arena_alloc(doctor->arena, (n_before + unit->count + n_after + 1) * sizeof(*words));

    for (size_t i = 0; i < n_before; i++) {
        words[i] = before[i];
    }
    for (size_t i = 0; i < unit->count; i++) {
        words[n_before + i] = unit->settings[i];
    }
    for (size_t i = 0; i < n_after; i++) {
        words[n_before + unit->count + i] = after[i];
    }
    return words;
}

/** Root reads every key, also one that its program cannot read: so the program itself checks the
 *  settings. */
void doctor_programs(struct doctor *doctor)
{
    if (geteuid() != 0 || !doctor->has_settings) {
        return;
    }
    for (size_t i = 0; i < sizeof(PROGRAMS) / sizeof(PROGRAMS[0]); i++) {
        struct unit unit;
        struct program_output said;
        struct str first;
        struct str rest;
        if (!read_unit(doctor, PROGRAMS[i].unit, &unit) || unit.user == NULL || !unit.reads_these ||
            !program_output(doctor->arena, check_command(doctor, i, &unit), SECONDS_MOST, &said)) {
            continue;
        }
        (void)str_split(said.status == 0 ? said.output : said.errors, '\n', &first, &rest);
        doctor_check(doctor, arena_format(doctor->arena, "program.%s", PROGRAMS[i].name),
                     said.status == 0, FINDING_FAIL,
                     "Correct it: the program cannot start. systemd-tmpfiles --create gives keys "
                     "and settings their owners and modes.",
                     "as user %s: %.*s", unit.user, STR_ARG(first));
    }
}
