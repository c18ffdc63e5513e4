"""Which statements PostgreSQL carries out while a test looks."""

import contextlib
import re

from lib.wait import until


def log_file(parts):
    return parts.logs / "postgres.log"


def log_size(parts):
    return log_file(parts).stat().st_size


def log_text(parts, since):
    """PostgreSQL's log from that byte on."""
    return log_file(parts).read_bytes()[since:].decode(errors="replace")


def statements(parts, since):
    """How often each prepared statement was carried out, by PostgreSQL's log from that byte on."""
    counts = {}
    for name in re.findall(r"execute (\w+):", log_text(parts, since)):
        counts[name] = counts.get(name, 0) + 1
    for beat in ("session_ping", "session_commits"):
        counts.pop(beat, None)
    return counts


@contextlib.contextmanager
def statement_log(parts):
    """PostgreSQL logs every statement; yields a function that tells which were carried out since it was called last."""
    parts.postgres.superuser("ALTER SYSTEM SET log_min_duration_statement = 0")
    parts.postgres.superuser("SELECT pg_reload_conf()")
    # Whoever tells a new connection so has told all others before.
    until(lambda: parts.postgres.superuser("SHOW log_min_duration_statement") == [("0",)], 10, "PostgreSQL's log")
    at = [log_size(parts)]

    def since():
        counts = statements(parts, at[0])
        at[0] = log_size(parts)
        return counts
    try:
        yield since
    finally:
        parts.postgres.superuser("ALTER SYSTEM RESET log_min_duration_statement")
        parts.postgres.superuser("SELECT pg_reload_conf()")
