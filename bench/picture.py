"""A chart of latency against load: SVG, both axes logarithmic, readable without colours."""

import math

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 720, 420, 70, 90, 40, 55
LINES = [("p50Ms", "p50", "#1b6ca8", ""), ("p90Ms", "p90", "#c4711b", "6 3"), ("p99Ms", "p99", "#a8233c", "2 3")]


def _ticks(low, high):
    """1, 2 and 5 times the powers of ten between."""
    found = [step * 10 ** power for power in range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
             for step in (1, 2, 5)]
    return [tick for tick in found if low <= tick * 1.0001 and tick <= high * 1.0001]


def _scale(low, high, start, end):
    width = math.log(high / low) or 1.0
    return lambda value: start + (end - start) * math.log(max(value, low) / low) / width


def latency(points, title, limit_ms=None):
    """`points`: dictionaries with perSecond, p50Ms, p90Ms and p99Ms."""
    points = sorted(points, key=lambda point: point["perSecond"])
    loads = [point["perSecond"] for point in points]
    values = [max(point[name], 0.1) for point in points for name, *_ in LINES] + ([limit_ms] if limit_ms else [])
    x = _scale(min(loads) * 0.9, max(loads) * 1.1, LEFT, WIDTH - RIGHT)
    low, high = min(values) * 0.8, max(values) * 1.3
    y = _scale(low, high, HEIGHT - BOTTOM, TOP)
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{title}" '
           'font-family="sans-serif" font-size="12">',
           f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>',
           f'<text x="{LEFT}" y="22" font-size="15">{title}</text>']
    for tick in _ticks(low, high):
        out.append(f'<path d="M{LEFT} {y(tick):.1f}H{WIDTH - RIGHT}" stroke="#ddd"/>'
                   f'<text x="{LEFT - 8}" y="{y(tick) + 4:.1f}" text-anchor="end">{tick:g}</text>')
    last = -math.inf
    for load in loads:
        # The rates themselves are the ticks; of two that would overlap, the first is labelled.
        if x(load) - last > 45:
            out.append(f'<text x="{x(load):.1f}" y="{HEIGHT - BOTTOM + 20}" text-anchor="middle">{load:,.0f}</text>')
            last = x(load)
        out.append(f'<path d="M{x(load):.1f} {HEIGHT - BOTTOM}v5" stroke="#555"/>')
    out.append(f'<path d="M{LEFT} {TOP}V{HEIGHT - BOTTOM}H{WIDTH - RIGHT}" fill="none" stroke="#555"/>')
    if limit_ms:
        out.append(f'<path d="M{LEFT} {y(limit_ms):.1f}H{WIDTH - RIGHT}" stroke="#555" stroke-dasharray="1 4"/>'
                   f'<text x="{WIDTH - RIGHT + 6}" y="{y(limit_ms) + 4:.1f}">{limit_ms:g} ms</text>')
    for name, label, colour, dashes in LINES:
        path = "L".join(f"{x(point['perSecond']):.1f} {y(max(point[name], low)):.1f}" for point in points)
        out.append(f'<path d="M{path}" fill="none" stroke="{colour}" stroke-width="2" stroke-dasharray="{dashes}"/>')
        end = points[-1]
        out.append(f'<text x="{x(end["perSecond"]) + 6:.1f}" y="{y(max(end[name], low)) + 4:.1f}" fill="{colour}">{label}</text>')
        for point in points:
            out.append(f'<circle cx="{x(point["perSecond"]):.1f}" cy="{y(max(point[name], low)):.1f}" r="3" fill="{colour}"/>')
    out.append(f'<text x="{(LEFT + WIDTH - RIGHT) / 2}" y="{HEIGHT - 12}" text-anchor="middle">requests a second</text>'
               f'<text transform="translate(18 {(TOP + HEIGHT - BOTTOM) / 2}) rotate(-90)" text-anchor="middle">latency, ms</text>'
               "</svg>")
    return "\n".join(out) + "\n"
