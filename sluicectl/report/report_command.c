#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "lib/base/clock.h"
#include "sluicectl/commands.h"
#include "sluicectl/report/report_files.h"
#include "sluicectl/server/client.h"

enum { SPAN_USUAL_S = 24 * 3600 };

/** Reads --from and --to; false, with a message, if one is no time or the range is invalid. */
static bool read_span(const struct invocation *invocation, struct report *report)
{
    int64_t to_ms = clock_wall_ms();
    int64_t from_ms;

    if (invocation->to[0] != '\0' && !rfc3339_parse(str_of(invocation->to), &to_ms)) {
        (void)misused("--to must be a time like 2026-01-31T12:00:00Z, not '%s'", invocation->to);
        return false;
    }
    from_ms = to_ms - (int64_t)SPAN_USUAL_S * 1000;
    if (invocation->from[0] != '\0' && !rfc3339_parse(str_of(invocation->from), &from_ms)) {
        (void)misused("--from must be a time like 2026-01-31T12:00:00Z, not '%s'",
                      invocation->from);
        return false;
    }
    if (from_ms < 0 || from_ms >= to_ms) {
        (void)misused("--from must be before --to");
        return false;
    }
    report->from_s = from_ms / 1000;
    report->to_s = (to_ms + 999) / 1000;
    return true;
}

static bool read_history(const struct invocation *invocation, struct report *report)
{
    char from[RFC3339_TEXT + 1];
    char to[RFC3339_TEXT + 1];
    struct client_answer answer;

    rfc3339_format(report->from_s * 1000, from);
    rfc3339_format(report->to_s * 1000, to);
    if (!client_call(invocation, "GET",
                     arena_format(invocation->arena, "/v1/admin/queues/%s/history?from=%s&to=%s",
                                  report->queue, from, to),
                     NULL, &answer)) {
        return false;
    }
    report->points = json_object_object_get(answer.body, "points");
    report->step_s = json_object_get_int64(json_object_object_get(answer.body, "step"));
    if (!json_object_is_type(report->points, json_type_array) || report->step_s < 1) {
        (void)failed("the server's answer has no points. Is it another version?");
        return false;
    }
    if (json_object_array_length(report->points) == 0) {
        (void)failed(
            "there is no history of %s from %s to %s; sluice-reconcile writes it, a point a "
            "minute",
            report->queue, from, to);
        return false;
    }
    return true;
}

/** Reads the current state; a deleted queue still has its history. */
static bool read_moment(const struct invocation *invocation, struct report *report)
{
    struct client_answer answer;
    const char *path = arena_format(invocation->arena, "/v1/admin/queues/%s", report->queue);

    if (!client_request(invocation, "GET",
                        arena_format(invocation->arena, "%s/stats?samples=1", path), NULL,
                        &answer)) {
        return false;
    }
    report->stats = answer.status == 200 ? answer.body : NULL;
    if (!client_request(invocation, "GET", arena_format(invocation->arena, "%s/goods", path), NULL,
                        &answer)) {
        return false;
    }
    json_object *goods = json_object_object_get(answer.body, "goods");
    report->goods =
        answer.status == 200 && json_object_is_type(goods, json_type_array) ? goods : NULL;
    return true;
}

/** True if the history starts later than requested, so that the counters were 0 before. */
static bool began_within(const struct report *report)
{
    int64_t first_ms = 0;

    (void)rfc3339_parse(str_of(text_field(json_object_array_get_idx(report->points, 0), "at", "")),
                        &first_ms);
    return first_ms / 1000 > report->from_s + 2 * report->step_s;
}

/** Sold out by the current state: at the time of the last order. */
static int64_t sold_out_at(const struct report *report)
{
    bool sold_out = strcmp(text_field(report->stats, "state", ""), "SOLD_OUT") == 0;

    return sold_out ? report->figures.last_consumed : 0;
}

static enum exit_code print_result(const struct invocation *invocation, const struct report *report)
{
    char text[RFC3339_TEXT + 1];

    if (!invocation->json) {
        (void)printf("%s/report.md, with %zu points of %" PRId64 " s\n", report->folder,
                     report->figures.count, report->step_s);
        return EXIT_DONE;
    }
    json_object *answer = scratch_object(invocation);
    json_object_object_add(answer, "queue", json_object_new_string(report->queue));
    json_object_object_add(answer, "folder", json_object_new_string(report->folder));
    json_object_object_add(answer, "step", json_object_new_int64(report->step_s));
    json_object_object_add(answer, "points", json_object_new_int64((int64_t)report->figures.count));
    for (int i = 0; i < REPORT_COUNTERS; i++) {
        json_object_object_add(answer, report_counter_name((enum report_counter)i),
                               json_object_new_int64((int64_t)report->figures.sums[i]));
    }
    rfc3339_format(report->sold_out_s * 1000, text);
    json_object_object_add(answer, "soldOutAt",
                           report->sold_out_s > 0 ? json_object_new_string(text) : NULL);
    print_json(answer);
    return EXIT_DONE;
}

enum exit_code command_report(const struct command *command, const struct invocation *invocation)
{
    struct report report = {.queue = id_argument(invocation, 0, "queue id")};

    (void)command;
    if (report.queue == NULL || !read_span(invocation, &report)) {
        return EXIT_USAGE;
    }
    report.folder = invocation->out[0] != '\0'
                        ? invocation->out
                        : arena_format(invocation->arena, "%s-report", report.queue);
    if (!read_history(invocation, &report) || !read_moment(invocation, &report)) {
        return EXIT_FAILED;
    }
    report_figures_compute(&report.figures, invocation->arena, report.points, report.step_s,
                           began_within(&report));
    report.sold_out_s = sold_out_at(&report);
    enum exit_code code = report_files_write(invocation, &report);
    return code == EXIT_DONE ? print_result(invocation, &report) : code;
}
