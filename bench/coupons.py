"""Entries, positions and coupons, a third each, as an open model, at increasing rates until it breaks, and how it breaks."""

from bench import load, picture
from bench.report import table, used_columns, used_row
from bench.system import System
from bench.watch import Watch

RATES = [1000, 2000, 2500, 2800, 4000, 6000, 8000, 10_000, 12_000, 14_000, 16_000, 20_000]
P90_MS = 33.85
RECOVERY_RATE, RECOVERY_SECONDS, CODES_AT_ONCE = 300, 5, 100_000


def drop(system, name, rate, coupons):
    """A queue that admits everyone, and an event with enough coupons for all."""
    system.queue(name, ratePerSecond=rate, burst=rate, maxActive=1_000_000, maxInFlight=10_000, batchCap=500, tickMs=100)
    system.admin("PUT", f"/coupon-events/{name}", {"name": name, "queue": name})
    for left in range(coupons, 0, -CODES_AT_ONCE):
        system.admin("POST", f"/coupon-events/{name}/codes", {"generate": min(left, CODES_AT_ONCE)})


def holds(seen):
    return seen["errors"] == 0 and seen["p90Ms"] <= P90_MS


def refused(seen):
    """Answers 503 and 429."""
    return sum(seen[kind]["statuses"].get(status, 0) for kind in ("enter", "position", "coupon") for status in ("503", "429"))


def other_errors(seen):
    return seen["errors"] - refused(seen)


def steady(system, name, rate, seconds):
    drop(system, name, max(rate, 100), rate * seconds // 3 + rate)
    before = system.sample()
    seen = load.rush(system, name, name, "--rate", rate, "--seconds", seconds)
    seen["used"] = system.used(before)
    return seen


def row(name, seen):
    return [name, seen["achievedPerSecond"], *(seen[quantile] for quantile in ("p50Ms", "p90Ms", "p95Ms", "p99Ms", "maxMs")),
            seen["enter"]["p90Ms"], seen["position"]["p90Ms"], seen["coupon"]["p90Ms"], refused(seen), other_errors(seen),
            seen["issued"], seen["senderLateP99Ms"]]


COLUMNS = ["requests a second", "reached", "p50 ms", "p90 ms", "p95 ms", "p99 ms", "max ms", "entries p90", "positions p90",
           "coupons p90", "503 and 429", "other errors", "coupons issued", "late ms"]


def breaking(broken, recovered, counts):
    """How it broke, and how it recovered."""
    waits = [broken["withoutRetryAfter"], broken["unanswered"], broken["dropped"],
             broken["coupon"]["statuses"].get("0", 0) + broken["enter"]["statuses"].get("0", 0)]
    return table("Where it breaks", ["what", "count"], [
        ["requests a second", broken["ratePerSecond"]],
        ["refused 503 or 429", refused(broken)], ["of these without Retry-After", waits[0]],
        ["unanswered after 5 s", waits[1]], ["not sent for want of a connection", waits[2]], ["connections lost", waits[3]],
        ["coupons answered 201", broken["issued"]], ["coupons issued in the database", counts["issued"]],
        [f"p90 ms at {RECOVERY_RATE} a second right afterwards", recovered["p90Ms"]],
        ["errors then", recovered["errors"]]],
        "A coupon whose answer was not waited for may have been issued: the database may count more than the sender, never less.")


def run(options):
    rates, rows, runs, held = options.rates or RATES, [], {}, 0
    usage = []
    tables = []
    with System() as system:
        drop(system, "at-once", 5000, 5000)
        with Watch(system, "at-once", 0.5) as watch:
            seen = load.rush(system, "at-once", "at-once", "--members", 5000, "--connections", 5000, "--seconds", 60)
        rows.append(row("5,000 members at once", seen))
        runs["at once"] = seen
        for rate in rates:
            name = f"steady-{rate}"
            seen = runs[name] = steady(system, name, rate, options.steady_seconds)
            rows.append(row(f"{rate:,}", seen))
            usage.append([f"{rate:,}", *used_row(seen["used"])])
            if holds(seen):
                held = rate
            elif not options.rates or rate == rates[-1]:
                drop(system, "after", RECOVERY_RATE, RECOVERY_RATE * RECOVERY_SECONDS)
                recovered = load.rush(system, "after", "after", "--rate", RECOVERY_RATE, "--seconds", RECOVERY_SECONDS)
                tables = [breaking(seen, recovered, system.admin("GET", f"/coupon-events/{name}"))]
                break
    points = [{"perSecond": seen["ratePerSecond"], **seen} for name, seen in runs.items() if name != "at once"]
    options.pictures["latency.svg"] = picture.latency(
        points, "Entries, positions and coupons, a third each: latency against load", P90_MS)
    length = options.steady_seconds
    return [table("Entries, positions and coupons, a third each", COLUMNS, rows,
                  f"{length} s a rate, servers and sender on the same cores; latency counts from the intended moment; `late` is "
                  f"the sender's own lateness at its 99th percentile. Held with p90 ≤ {P90_MS} ms and no error: "
                  f"{f'{held:,} a second' if held else 'none of them'}. Most connections at once in the first run: "
                  f"{watch.connections:,}."),
            table("What it took, in shares of a core", ["requests a second", *used_columns()], usage), *tables], runs
