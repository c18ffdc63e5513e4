"""pgbench with the statement that the order pool sends, recorded from PostgreSQL's log.

A worker takes two of its parameters from answers it has had: rows of the outbox to delete, and the coupon behind which it
begins to look. So does pgbench. Without that its coupons would be looked for from the beginning, and reconcile would tell
Redis of its orders while ours are measured."""

import re
import subprocess
import time
from pathlib import Path

from bench import usage

PGBENCH = "/usr/lib/postgresql/15/bin/pgbench"
BATCH = 16  # OUTBOX_ACKS_BATCH_MIN: every so many transactions one deletes the rows of as many
# Function: {number of a parameter: the column of earlier answers that it comes from}.
HANDED_ON = {"place_order": {18: "outbox_row"}, "issue_coupon": {12: "outbox_row", 10: "coupon_number"}}


def _sql(system, text):
    subprocess.run(["psql", "-qAtX", "-h", str(system.place / "pg"), "-U", "postgres", "-d", "postgres", "-c", text],
                   check=True, capture_output=True, timeout=30)


def overhear(system, function, action):
    """The calls of an SQL function during `action`: [(statement, [parameter, …])], a NULL as None."""
    log = system.data / "logs" / "postgres.log"
    start = log.stat().st_size
    _sql(system, "ALTER SYSTEM SET log_min_duration_statement = 0")
    _sql(system, "SELECT pg_reload_conf()")
    time.sleep(0.3)
    try:
        action()
    finally:
        _sql(system, "ALTER SYSTEM RESET log_min_duration_statement")
        _sql(system, "SELECT pg_reload_conf()")
    time.sleep(0.5)
    with open(log, "rb") as text:
        text.seek(start)
        found = re.findall(r"LOG:  duration: [^\n]*? execute [^:\n]*: ((?:[^\n]*\n)(?:\t[^\n]*\n)*)"
                           r"[^\n]*DETAIL:  parameters: ([^\n]*)", text.read().decode())
    calls = []
    for statement, parameters in found:
        if function + "(" in statement:
            values = re.findall(r"\$\d+ = (?:'((?:[^']|'')*)'|(NULL))", parameters)
            calls.append((re.sub(r"--[^\n]*", "", statement).strip(),
                          [None if null else value.replace("''", "'") for value, null in values]))
    return calls


def _expression(one, other):
    """The replacement of a parameter: itself if two calls agree, else random text of the same length."""
    if one is None:
        return "NULL"
    if one == other:
        return "'" + one.replace("'", "''") + "'"
    if one.isdigit():
        return "(:n)::bigint"
    fixed = re.match(r"\\x|[a-z]_|", one)[0]
    digests = " || ".join(f"md5((:n)::text || '{i}')" for i in range(len(one) // 32 + 1))
    return f"('{fixed}' || substr({digests}, 1, {len(one) - len(fixed)}))" + ("::bytea" if fixed == "\\x" else "")


def _handed_on(column, turn):
    """The parameter of the turn-th statement of a script, from the answers that are kept as r0_… to r15_…."""
    if column != "outbox_row":
        return f"(:r{(turn - 1) % BATCH}_{column})::bigint"
    return f"ARRAY[{', '.join(f':r{i}_{column}' for i in range(BATCH))}]::bigint[]" if turn == 0 else "NULL"


def script(calls, path, handed_on):
    """Writes pgbench's script: BATCH calls, each with a new order or coupon, derived from two recorded ones."""
    (statement, first), (_, second) = calls[:2]
    expressions = [_expression(*pair) for pair in zip(first, second, strict=True)]
    lines = []
    for turn in range(BATCH):
        mine = {number: _handed_on(column, turn) for number, column in handed_on.items()}
        text = re.sub(r"\$(\d+)", lambda match: mine.get(int(match[1]), expressions[int(match[1]) - 1]), statement)
        lines += ["\\set n random(1000000000, 2000000000000)", " ".join(text.split()) + f" \\gset r{turn}_"]
    path.write_text("\n".join(lines) + "\n")
    return path


def _busy_s():
    """Processor seconds of the machine so far."""
    user, nice, system_, _, _, irq, softirq = map(int, Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:8])
    return (user + nice + system_ + irq + softirq) * usage.TICK_S


class Busy:
    """`with Busy() as busy`: how many cores were busy meanwhile."""

    def __enter__(self):
        self.at, self.busy_s = time.monotonic(), _busy_s()
        return self

    def __exit__(self, *_):
        self.cores = (_busy_s() - self.busy_s) / (time.monotonic() - self.at)


def pgbench(system, path, connections, seconds, handed_on):
    """Transactions a second, what a transaction took PostgreSQL's processes, and how many cores were busy."""
    columns = [f"r{turn}_{column}=0" for column in handed_on.values() for turn in range(BATCH)]
    before = system.sample()
    with Busy() as busy:
        done = subprocess.run([PGBENCH, "-h", str(system.place / "pg"), "-U", "sluice", "-n", "-M", "prepared",
                               "-c", str(connections), "-j", "1", "-T", str(seconds), "-f", str(path),
                               *(word for column in columns for word in ("-D", column)), "sluice"],
                              capture_output=True, text=True, check=False, timeout=seconds + 60)
    used = system.used(before)
    found = re.search(r"tps = ([0-9.]+)", done.stdout)
    scripts = re.search(r"transactions actually processed: (\d+)", done.stdout)
    failed = re.search(r"number of failed transactions: (\d+)", done.stdout)
    if not found or not scripts or done.returncode != 0 or (failed and failed[1] != "0"):
        raise SystemExit(f"pgbench failed: {done.stderr[-1000:]}")
    transactions = int(scripts[1]) * BATCH
    return {"perSecond": float(found[1]) * BATCH, "transactions": transactions, "used": used, "busyCores": busy.cores,
            "postgresUs": used["cpuS"].get("postgres", 0.0) / max(1, transactions) * 1e6}
