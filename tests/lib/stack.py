"""The whole system as a user gets it: scripts/run."""

import os
import signal
import uuid

from lib import logs
from lib.api import Api
from lib.ports import free_port
from lib.processes import Process, assert_none_left, ours
from lib.project import SCRIPTS
from lib.wait import until


class Stack:
    """Runs scripts/run on `data`; may be stopped and started again."""

    def __init__(self, directory, data=None, environment=None):
        self.directory = directory
        self.data = data or directory / "data"
        self.port = free_port()
        self.log = directory / f"run-{self.port}.log"
        self.mark = uuid.uuid4().hex
        self.environment = {"SLUICE_TEST_STACK": self.mark, **(environment or {})}
        self.places = [self.data]  # folders in which its parts work
        self.process = None
        self.api = None

    def start(self, *options, seconds=120):
        self.process = Process("run", [SCRIPTS / "run", "--port", str(self.port), "--data", self.data, *options],
                               self.log, env=self.environment, cwd=self.directory)
        ready = f"ready: http://127.0.0.1:{self.port}"

        def is_ready():
            if not self.process.alive():
                raise SystemError("scripts/run ended: " + self.process.text()[-2000:])
            return ready in self.process.text()
        try:
            until(is_ready, seconds, "ready line of scripts/run", every=0.1)
        except BaseException:
            self.process.kill()
            raise
        self.places.append((self.data / "run.place").read_text().strip())
        self.api = Api(self.port, self.data / "secrets")
        return self

    def stop(self, number=signal.SIGTERM, allowed=()):
        """Ends it as a user would; asserts that nothing stays and nothing was wrong."""
        code = self.process.stop(number, 60)
        assert code == 0, f"scripts/run ended with {code}: {self.process.text()[-2000:]}"
        killed = [line for line in self.process.text().splitlines() if line.endswith("is killed")]
        assert not killed, killed  # nothing but an end by itself shows that a program ends when it is told to
        assert_none_left("SLUICE_TEST_STACK", self.mark, self.places)
        for place in self.places[1:]:
            assert not os.path.exists(place) and not os.path.exists(self.memory_of(place)), place
        logs.assert_clean(self.data / "logs", allowed, [self.api.admin_key])

    @staticmethod
    def memory_of(place):
        """The folder in memory that goes with a folder of a run."""
        return f"/dev/shm/{os.path.basename(place)}"

    def abandon(self):
        """After a failed test: ends it at once."""
        if self.process and self.process.alive():
            try:
                self.process.stop(signal.SIGTERM, 30)
            except AssertionError:
                os.killpg(self.process.pid, signal.SIGKILL)

    def part_pids(self, word):
        """Pids of the parts whose command line has `word`."""
        return [pid for pid, line in ours("SLUICE_TEST_STACK", self.mark, self.places[1:])
                if word in line and "multiwatch" not in line and "spawn-fcgi" not in line]

    @property
    def redis_socket(self):
        return f"{self.places[-1]}/redis.sock"
