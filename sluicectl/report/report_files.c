#include "sluicectl/report/report_files.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "lib/base/clock.h"
#include "sluicectl/report/svg_chart.h"

/** A chart: counters (per second) and gauges, by their numbers. */
struct picture {
    const char *file;
    const char *title;
    const char *unit;
    struct {
        bool is_gauge;
        int number;
        const char *label;
    } lines[SVG_LINES_MAX];
    size_t count;
};

static const struct picture PICTURES[] = {
    {"arrivals.svg", "Arrivals", "members a second", {{false, REPORT_ENTERED, "entered"}}, 1},
    {"line.svg",
     "The line",
     "members",
     {{true, REPORT_WAITING, "waiting"},
      {true, REPORT_READY, "admitted"},
      {true, REPORT_CLAIMED, "ordering"}},
     3},
    {"waits.svg",
     "Waits",
     "seconds",
     {{true, REPORT_ACTUAL, "actual"}, {true, REPORT_PROMISED, "promised"}},
     2},
    {"admissions.svg",
     "Admissions",
     "members a second",
     {{false, REPORT_ADMITTED, "admitted"}, {true, REPORT_RATE, "rate in force"}},
     2},
    {"completions.svg", "Completions", "orders a second", {{false, REPORT_CONSUMED, "orders"}}, 1},
    {"drop-outs.svg",
     "Drop-outs",
     "members a second",
     {{false, REPORT_EXPIRED, "admitted, time over"},
      {false, REPORT_WITHDRAWN, "never came for it"},
      {false, REPORT_LEFT, "left by themselves"}},
     3},
    {"latency.svg",
     "Orders: time until the answer",
     "milliseconds",
     {{true, REPORT_P50, "P50"}, {true, REPORT_P95, "P95"}, {true, REPORT_P99, "P99"}},
     3},
};

static FILE *open_file(const struct invocation *invocation, const struct report *report,
                       const char *name)
{
    const char *path = arena_format(invocation->arena, "%s/%s", report->folder, name);
    FILE *file = fopen(path, "we");

    if (file == NULL) {
        (void)failed_as(EXIT_CONFIG, "%s cannot be written: %s", path, strerror(errno));
    }
    return file;
}

static bool close_file(const struct report *report, const char *name, FILE *file, bool good)
{
    good = ferror(file) == 0 && good;
    if (fclose(file) != 0 || !good) {
        (void)failed_as(EXIT_CONFIG, "%s/%s could not be written completely", report->folder, name);
        return false;
    }
    return true;
}

static bool write_picture(const struct invocation *invocation, const struct report *report,
                          const struct picture *picture)
{
    const struct report_figures *figures = &report->figures;
    struct svg_chart chart = {.title = picture->title,
                              .unit = picture->unit,
                              .times = figures->times,
                              .count = figures->count,
                              .line_count = picture->count,
                              .mark = report->sold_out_s,
                              .mark_label = "sold out"};

    for (size_t i = 0; i < picture->count; i++) {
        int number = picture->lines[i].number;
        chart.lines[i] =
            (struct svg_line){.label = picture->lines[i].label,
                              .values = picture->lines[i].is_gauge ? figures->gauges[number]
                                                                   : figures->per_second[number]};
    }
    FILE *file = open_file(invocation, report, picture->file);
    return file != NULL && close_file(report, picture->file, file, svg_chart_write(file, &chart));
}

static bool write_table(const struct invocation *invocation, const struct report *report)
{
    static const char NAME[] = "history.csv";
    FILE *file = open_file(invocation, report, NAME);

    if (file == NULL) {
        return false;
    }
    (void)fputs("at", file);
    for (int i = 0; i < REPORT_COUNTERS; i++) {
        (void)fprintf(file, ",%s", report_counter_name((enum report_counter)i));
    }
    for (int i = 0; i < REPORT_GAUGES; i++) {
        (void)fprintf(file, ",%s", report_gauge_name((enum report_gauge)i));
    }
    (void)fputs("\r\n", file);
    for (size_t row = 0; row < json_object_array_length(report->points); row++) {
        json_object *point = json_object_array_get_idx(report->points, row);
        (void)fputs(text_field(point, "at", ""), file);
        for (int i = 0; i < REPORT_COUNTERS + REPORT_GAUGES; i++) {
            const char *name = i < REPORT_COUNTERS
                                   ? report_counter_name((enum report_counter)i)
                                   : report_gauge_name((enum report_gauge)(i - REPORT_COUNTERS));
            json_object *value = json_object_object_get(point, name);
            (void)fprintf(file, ",%s", value == NULL ? "" : json_object_get_string(value));
        }
        (void)fputs("\r\n", file);
    }
    return close_file(report, NAME, file, true);
}

/** A time for people, in the arena; "–" for none. */
static const char *moment(struct arena *arena, int64_t seconds)
{
    char text[RFC3339_TEXT + 1];

    if (seconds <= 0) {
        return "–";
    }
    rfc3339_format(seconds * 1000, text);
    return arena_format(arena, "%.10s %.5s UTC", text, text + 11);
}

static void write_sums(FILE *file, const struct report *report)
{
    static const char *const MEANINGS[REPORT_COUNTERS] = {
        [REPORT_ENTERED] = "entered the line",
        [REPORT_ADMITTED] = "were admitted",
        [REPORT_CONSUMED] = "ordered, or got their coupon",
        [REPORT_EXPIRED] = "were admitted and let the time pass",
        [REPORT_LEFT] = "left by themselves",
        [REPORT_WITHDRAWN] = "were admitted and never came for it",
        [REPORT_ERRORS] = "orders that failed or took too long",
    };
    const double *sums = report->figures.sums;

    (void)fputs("| how many | |\n|---:|---|\n", file);
    for (int i = 0; i < REPORT_COUNTERS; i++) {
        (void)fprintf(file, "| %.0f | %s |\n", sums[i], MEANINGS[i]);
    }
    if (sums[REPORT_ADMITTED] > 0) {
        (void)fprintf(file, "| %.1f %% | of those admitted ordered |\n",
                      sums[REPORT_CONSUMED] / sums[REPORT_ADMITTED] * 100);
    }
    if (sums[REPORT_ENTERED] > 0) {
        double gone = sums[REPORT_EXPIRED] + sums[REPORT_LEFT] + sums[REPORT_WITHDRAWN];
        (void)fprintf(file, "| %.1f %% | of those who entered dropped out |\n",
                      gone / sums[REPORT_ENTERED] * 100);
    }
}

static void write_peak(FILE *file, struct arena *arena, const char *what,
                       const struct report_peak *peak, const char *unit)
{
    if (peak->at > 0) {
        (void)fprintf(file, "| %s | %.10g %s | %s |\n", what, round(peak->value * 10) / 10, unit,
                      moment(arena, peak->at));
    }
}

static void write_peaks(FILE *file, struct arena *arena, const struct report *report)
{
    const struct report_figures *figures = &report->figures;

    (void)fputs("\n| the most | | when |\n|---|---:|---|\n", file);
    write_peak(file, arena, "arrivals", &figures->peaks[REPORT_ENTERED], "a second");
    write_peak(file, arena, "in line", &figures->gauge_peaks[REPORT_WAITING], "members");
    write_peak(file, arena, "wait", &figures->gauge_peaks[REPORT_ACTUAL], "s");
    write_peak(file, arena, "promised wait", &figures->gauge_peaks[REPORT_PROMISED], "s");
    write_peak(file, arena, "admissions", &figures->peaks[REPORT_ADMITTED], "a second");
    write_peak(file, arena, "orders", &figures->peaks[REPORT_CONSUMED], "a second");
    write_peak(file, arena, "order P95", &figures->gauge_peaks[REPORT_P95], "ms");
}

/** Writes foreign text into a table cell. */
static void write_cell(FILE *file, const char *text)
{
    (void)fputs("| ", file);
    for (; *text != '\0'; text++) {
        if (strchr("\\|`*_<>[]", *text) != NULL) {
            (void)fputc('\\', file);
        }
        (void)fputc((unsigned char)*text < ' ' ? ' ' : *text, file);
    }
    (void)fputc(' ', file);
}

static void write_goods(FILE *file, const struct report *report)
{
    static const char *const FIELDS[] = {"kind", "id", "name", "total", "sold", "left"};

    if (report->goods == NULL || json_object_array_length(report->goods) == 0) {
        return;
    }
    (void)fputs("\n## What was sold\n\nAs it is at this moment.\n\n"
                "| kind | id | name | there were | sold | left |\n|---|---|---|---:|---:|---:|\n",
                file);
    for (size_t row = 0; row < json_object_array_length(report->goods); row++) {
        for (size_t i = 0; i < sizeof(FIELDS) / sizeof(FIELDS[0]); i++) {
            json_object *value =
                json_object_object_get(json_object_array_get_idx(report->goods, row), FIELDS[i]);
            write_cell(file, value == NULL ? "" : json_object_get_string(value));
        }
        (void)fputs("|\n", file);
    }
}

static bool write_text(const struct invocation *invocation, const struct report *report)
{
    static const char NAME[] = "report.md";
    struct arena *arena = invocation->arena;
    FILE *file = open_file(invocation, report, NAME);

    if (file == NULL) {
        return false;
    }
    (void)fprintf(file,
                  "# How %s went\n\nFrom %s to %s, a point each %" PRId64 " s (%zu of them).\n\n",
                  report->queue, moment(arena, report->from_s), moment(arena, report->to_s),
                  report->step_s, report->figures.count);
    if (report->stats != NULL) {
        (void)fprintf(file, "Now the queue is %s, with %s waiting.\n\n",
                      text_field(report->stats, "state", "?"),
                      json_object_get_string(json_object_object_get(report->stats, "waiting")));
    }
    (void)fprintf(file,
                  report->sold_out_s > 0 ? "**Sold out at %s**, to the step.\n\n"
                                         : "It has not sold out.%s\n\n",
                  report->sold_out_s > 0 ? moment(arena, report->sold_out_s) : "");
    write_sums(file, report);
    write_peaks(file, arena, report);
    write_goods(file, report);
    for (size_t i = 0; i < sizeof(PICTURES) / sizeof(PICTURES[0]); i++) {
        (void)fprintf(file, "\n## %s\n\n![%s](%s)\n", PICTURES[i].title, PICTURES[i].title,
                      PICTURES[i].file);
    }
    (void)fputs(
        "\nThe numbers of the pictures are in [history.csv](history.csv); its counters count "
        "from the queue's beginning.\n",
        file);
    return close_file(report, NAME, file, true);
}

enum exit_code report_files_write(const struct invocation *invocation, const struct report *report)
{
    bool good = true;

    if (mkdir(report->folder, 0777) != 0 && errno != EEXIST) {
        return failed_as(EXIT_CONFIG, "the folder %s cannot be created: %s", report->folder,
                         strerror(errno));
    }
    for (size_t i = 0; good && i < sizeof(PICTURES) / sizeof(PICTURES[0]); i++) {
        good = write_picture(invocation, report, &PICTURES[i]);
    }
    good = good && write_table(invocation, report) && write_text(invocation, report);
    return good ? EXIT_DONE : EXIT_CONFIG;
}
