/*
 * svg_chart — a picture of numbers over time, as SVG that any browser and Markdown viewer shows.
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
    const double *values; /* as many as there are times; NAN: not known, which leaves a gap */
};

struct svg_chart {
    const char *title;
    const char *unit;     /* of what goes up */
    const int64_t *times; /* seconds since 1970, growing */
    size_t count;
    struct svg_line lines[SVG_LINES_MAX];
    size_t line_count;
    int64_t mark; /* a moment that is marked; 0: none */
    const char *mark_label;
};

/** Writes it. False where the file took not all of it. */
bool svg_chart_write(FILE *file, const struct svg_chart *chart);

/** The least of 1, 2, 2.5 or 5 times a power of ten that is not below `value` / `steps`; 1 for
 *  nothing. */
double svg_chart_step(double value, int steps);

#endif
