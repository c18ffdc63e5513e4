/*
 * doctor — the checks of sluicectl doctor, a file for each part. A finding has a state and, unless
 * it is OK, says what to do.
 */
#ifndef SLUICE_SLUICECTL_DOCTOR_H
#define SLUICE_SLUICECTL_DOCTOR_H

#include <stdbool.h>
#include <stdint.h>

#include <json-c/json.h>

#include "lib/settings/settings.h"
#include "sluicectl/invocation.h"

enum finding_state { FINDING_OK, FINDING_WARN, FINDING_FAIL };

struct doctor {
    const struct invocation *invocation;
    struct arena *arena;
    struct settings settings; /* zeroed if they cannot be read */
    bool has_settings;
    const char *settings_file; /* whether or not it can be read */
    json_object
        *items; /* as in GET /v1/admin/checklist: {"name", "queue", "state", "detail", "do"} */
    int64_t counts[FINDING_FAIL + 1];
};

/** Records a finding. `what_to_do` is a sentence; unused for OK. `detail` is printf style. */
void doctor_note(struct doctor *doctor, const char *name, enum finding_state state,
                 const char *what_to_do, const char *detail, ...)
    __attribute__((format(printf, 5, 6)));

/** Records OK if `good`, else `otherwise`. */
void doctor_check(struct doctor *doctor, const char *name, bool good, enum finding_state otherwise,
                  const char *what_to_do, const char *detail, ...)
    __attribute__((format(printf, 6, 7)));

/** Records the difference between a clock of ours, `milliseconds` since 1970, and this
 *  machine's. */
void doctor_clock(struct doctor *doctor, const char *name, const char *whose, int64_t milliseconds);

/** A number from a kernel file under --proc, such as "sys/net/core/somaxconn"; -1 if it has
 *  none. */
int64_t doctor_kernel_number(const struct doctor *doctor, const char *file);

/* The parts. What the settings do not name is skipped. An unreachable server is a finding. */

/** The kernel's limits, and what it offers for the sandbox. */
void doctor_kernel(struct doctor *doctor);

/** Secrets, the files that programs share in memory, the board's directory, free disk space. */
void doctor_files(struct doctor *doctor);

/** Whether each program that a unit starts accepts its settings, as the unit's user. */
void doctor_programs(struct doctor *doctor);

/** nginx's version, limits and certificates, and whether it includes Sluice's configuration. */
void doctor_nginx(struct doctor *doctor);

/** Redis's version, memory, persistence, role and clock. */
void doctor_redis(struct doctor *doctor);

/** PostgreSQL's version, schema, connections, role, standbys and clock. */
void doctor_postgres(struct doctor *doctor);

/** Whether the service answers, its clock, and its own checklist. */
void doctor_server(struct doctor *doctor);

#endif
