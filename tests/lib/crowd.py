"""Runs the load client and reads what it saw."""

import csv
import io
import subprocess
from dataclasses import dataclass

from lib.project import plain_build


@dataclass
class Seen:
    member: str
    status: int
    seq: int
    sent: int
    received: int
    polls: int
    retries: int
    ready: int
    token_ends: int
    order_status: int


def run(port, key_file, queue, members, connections=200, until="entered", sku=None, seconds=60, prefix="c"):
    """Returns what every member saw; fails when not all came through in time."""
    program = plain_build() / "tests" / "tools" / "crowd"
    command = [program, "--port", str(port), "--key", key_file, "--queue", queue, "--members", str(members),
               "--connections", str(connections), "--until", until, "--seconds", str(seconds), "--prefix", prefix]
    if sku:
        command += ["--sku", sku]
    done = subprocess.run(command, capture_output=True, text=True, timeout=seconds + 60)
    rows = [Seen(row[0], *map(int, row[1:])) for row in list(csv.reader(io.StringIO(done.stdout)))[1:]]
    assert done.returncode == 0, (done.returncode, done.stderr[-500:], summary(rows))
    return rows


def summary(rows):
    """For a failure's message."""
    statuses = {}
    for row in rows:
        statuses[row.status] = statuses.get(row.status, 0) + 1
    return {"rows": len(rows), "statuses": statuses, "entered": sum(row.seq > 0 for row in rows),
            "ready": sum(row.ready > 0 for row in rows), "ordered": sum(row.order_status == 201 for row in rows)}


def duplicates(rows):
    """Numbers that more than one member got."""
    seen, twice = set(), []
    for row in rows:
        (twice.append(row.seq) if row.seq in seen else seen.add(row.seq))
    return twice


def inversions(rows):
    """How many members have a larger number than somebody whose request was sent only after their answer had
    come: pairs in which a member who was answered first stands behind. In order of sending, whoever was
    answered before has the largest number that any later one must exceed."""
    by_answer = sorted(rows, key=lambda row: row.received)
    largest, at, wrong = 0, 0, 0
    for row in sorted(rows, key=lambda row: row.sent):
        while by_answer[at].received < row.sent:
            largest = max(largest, by_answer[at].seq)
            at += 1
        wrong += row.seq < largest
    return wrong
