"""pgbench with the statement that the order pool sends, overheard in PostgreSQL's log."""

import re
import subprocess
import time

PGBENCH = "/usr/lib/postgresql/15/bin/pgbench"


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
    """What stands for a parameter: itself where two calls agree, else something as long and as random."""
    if one is None:
        return "NULL"
    if one == other:
        return "'" + one.replace("'", "''") + "'"
    if one.isdigit():
        return "(:n)::bigint"
    fixed = re.match(r"\\x|[a-z]_|", one)[0]
    digests = " || ".join(f"md5((:n)::text || '{i}')" for i in range(len(one) // 32 + 1))
    return f"('{fixed}' || substr({digests}, 1, {len(one) - len(fixed)}))" + ("::bytea" if fixed == "\\x" else "")


def script(calls, path):
    """Writes pgbench's script: the call with a new order or coupon each time, made from two that were overheard."""
    (statement, first), (_, second) = calls[:2]
    expressions = [_expression(*pair) for pair in zip(first, second, strict=True)]
    text = re.sub(r"\$(\d+)", lambda match: expressions[int(match[1]) - 1], statement)
    path.write_text("\\set n random(1000000000, 2000000000000)\n" + " ".join(text.split()) + ";\n")
    return path


def pgbench(system, path, connections, seconds):
    """Transactions a second."""
    done = subprocess.run([PGBENCH, "-h", str(system.place / "pg"), "-U", "sluice", "-n", "-M", "prepared",
                           "-c", str(connections), "-j", "1", "-T", str(seconds), "-f", str(path), "sluice"],
                          capture_output=True, text=True, check=False, timeout=seconds + 60)
    found = re.search(r"tps = ([0-9.]+)", done.stdout)
    failed = re.search(r"number of failed transactions: (\d+)", done.stdout)
    if not found or done.returncode != 0 or (failed and failed[1] != "0"):
        raise SystemExit(f"pgbench failed: {done.stderr[-1000:]}")
    return float(found[1])
