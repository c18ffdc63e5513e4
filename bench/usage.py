"""Resources of a running system's processes: processor time, memory, connections."""

import contextlib
import os
from pathlib import Path

TICK_S = 1 / os.sysconf("SC_CLK_TCK")
PAGE = os.sysconf("SC_PAGE_SIZE")
OWN = {"redis-server": "redis", "redis-check-rdb": "redis", "postgres": "postgres", "nginx": "nginx",
       "sluice-scheduler": "scheduler", "sluice-board": "board", "sluice-reconcile": "reconcile",
       "sluice-hello": "hello", "sluice-blocking": "blocking"}


def _part(entry):
    """The part of the system that a process is; None for others."""
    program = os.readlink(entry / "exe").split("/")[-1].split(" ")[0]
    if program == "sluice-fcgi":
        words = (entry / "cmdline").read_bytes().split(b"\0")
        return words[words.index(b"--pool") + 1].decode() + " pool"
    return OWN.get(program)


def processes(places):
    """{pid: part} of all whose working directory lies in one of `places`."""
    found = {}
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            where = os.readlink(entry / "cwd")
            if any(where == place or where.startswith(place + "/") for place in places):
                part = _part(entry)
                if part:
                    found[int(entry.name)] = part
        except (OSError, ValueError):
            continue
    return found


@contextlib.contextmanager
def alone(part, places):
    """Reserves a core for the processes of a part, as far as we and the rest of the system are concerned: the wall-clock time
    of their calls then excludes other processes. Does nothing with a single core."""
    every, last = set(range(os.cpu_count() or 1)), {(os.cpu_count() or 1) - 1}
    if len(every) < 2:
        yield
        return
    all_of_them = {**processes(places), 0: None}

    def place(cores_of):
        for pid, its in all_of_them.items():
            with contextlib.suppress(OSError):
                os.sched_setaffinity(pid, cores_of(its))
    place(lambda its: last if its == part else every - last)
    try:
        yield
    finally:
        place(lambda its: every)


def _stat(pid):
    """Processor seconds of a process and of its children that have ended, and its memory in bytes."""
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return sum(map(int, fields[11:15])) * TICK_S, int(fields[21]) * PAGE


def sample(places):
    """{part: {"cpuS", "rssMb", "processes"}} now."""
    parts = {}
    for pid, part in processes(places).items():
        try:
            cpu, rss = _stat(pid)
        except OSError:
            continue
        entry = parts.setdefault(part, {"cpuS": 0.0, "rssMb": 0.0, "processes": 0})
        entry["cpuS"] += cpu
        entry["rssMb"] += rss / 1e6
        entry["processes"] += 1
    return parts


def cpu_between(before, after):
    """{part: processor seconds} from one sample to a later one."""
    return {part: max(0.0, entry["cpuS"] - before.get(part, {"cpuS": 0.0})["cpuS"]) for part, entry in after.items()}


def machine():
    model = next((line.split(":", 1)[1].strip() for line in Path("/proc/cpuinfo").read_text().splitlines()
                  if line.startswith("model name")), "unknown")
    memory = int(Path("/proc/meminfo").read_text().split()[1]) // 1024
    return {"cores": os.cpu_count(), "processor": model, "memoryMb": memory, "kernel": os.uname().release,
            "architecture": os.uname().machine, "loadBefore": os.getloadavg()[0]}
