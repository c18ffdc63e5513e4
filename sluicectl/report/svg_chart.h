/*
 * svg_chart — a line chart over time, as SVG that any browser and Markdown viewer shows.
 */
#ifndef SLUICE_SLUICECTL_SVG_CHART_H
#define SLUICE_SLUICECTL_SVG_CHART_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum { SVG_LINES_MAX = 4 };

struct svg_line {
    const char *label;
    const double *values; /* as many as there are times; NAN: unknown, leaves a gap */
};

struct svg_chart {
    const char *title;
    const char *unit;     /* of the vertical axis */
    const int64_t *times; /* seconds since 1970, ascending */
    size_t count;
    struct svg_line lines[SVG_LINES_MAX];
    size_t line_count;
    int64_t mark; /* a moment to mark; 0: none */
    const char *mark_label;
};

/** Writes it. False on a write error. */
bool svg_chart_write(FILE *file, const struct svg_chart *chart);

/** The smallest of 1, 2, 2.5 or 5 times a power of ten that is not below `value` / `steps`; 1 if
 *  `value` is not positive. */
double svg_chart_step(double value, int steps);

#endif
