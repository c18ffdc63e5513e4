"""Runs the benchmarks that scripts/bench names. See scripts/bench --help."""

import argparse
import importlib
import json
import signal
import subprocess
import sys
import time
from pathlib import Path

from bench import report, usage
from bench.system import ROOT

# Name: (module, whether `quick` runs it; None: not even `all`)
BENCHMARKS = {
    "paths": ("paths", True),
    "coupons": ("coupons", True),
    "burst": ("burst", True),
    "growth": ("growth", True),
    "start": ("start", True),
    "ticketing": ("ticketing", False),
    "isolation": ("isolation", False),
    "check": ("check", None),
}

# Lengths: for `quick`, and for a run by name or `all`.
QUICK = {"seconds": 2, "rounds": 5, "crowd": 100_000, "largest": 100_000, "requests": 100_000, "steady_seconds": 15}
FULL = {"seconds": 3, "rounds": 7, "crowd": 100_000, "largest": 5_000_000, "requests": 1_000_000, "steady_seconds": 60}


def options_of(words):
    parser = argparse.ArgumentParser(prog="scripts/bench", add_help=False)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--seconds", type=int)
    parser.add_argument("--rounds", type=int)
    parser.add_argument("--crowd", type=int)
    parser.add_argument("--members", type=int)
    parser.add_argument("--rates")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--results", type=Path, default=ROOT / "bench-results")
    options = parser.parse_args(words)
    options.rates = [int(rate) for rate in options.rates.split(",")] if options.rates else None
    return options


def lengths(options, quick):
    """Sets the defaults of the command line."""
    defaults = QUICK if quick else FULL
    options.steady_seconds = options.seconds or defaults["steady_seconds"]
    options.seconds = min(options.seconds or defaults["seconds"], 10)
    options.rounds = options.rounds or defaults["rounds"]
    options.largest = options.crowd or defaults["largest"]
    options.crowd = options.crowd or defaults["crowd"]
    options.requests = options.members or defaults["requests"]
    options.quick, options.failed, options.pictures = quick, False, {}
    # The most members that a run can use, as they are created beforehand.
    options.entries_a_second, options.orders_a_second = 25_000, 4_000


def chosen(names):
    """The benchmarks to run, and whether to run the short versions."""
    if names in ([], ["quick"]):
        return [name for name, (_, quick) in BENCHMARKS.items() if quick], True
    if names == ["all"]:
        return [name for name, (_, quick) in BENCHMARKS.items() if quick is not None], False
    unknown = [name for name in names if name not in BENCHMARKS]
    if unknown:
        print(f"bench: there is no benchmark '{unknown[0]}', only: quick, all, report, {', '.join(BENCHMARKS)}", file=sys.stderr)
        raise SystemExit(64)
    return names, False


def commit():
    done = subprocess.run(["git", "-C", str(ROOT), "describe", "--always", "--dirty"], capture_output=True, text=True,
                          check=False)
    return done.stdout.strip() or "unknown"


def main():
    options = options_of(sys.argv[1:])
    if options.names[:1] == ["report"]:
        for path in options.names[1:] or sorted(options.results.glob("*.json")):
            report.show(json.loads(Path(path).read_text()))
        return
    # A signal unwinds every `with`, so that nothing is left running.
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda *_: sys.exit(130))
    names, quick = chosen(options.names)
    lengths(options, quick)
    for name in names:
        machine, began = usage.machine(), time.time()
        tables, raw = importlib.import_module(f"bench.{BENCHMARKS[name][0]}").run(options)
        result = {"name": name, "at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(began)), "commit": commit(),
                  "machine": machine, "seconds": round(time.time() - began, 1),
                  "options": {key: value for key, value in vars(options).items() if isinstance(value, (int, list))},
                  "tables": tables, "raw": raw}
        report.write(options.results / f"{name}.json", result)
        report.show(result)
        for picture, text in options.pictures.items():
            (options.results / picture).write_text(text)
        print(f"written to {options.results / (name + '.json')}\n", flush=True)
    raise SystemExit(1 if options.failed else 0)


main()
