"""Processes that a test starts: always with a log, always ended, never forgotten."""

import os
import signal
import subprocess
import time
import uuid
from pathlib import Path

from lib.wait import PATIENCE, until

RUN_MARK = "SLUICE_TEST_RUN"
RUN_ID = os.environ.setdefault(RUN_MARK, uuid.uuid4().hex)


class Process:
    """One child in a session of its own that dies with us."""

    def __init__(self, name, command, log, env=None, user=None, stdin=subprocess.DEVNULL,
                 pass_fds=(), cwd=None):
        self.name = name
        self.log = Path(log)
        wrapper = ["setpriv", "--pdeathsig", "KILL"]
        if user:
            wrapper += [f"--reuid={user}", f"--regid={user}", "--init-groups"]
        environment = {**os.environ, RUN_MARK: RUN_ID, **(env or {})}
        self.started = time.monotonic()
        with open(self.log, "ab") as output:
            self.child = subprocess.Popen([*wrapper, "--", *map(str, command)], stdin=stdin,
                                          stdout=output, stderr=output, env=environment,
                                          start_new_session=True, pass_fds=pass_fds, cwd=cwd)

    @property
    def pid(self):
        return self.child.pid

    def alive(self):
        return self.child.poll() is None

    def send(self, number):
        if self.alive():
            self.child.send_signal(number)

    def wait(self, seconds):
        return self.child.wait(timeout=seconds * PATIENCE)

    def stop(self, number=signal.SIGTERM, seconds=10):
        """Asks it to end; returns its exit code. Kills it, and says so, when it does not end in time."""
        seconds *= PATIENCE
        # Not the other way round: a SIGCONT takes back the stop by which LeakSanitizer looks at a process that ends, and both
        # would wait for ever.
        self.send(signal.SIGCONT)
        self.send(number)
        try:
            return self.child.wait(timeout=seconds)
        except subprocess.TimeoutExpired:
            seen = self.condition()
            self.kill()
            raise AssertionError(f"{self.name} did not end within {seconds} s after {number!r}: {seen}") from None

    def condition(self):
        """What it is doing, for a message: its state, the signals that it has not taken, and its last words."""
        try:
            status = Path(f"/proc/{self.pid}/status").read_text()
            waits = Path(f"/proc/{self.pid}/wchan").read_text()
        except OSError:
            return "it is gone"
        lines = [line for line in status.splitlines() if line.startswith(("State", "ShdPnd", "SigPnd", "Threads"))]
        return [*lines, waits, *self.log.read_text(errors="replace").splitlines()[-3:]]

    def kill(self):
        """Ends it and what it started, at once."""
        try:
            os.killpg(self.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.child.wait(timeout=10)

    def text(self):
        return self.log.read_text(errors="replace") if self.log.exists() else ""


def stat_of(pid):
    """State letter and parent's pid of a process, or None."""
    try:
        with open(f"/proc/{pid}/stat", "rb", buffering=0) as file:
            fields = file.read(4096).rpartition(b")")[2].split(None, 2)
    except OSError:
        return None
    return fields[0].decode(), int(fields[1])


def children_of(*parents):
    """Pids of the living direct children of these processes, found in one look at all."""
    stats = ((int(entry), stat_of(entry)) for entry in os.listdir("/proc") if entry.isdigit())
    return sorted(pid for pid, stat in stats if stat and stat[1] in parents and stat[0] != "Z")


def is_stopped(pid):
    stat = stat_of(pid)
    return stat is not None and stat[0] == "T"


def is_gone(pid):
    stat = stat_of(pid)
    return stat is None or stat[0] == "Z"


def kill9(pid):
    os.kill(pid, signal.SIGKILL)
    until(lambda: is_gone(pid), 10, f"end of {pid}")


def stop(pid):
    os.kill(pid, signal.SIGSTOP)
    until(lambda: is_stopped(pid), 5, f"stop of {pid}")


def cont(pid):
    os.kill(pid, signal.SIGCONT)


def ours(name, value, places=()):
    """Pids and command lines of all processes that carry `name=value` in their environment, work in one of the
    folders, or name one in their command line: Redis, nginx and PostgreSQL write over their environment."""
    wanted = f"{name}={value}".encode()
    places = [str(place) for place in places]
    found = []
    for entry in os.listdir("/proc"):
        if not entry.isdigit() or int(entry) == os.getpid() or is_gone(int(entry)):
            continue
        try:
            line = Path(f"/proc/{entry}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace").strip()
        except OSError:
            continue
        inside, marked = line, False
        try:
            inside = os.readlink(f"/proc/{entry}/cwd") + " " + line
            marked = wanted in Path(f"/proc/{entry}/environ").read_bytes().split(b"\0")
        except OSError:
            pass  # of programs that confine themselves, others see no more than the command line
        if marked or any(place in inside for place in places):
            found.append((int(entry), line))
    return found


def assert_none_left(name, value, places=(), seconds=5):
    """Fails when such a process is still there; ends it, so that nothing stays behind."""
    try:
        until(lambda: not ours(name, value, places), seconds)
    except AssertionError:
        left = ours(name, value, places)
        for pid, _ in left:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        raise AssertionError(f"still running after the end: {left}") from None
