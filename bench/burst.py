"""Crowds that arrive at one moment, with violations of the promises counted: 5,000 members within a second, 10,000, and
100,000 from a cold start."""

import os
import sys

from bench.report import median, table, used_columns, used_row
from bench.system import BUILD, ROOT, System
from bench.watch import Watch

# Members, concurrent requests, how far they go, settings of the queue. Members who only wait for their turn keep the place,
# so there must be one for each of them; those who order release it, and the capacity is small.
CROWDS = [
    (5000, 5000, "ordered", {"ratePerSecond": 1000, "burst": 1000, "maxActive": 500, "maxInFlight": 200}),
    (10_000, 8000, "ready", {"ratePerSecond": 2000, "burst": 2000, "maxActive": 10_000}),
    (100_000, 4000, "ready", {"ratePerSecond": 5000, "burst": 5000, "maxActive": 100_000}),
]


def members_of(system, queue, members, connections, until, seconds):
    """The results of each member: rows of tests/lib/crowd.py."""
    os.environ["SLUICE_PLAIN_BUILD"] = str(BUILD)
    sys.path.insert(0, str(ROOT / "tests"))
    from lib import crowd  # only here: it belongs to the tests
    rows = crowd.run(system.port, system.data / "secrets" / "member-jwt.key", queue, members, connections, until,
                     "bench-mug" if until == "ordered" else None, seconds)
    return rows, len(crowd.duplicates(rows)), crowd.inversions(rows)


def one(members, connections, until, settings):
    """A row of the table, the resources used, and figures; on a system started for it."""
    with System() as system:
        queue = system.queue("burst", tickMs=100, batchCap=500, entryTtlSeconds=3600, pickupSeconds=3600, **settings)
        system.admin("PUT", "/products/bench-mug", {"name": "Mug", "price": {"amount": 0, "currency": "KRW"},
                                                    "stock": 1_000_000, "queue": queue})
        before = system.sample()
        with Watch(system, queue) as watch:
            rows, duplicates, inversions = members_of(system, queue, members, connections, until, 600)
        used = system.used(before)
        stats = system.stats(queue)
    began = min(row.sent for row in rows)
    entered = (max(row.received for row in rows) - began) / 1e6
    ready = (max(row.ready for row in rows) - began) / 1e6
    answers = sorted(row.received - row.sent for row in rows)
    excess = watch.rate_excess(settings["ratePerSecond"], settings["burst"])
    figures = {"members": members, "until": until, "settings": settings, "enteredS": entered, "readyS": ready,
               "entryP50Ms": median(answers) / 1e3, "entryP99Ms": answers[len(answers) * 99 // 100] / 1e3,
               "duplicates": duplicates, "inversions": inversions, "mostActive": watch.most_active(), "rateExcess": excess,
               "looks": len(watch.looks), "connections": watch.connections, "retries": sum(row.retries for row in rows),
               "stats": {name: stats[name] for name in ("entered", "admitted", "consumed")}, "used": used}
    return figures


def run(options):
    crowds = CROWDS[:2] if options.quick else CROWDS
    if options.members:
        crowds = [(options.members, min(options.members, 4000), "ready",
                   {"ratePerSecond": 5000, "burst": 5000, "maxActive": options.members})]
    seen = [one(*crowd) for crowd in crowds]
    rows = [[f"{it['members']:,}, until {it['until']}", it["enteredS"], it["members"] / it["enteredS"], it["entryP50Ms"],
             it["entryP99Ms"], it["readyS"], it["retries"], it["duplicates"], it["inversions"], max(0.0, it["rateExcess"]),
             f"{it['mostActive']:,} of {it['settings']['maxActive']:,}", it["stats"]["admitted"]] for it in seen]
    usage = [[f"{it['members']:,}", it["connections"], *used_row(it["used"])] for it in seen]
    return [table("Crowds at one moment", [
        "members", "all entered after s", "entries a second", "entry p50 ms", "entry p99 ms", "all ready after s", "repeats",
        "duplicate numbers", "inversions", "admitted beyond the rate", "most active at once", "admitted"], rows,
        "Each on a system just started. An inversion is a member who was answered before another one sent, and stands behind. "
        "The rate and the capacity are looked at ten times a second in the queue's own counters, for each pair of looks."),
        table("What it took, in shares of a core", ["members", "clients' connections", *used_columns()], usage)], {"crowds": seen}
