#!/usr/bin/env python3
"""Usage: docs/draw-run.py RUN.csv LEVEL-MS OUT.svg

Draws a run that tests/integration/queues/test_autopilot.py has recorded (SLUICE_RECORD=DIR): the rate in force, and the P95 of
orders with its level."""

import csv
import sys

WIDTH, HEIGHT, LEFT, TOP = 720, 170, 56, 26


def chart(top, title, values, most, level=None):
    """One curve; a second without a value is a gap."""
    step = (WIDTH - LEFT - 12) / max(len(values) - 1, 1)
    x, y = (lambda i: LEFT + i * step), (lambda v: top + TOP + (1 - min(v, most) / most) * (HEIGHT - 2 * TOP))
    parts = [f'<text x="{LEFT}" y="{top + 15}" class="t">{title}</text>']
    for mark in (0, most / 2, most):
        parts.append(f'<path d="M{LEFT} {y(mark):.1f}H{WIDTH - 12}" class="g"/>'
                     f'<text x="{LEFT - 6}" y="{y(mark) + 4:.1f}" class="n">{mark:g}</text>')
    if level:
        parts.append(f'<path d="M{LEFT} {y(level):.1f}H{WIDTH - 12}" class="l"/>')
    path, draw = "", False
    for i, value in enumerate(values):
        if value is not None:
            path += f"{'L' if draw else 'M'}{x(i):.1f} {y(value):.1f}"
        draw = value is not None
    for second in range(0, len(values), 5):
        parts.append(f'<text x="{x(second):.1f}" y="{top + HEIGHT - 8}" class="s">{second} s</text>')
    return "".join(parts) + f'<path d="{path}" class="c"/>'


def main():
    source, level, target = sys.argv[1], float(sys.argv[2]), sys.argv[3]
    with open(source, encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    rates = [float(row["ratePerSecond"]) for row in rows]
    latencies = [float(row["orderP95Ms"]) if row["orderP95Ms"] else None for row in rows]
    charts = [chart(0, "rate in force, members a second", rates, 10 * (max(rates) // 10 + 1))]
    if any(latencies):
        most = 100 * (max(filter(None, latencies)) // 100 + 1)
        charts.append(chart(HEIGHT, f"P95 of orders, ms; the level is {level:g}", latencies, most, level))
    style = (".t{font:600 13px sans-serif;fill:#333}.n{font:11px sans-serif;fill:#555;text-anchor:end}"
             ".s{font:11px sans-serif;fill:#555;text-anchor:middle}.g{stroke:#ddd}.l{stroke:#c0392b;stroke-dasharray:5 4}"
             ".c{stroke:#1f6fb2;stroke-width:2;fill:none}")
    height = HEIGHT * len(charts)
    with open(target, "w", encoding="utf-8") as file:
        file.write(f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}">'
                   f'<style>{style}</style><rect width="{WIDTH}" height="{height}" fill="#fff"/>{"".join(charts)}</svg>\n')


if __name__ == "__main__":
    main()
