#include "sluicectl/report/svg_chart.h"

#include <math.h>

#include "lib/base/clock.h"

enum {
    WIDTH = 900,
    HEIGHT = 320,
    LEFT = 70,
    RIGHT = 20,
    TOP = 56,
    BOTTOM = 40,
    STEPS = 5,
    TIMES = 6,
    LEGEND_WIDTH = 200
};

static const char *const COLOURS[SVG_LINES_MAX] = {"#2563eb", "#d97706", "#059669", "#7c3aed"};

/** Maps values to positions in the picture. */
struct scale {
    int64_t from;
    int64_t to;
    double most; /* at the upper edge */
};

double svg_chart_step(double value, int steps)
{
    static const double NICE[] = {1, 2, 2.5, 5, 10};
    double raw = value / steps;

    if (!(raw > 0) || !isfinite(raw)) {
        return 1;
    }
    double power = pow(10, floor(log10(raw)));
    for (size_t i = 0; i < sizeof(NICE) / sizeof(NICE[0]); i++) {
        if (NICE[i] * power >= raw * (1 - 1e-9)) {
            return NICE[i] * power;
        }
    }
    return 10 * power;
}

static double across(const struct scale *scale, int64_t time)
{
    double span = scale->to > scale->from ? (double)(scale->to - scale->from) : 1;

    return LEFT + (double)(time - scale->from) / span * (WIDTH - LEFT - RIGHT);
}

static double upwards(const struct scale *scale, double value)
{
    return HEIGHT - BOTTOM - value / scale->most * (HEIGHT - TOP - BOTTOM);
}

static void write_text(FILE *file, const char *text)
{
    for (; *text != '\0'; text++) {
        switch (*text) {
        case '&':
            (void)fputs("&amp;", file);
            break;
        case '<':
            (void)fputs("&lt;", file);
            break;
        case '>':
            (void)fputs("&gt;", file);
            break;
        default:
            (void)fputc((unsigned char)*text < ' ' ? ' ' : *text, file);
        }
    }
}

static void write_label(FILE *file, double x, double y, const char *anchor, const char *text)
{
    (void)fprintf(file, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">", x, y, anchor);
    write_text(file, text);
    (void)fputs("</text>\n", file);
}

static void write_grid(FILE *file, const struct scale *scale, double step)
{
    char text[RFC3339_TEXT + 1];

    int lines = (int)(scale->most / step + 0.5);
    for (int i = 0; i <= lines; i++) {
        double value = i * step;
        double y = upwards(scale, value);
        (void)fprintf(file, "<path d=\"M%d %.1fH%d\" stroke=\"#d4d4d8\"/>\n", LEFT, y,
                      WIDTH - RIGHT);
        (void)snprintf(text, sizeof(text), "%.10g", value);
        write_label(file, LEFT - 8, y + 4, "end", text);
    }
    bool days = scale->to - scale->from > 2 * 86400;
    for (int i = 0; i <= TIMES; i++) {
        int64_t time = scale->from + (scale->to - scale->from) * i / TIMES;
        rfc3339_format(time * 1000, text);
        /* 2026-01-31T12:00:00.000Z: month and day, or hours and minutes */
        text[days ? 10 : 16] = '\0';
        write_label(file, across(scale, time), HEIGHT - BOTTOM + 18, "middle",
                    text + (days ? 5 : 11));
    }
}

/** A separate line for each run of known values; a dot for a single one. */
static void write_line(FILE *file, const struct svg_chart *chart, const struct scale *scale,
                       size_t number)
{
    const double *values = chart->lines[number].values;

    for (size_t i = 0; i < chart->count; i++) {
        if (isnan(values[i])) {
            continue;
        }
        size_t end = i;
        while (end + 1 < chart->count && !isnan(values[end + 1])) {
            end++;
        }
        if (end == i) {
            (void)fprintf(file, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"2\" fill=\"%s\"/>\n",
                          across(scale, chart->times[i]), upwards(scale, values[i]),
                          COLOURS[number]);
            continue;
        }
        (void)fprintf(file,
                      "<polyline fill=\"none\" stroke=\"%s\" stroke-width=\"2\" "
                      "stroke-linejoin=\"round\" points=\"",
                      COLOURS[number]);
        for (; i <= end; i++) {
            (void)fprintf(file, "%.1f,%.1f ", across(scale, chart->times[i]),
                          upwards(scale, values[i]));
        }
        (void)fputs("\"/>\n", file);
    }
}

static void write_legend(FILE *file, const struct svg_chart *chart)
{
    for (size_t i = 0; i < chart->line_count; i++) {
        double x = LEFT + (double)i * LEGEND_WIDTH;
        (void)fprintf(file, "<rect x=\"%.1f\" y=\"%d\" width=\"12\" height=\"4\" fill=\"%s\"/>\n",
                      x, TOP - 18, COLOURS[i]);
        write_label(file, x + 18, TOP - 12, "start", chart->lines[i].label);
    }
}

static void write_mark(FILE *file, const struct svg_chart *chart, const struct scale *scale)
{
    if (chart->mark < scale->from || chart->mark > scale->to || chart->mark == 0) {
        return;
    }
    double x = across(scale, chart->mark);
    (void)fprintf(file, "<path d=\"M%.1f %dV%d\" stroke=\"#dc2626\" stroke-dasharray=\"4 3\"/>\n",
                  x, TOP, HEIGHT - BOTTOM);
    bool on_the_left = x > WIDTH / 2.0;
    write_label(file, on_the_left ? x - 5 : x + 5, TOP + 12, on_the_left ? "end" : "start",
                chart->mark_label);
}

bool svg_chart_write(FILE *file, const struct svg_chart *chart)
{
    struct scale scale = {.from = chart->count > 0 ? chart->times[0] : 0,
                          .to = chart->count > 0 ? chart->times[chart->count - 1] : 0};
    double most = 0;

    for (size_t line = 0; line < chart->line_count; line++) {
        for (size_t i = 0; i < chart->count; i++) {
            most = fmax(most, chart->lines[line].values[i]);
        }
    }
    double step = svg_chart_step(most, STEPS);
    scale.most = fmax(step, ceil(most / step - 1e-9) * step);
    (void)fprintf(file,
                  "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
                  "viewBox=\"0 0 %d %d\" role=\"img\" font-family=\"sans-serif\" font-size=\"12\" "
                  "fill=\"#3f3f46\">\n<title>",
                  WIDTH, HEIGHT, WIDTH, HEIGHT);
    write_text(file, chart->title);
    (void)fprintf(file, "</title>\n<rect width=\"%d\" height=\"%d\" fill=\"#ffffff\"/>\n", WIDTH,
                  HEIGHT);
    (void)fprintf(file, "<g font-size=\"15\" font-weight=\"bold\">");
    write_label(file, LEFT, 22, "start", chart->title);
    (void)fputs("</g>\n", file);
    write_label(file, WIDTH - RIGHT, 22, "end", chart->unit);
    write_grid(file, &scale, step);
    write_mark(file, chart, &scale);
    for (size_t line = 0; line < chart->line_count; line++) {
        write_line(file, chart, &scale, line);
    }
    write_legend(file, chart);
    (void)fputs("</svg>\n", file);
    return ferror(file) == 0;
}
