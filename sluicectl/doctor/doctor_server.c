#include <string.h>

#include "sluicectl/doctor/doctor.h"
#include "sluicectl/server/client.h"

static enum finding_state state_of(const char *word)
{
    if (strcmp(word, "ok") == 0) {
        return FINDING_OK;
    }
    return strcmp(word, "warn") == 0 ? FINDING_WARN : FINDING_FAIL;
}

/** True if Sluice answers at all. */
static bool check_reach(struct doctor *doctor)
{
    const struct invocation *invocation = doctor->invocation;
    struct client_answer answer;

    if (!client_try(invocation, "GET", "/readyz", NULL, &answer)) {
        doctor_note(doctor, "server.reach", FINDING_FAIL,
                    "Start nginx and the pools, or name the address with --url.", "%s", answer.why);
        return false;
    }
    doctor_check(doctor, "server.reach", answer.status == 200, FINDING_FAIL,
                 "Check the part named here: until it answers, orders are refused.",
                 answer.status == 200 ? "%s is ready" : "%s answers that it is not ready: %s",
                 invocation->url, text_field(answer.body, "detail", "no reason is given"));
    if (answer.date_ms > 0) {
        doctor_clock(doctor, "server.http-clock", "the server's", answer.date_ms);
    }
    return true;
}

/** Adds the server's own checklist. */
static void take_checklist(struct doctor *doctor, json_object *items)
{
    for (size_t i = 0; i < json_object_array_length(items); i++) {
        json_object *item = json_object_array_get_idx(items, i);
        json_object_object_add(item, "name",
                               json_object_new_string(arena_format(doctor->arena, "server.%s",
                                                                   text_field(item, "name", "?"))));
        json_object_array_add(doctor->items, json_object_get(item));
        doctor->counts[state_of(text_field(item, "state", "fail"))]++;
    }
}

void doctor_server(struct doctor *doctor)
{
    struct client_answer answer;

    if (!check_reach(doctor)) {
        return;
    }
    if (!client_try(doctor->invocation, "GET", "/v1/admin/checklist", NULL, &answer)) {
        doctor_note(doctor, "server.key", FINDING_FAIL,
                    "Name Sluice's folder with --data, or the key with SLUICE_ADMIN_KEY_FILE.",
                    "%s", answer.why);
        return;
    }
    if (answer.status == 200) {
        take_checklist(doctor, json_object_object_get(answer.body, "items"));
    } else if (answer.status != 404) {
        doctor_note(doctor, "server.checklist", FINDING_FAIL,
                    answer.status == 401
                        ? "Name the folder of this Sluice with --data, or its key with "
                          "SLUICE_ADMIN_KEY_FILE."
                        : "Check the log of the operator pool.",
                    "the server refused the checklist: %s",
                    text_field(answer.body, "detail", "without a reason"));
    }
}
