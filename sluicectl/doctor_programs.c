#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sluicectl/doctor.h"
#include "sluicectl/program_output.h"

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

/** The user that systemd runs `unit` as; NULL if there is no such unit, it has no user, or it reads
 *  other settings than these. */
static const char *user_of(struct doctor *doctor, const char *unit)
{
    const char *const words[] = {"systemctl", "show", "--property=User,ExecStart", unit, NULL};
    const char *option = arena_format(doctor->arena, " --config %s ", doctor->settings_file);
    const char *user = NULL;
    struct program_output shown;
    struct str line;
    bool reads_these = false;

    if (!program_output(doctor->arena, words, SECONDS_MOST, &shown) || shown.status != 0) {
        return NULL;
    }
    struct str rest = shown.output;
    while (rest.n > 0) {
        struct str name;
        struct str value;
        (void)str_split(rest, '\n', &line, &rest);
        if (!str_split(line, '=', &name, &value)) {
            continue;
        }
        if (str_equal(name, STR("User")) && value.n > 0) {
            user = arena_copy(doctor->arena, value);
        } else if (str_equal(name, STR("ExecStart"))) {
            reads_these = strstr(arena_copy(doctor->arena, value), option) != NULL;
        }
    }
    return reads_these ? user : NULL;
}

/** Root reads every key, also one that its program cannot read: so the program itself checks the
 *  settings, as its user. Not with our environment, which may name other settings. */
void doctor_programs(struct doctor *doctor)
{
    const char *path = getenv("PATH");
    const char *search =
        arena_format(doctor->arena, "PATH=%s", path == NULL ? "/usr/bin:/bin" : path);

    if (geteuid() != 0 || !doctor->has_settings) {
        return;
    }
    for (size_t i = 0; i < sizeof(PROGRAMS) / sizeof(PROGRAMS[0]); i++) {
        const char *user = user_of(doctor, PROGRAMS[i].unit);
        const char *pool = PROGRAMS[i].pool;
        const char *const words[] = {"runuser",
                                     "-u",
                                     user,
                                     "--",
                                     "env",
                                     "-i",
                                     search,
                                     PROGRAMS[i].program,
                                     "--check-config",
                                     "--config",
                                     doctor->settings_file,
                                     pool == NULL ? NULL : "--pool",
                                     pool,
                                     NULL};
        struct program_output said;
        struct str first;
        struct str rest;
        if (user == NULL || !program_output(doctor->arena, words, SECONDS_MOST, &said)) {
            continue;
        }
        (void)str_split(said.status == 0 ? said.output : said.errors, '\n', &first, &rest);
        doctor_check(doctor, arena_format(doctor->arena, "program.%s", PROGRAMS[i].name),
                     said.status == 0, FINDING_FAIL,
                     "Correct it: the program cannot start. systemd-tmpfiles --create gives keys "
                     "and settings their owners and modes.",
                     "as user %s: %.*s", user, STR_ARG(first));
    }
}
