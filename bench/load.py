"""Runs the load generators and parses their output."""

import json
import subprocess

from bench.system import BUILD, pinned

SENDER_CORE = "1"


def closed(port, requests, connections=64, seconds=2, first=0, once=False, pin=True):
    """sluice-closed: as fast as the answers come."""
    command = [BUILD / "sluice-closed", "--port", port, "--requests", requests, "--connections", connections,
               "--first", first, *(["--once"] if once else ["--seconds", seconds])]
    done = subprocess.run(pinned(SENDER_CORE if pin else None, command), capture_output=True, text=True, check=False,
                          timeout=seconds + 120)
    if done.returncode != 0:
        raise SystemExit(f"sluice-closed failed: {done.stderr}")
    return json.loads(done.stdout)


def rush(system, queue, event, *options, timeout=900):
    """sluice-load: an open model of entries, positions and coupons."""
    done = subprocess.run([str(word) for word in (
        BUILD / "sluice-load", "--port", system.port, "--key", system.data / "secrets" / "member-jwt.key",
        "--queue", queue, "--event", event, *options)], capture_output=True, text=True, check=False, timeout=timeout)
    if done.returncode != 0:
        raise SystemExit(f"sluice-load failed: {done.stderr}")
    return json.loads(done.stdout)


def good_share(result, *statuses):
    """The share of answers with one of these statuses, 0 to 1."""
    total = sum(result["statuses"].values())
    return sum(result["statuses"].get(str(status), 0) for status in statuses) / total if total else 0.0
