"""A separate Sluice for a benchmark, started by scripts/run in a new folder on a free port."""

import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import urllib.error
import urllib.request
from pathlib import Path

import redis

from bench import usage

ROOT = Path(__file__).resolve().parents[1]
BUILD = ROOT / "build"


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def pinned(cores, command):
    """The command on these cores, e.g. "0"; on all if there is no such core to reserve."""
    if cores is None or (os.cpu_count() or 1) < 2:
        return [str(word) for word in command]
    return ["taskset", "-c", cores, *map(str, command)]


class System:
    """`with System(cores="0") as system`: running, and removed afterwards with its folder."""

    def __init__(self, cores=None, **environment):
        self.cores, self.environment = cores, environment
        self.work = Path(tempfile.mkdtemp(prefix="sluice-bench."))
        self.work.chmod(0o711)
        self.data = self.work / "data"
        self.port = free_port()
        self.process = None

    def __enter__(self):
        try:
            return self.start()
        except BaseException:
            self.__exit__()
            raise

    def start(self):
        """Also after stop(), on the same folder."""
        began = time.monotonic()
        command = pinned(self.cores, [ROOT / "scripts" / "run", "--port", self.port, "--data", self.data])
        out = self.work / "run.out"
        with open(out, "wb") as output, open(self.work / "run.err", "wb") as errors:
            self.process = subprocess.Popen(
                command, stdout=output, stderr=errors, stdin=subprocess.DEVNULL,
                env={**os.environ, "SLUICE_BUILD": str(BUILD), **self.environment})
        while b"ready: " not in out.read_bytes():
            if self.process.poll() is not None or time.monotonic() - began > 300:
                raise SystemExit("the system did not start: " + (self.work / "run.err").read_text()[-2000:])
            time.sleep(0.02)
        self.start_s = time.monotonic() - began
        self.place = Path((self.data / "run.place").read_text().strip())
        self.redis = redis.Redis(unix_socket_path=str(self.place / "redis.sock"), socket_timeout=120)
        self.admin_key = (self.data / "secrets" / "admin.key").read_text().strip()
        return self

    def stop(self):
        if self.process and self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(120)

    def __exit__(self, *_):
        self.stop()
        shutil.rmtree(self.work, ignore_errors=True)

    # Requests

    def call(self, method, path, body=None, headers=None, timeout=130):
        """Status, headers and the JSON of one request."""
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}{path}", data, method=method, headers={
            **({"Content-Type": "application/json"} if body is not None else {}), **(headers or {})})
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        try:
            with opener.open(request, timeout=timeout) as answer:
                status, fields, text = answer.status, answer.headers, answer.read()
        except urllib.error.HTTPError as refused:
            status, fields, text = refused.code, refused.headers, refused.read()
        return status, fields, json.loads(text) if text[:1] in (b"{", b"[") else None

    def admin(self, method, path, body=None):
        status, _, answer = self.call(method, "/v1/admin" + path, body, {"Authorization": f"Bearer {self.admin_key}"})
        if status >= 300:
            raise SystemExit(f"{method} {path} was answered {status}: {answer}")
        return answer

    def queue(self, name, **settings):
        """Creates a queue, and waits until every worker can know it."""
        self.admin("PUT", f"/queues/{name}", settings)
        time.sleep(1.2)
        return name

    def stats(self, queue):
        return self.admin("GET", f"/queues/{queue}/stats")

    # Resources

    @property
    def places(self):
        """The working folders of its processes."""
        return [str(self.place), str(self.data), str(self.work)]

    def sample(self):
        info = self.redis.info()
        scripts = [call for name, call in self.redis.info("commandstats").items() if name.startswith("cmdstat_eval")]
        return {"scripts": sum(call["calls"] for call in scripts), "scriptUs": sum(call["usec"] for call in scripts),
                "at": time.monotonic(), "parts": usage.sample(self.places),
                "commands": info["total_commands_processed"], "redisMemory": info["used_memory"],
                "redisClients": info["connected_clients"]}

    def used(self, before):
        """From an earlier sample until now: processor shares by part, Redis commands a second, memory, connections."""
        now = self.sample()
        seconds = now["at"] - before["at"]
        cpu = usage.cpu_between(before["parts"], now["parts"])
        return {"seconds": round(seconds, 2),
                "cpu": {part: round(value / seconds, 3) for part, value in sorted(cpu.items()) if value > 0},
                "cpuS": {part: round(value, 3) for part, value in sorted(cpu.items()) if value > 0},
                "rssMb": {part: round(entry["rssMb"], 1) for part, entry in sorted(now["parts"].items())},
                "scripts": now["scripts"] - before["scripts"], "scriptUs": now["scriptUs"] - before["scriptUs"],
                "redisCommandsPerSecond": round((now["commands"] - before["commands"]) / seconds),
                "redisMemoryMb": round(now["redisMemory"] / 1e6, 1), "redisConnections": now["redisClients"]}
