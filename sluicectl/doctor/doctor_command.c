#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "lib/base/clock.h"
#include "lib/settings/program_part.h"
#include "sluicectl/commands.h"
#include "sluicectl/doctor/doctor.h"
#include "sluicectl/server/installation.h"

enum { DETAIL_MAX = 1024, CLOCK_WARN_MS = 2000, CLOCK_FAIL_MS = 5000 };

static const char SYSTEM_SETTINGS[] = "/etc/sluice/sluice.conf";

static const char OWN_KEY[] = "SLUICE_ADMIN_KEY_FILE";

static const char *const STATES[] = {
    [FINDING_OK] = "ok", [FINDING_WARN] = "warn", [FINDING_FAIL] = "fail"};

static void note(struct doctor *doctor, const char *name, enum finding_state state,
                 const char *what_to_do, const char *detail)
{
    json_object *item = json_object_new_object();

    json_object_object_add(item, "name", json_object_new_string(name));
    json_object_object_add(item, "queue", NULL);
    json_object_object_add(item, "state", json_object_new_string(STATES[state]));
    json_object_object_add(item, "detail", json_object_new_string(detail));
    json_object_object_add(item, "do",
                           state == FINDING_OK ? NULL : json_object_new_string(what_to_do));
    json_object_array_add(doctor->items, item);
    doctor->counts[state]++;
}

void doctor_note(struct doctor *doctor, const char *name, enum finding_state state,
                 const char *what_to_do, const char *detail, ...)
{
    char text[DETAIL_MAX];
    va_list arguments;

    va_start(arguments, detail);
    (void)vsnprintf(text, sizeof(text), detail, arguments);
    va_end(arguments);
    note(doctor, name, state, what_to_do, text);
}

void doctor_check(struct doctor *doctor, const char *name, bool good, enum finding_state otherwise,
                  const char *what_to_do, const char *detail, ...)
{
    char text[DETAIL_MAX];
    va_list arguments;

    va_start(arguments, detail);
    (void)vsnprintf(text, sizeof(text), detail, arguments);
    va_end(arguments);
    note(doctor, name, good ? FINDING_OK : otherwise, what_to_do, text);
}

void doctor_clock(struct doctor *doctor, const char *name, const char *whose, int64_t milliseconds)
{
    int64_t ahead = milliseconds - clock_wall_ms();
    int64_t off = ahead < 0 ? -ahead : ahead;

    doctor_check(doctor, name, off < CLOCK_WARN_MS,
                 off < CLOCK_FAIL_MS ? FINDING_WARN : FINDING_FAIL,
                 "Let one service set all clocks (chrony or systemd-timesyncd), and check "
                 "timedatectl on both machines.",
                 "%s clock is %.1f s %s this machine's", whose, (double)off / 1000,
                 ahead < 0 ? "behind" : "ahead of");
}

/** The settings file that the command line, the environment or the folder names. */
static const char *settings_file(const struct invocation *invocation)
{
    const char *named = getenv("SLUICE_CONFIG");
    const char *ours = arena_format(invocation->arena, "%s/sluice.conf", invocation->data);

    if (invocation->config[0] != '\0') {
        return invocation->config;
    }
    if (named != NULL && named[0] != '\0') {
        return named;
    }
    return access(ours, R_OK) == 0 ? ours : SYSTEM_SETTINGS;
}

/** Loads the settings as the programs see them. In our own environment the variable of that name
 *  holds the key that sluicectl presents. */
static bool load(struct doctor *doctor, const char *file, char error[SETTINGS_ERROR])
{
    const char *own = getenv(OWN_KEY);
    const char *kept = own == NULL ? NULL : arena_copy(doctor->arena, str_of(own));

    (void)unsetenv(OWN_KEY);
    bool loaded = settings_load(file, &doctor->settings, error);
    if (loaded) {
        settings_name_program(&doctor->settings, "doctor");
    }
    if (kept != NULL) {
        (void)setenv(OWN_KEY, kept, 1);
    }
    return loaded;
}

static void read_settings(struct doctor *doctor)
{
    const char *file = settings_file(doctor->invocation);
    char error[SETTINGS_ERROR];

    const char *refusal = installation_refusal(doctor->invocation, file);

    doctor->settings_file = file;
    doctor->has_settings = refusal == NULL && load(doctor, file, error);
    if (doctor->has_settings) {
        doctor_note(doctor, "settings", FINDING_OK, "", "%s is valid", file);
    } else {
        doctor->settings = (struct settings){0};
        doctor_note(doctor, "settings", FINDING_FAIL,
                    "Correct the file, or name the right one with --config or SLUICE_CONFIG; "
                    "docs/settings.md lists all settings. Without it Redis, PostgreSQL and secrets "
                    "are not checked.",
                    "%s", refusal != NULL ? refusal : error);
    }
}

static void print_items(const struct doctor *doctor)
{
    for (size_t i = 0; i < json_object_array_length(doctor->items); i++) {
        json_object *item = json_object_array_get_idx(doctor->items, i);
        const char *queue = text_field(item, "queue", "");
        const char *what_to_do = text_field(item, "do", "");
        print_plain(stdout,
                    arena_format(doctor->arena, "%-5s %s%s%s: %s", text_field(item, "state", "?"),
                                 text_field(item, "name", "?"), queue[0] != '\0' ? " of " : "",
                                 queue, text_field(item, "detail", "")));
        (void)putchar('\n');
        if (what_to_do[0] != '\0') {
            print_plain(stdout, arena_format(doctor->arena, "      → %s", what_to_do));
            (void)putchar('\n');
        }
    }
    (void)printf("%" PRId64 " as they should be, %" PRId64 " to look at, %" PRId64 " wrong\n",
                 doctor->counts[FINDING_OK], doctor->counts[FINDING_WARN],
                 doctor->counts[FINDING_FAIL]);
}

static void print_findings(const struct doctor *doctor)
{
    static const char *const NAMES[] = {
        [FINDING_OK] = "ok", [FINDING_WARN] = "warnings", [FINDING_FAIL] = "failures"};

    if (!doctor->invocation->json) {
        print_items(doctor);
        return;
    }
    json_object *answer = scratch_object(doctor->invocation);
    json_object_object_add(answer, "items", json_object_get(doctor->items));
    for (int i = FINDING_OK; i <= FINDING_FAIL; i++) {
        json_object_object_add(answer, NAMES[i], json_object_new_int64(doctor->counts[i]));
    }
    print_json(answer);
}

enum exit_code command_doctor(const struct command *command, const struct invocation *invocation)
{
    struct doctor doctor = {
        .invocation = invocation, .arena = invocation->arena, .items = json_object_new_array()};

    (void)command;
    read_settings(&doctor);
    doctor_kernel(&doctor);
    doctor_files(&doctor);
    doctor_programs(&doctor);
    doctor_nginx(&doctor);
    doctor_redis(&doctor);
    doctor_postgres(&doctor);
    doctor_server(&doctor);
    print_findings(&doctor);
    settings_free(&doctor.settings);
    (void)json_object_put(doctor.items);
    return doctor.counts[FINDING_FAIL] == 0 ? EXIT_DONE : EXIT_FAILED;
}
