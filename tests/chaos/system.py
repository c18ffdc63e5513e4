"""The whole system with a way that can break between each program and each server, and a disk that can be full."""

import glob
import json
import os
import shutil
import signal
import stat
import subprocess
import time
from collections import deque

from chaos.links import Links
from lib import processes
from lib.paying import PayingParts
from lib.ports import free_port
from lib.processes import children_of, is_stopped
from lib.project import plain_build
from lib.wait import until

DISK_MIB = 320
# An order lives as long as a payment's session and its grace, all of it short: a run waits for the end of every one.
SETTINGS = {"order_ttl_seconds": 6, "payment_session_seconds": 5, "payment_grace_seconds": 5, "payment_person_after": 1000}
REDIS_USERS = ("queue", "order", "payment", "scheduler1", "scheduler2", "reconcile")
POSTGRES_USERS = ("order", "payment", "reconcile")
SKEWS = ("+60s", "-60s", "+7s", "-3600s")


class ChaosParts(PayingParts):
    """`skewed`: queue and order workers and schedulers have clocks that are wrong, each in its own way; that needs programs
    without sanitizers, which have no test hooks then."""

    def __init__(self, directory, provider="kakaopay", skewed=False, plain=False, **settings):
        super().__init__(directory, provider, **{**SETTINGS, **settings})
        self.queue_workers, self.order_workers, self.payment_workers, self.catalog_workers = 2, 3, 2, 1
        self.has_hooks = not skewed and not plain
        if skewed or plain:
            self.build = plain_build()
        if skewed:
            self.wrapper = [self._skew()]
        self.folder = directory / "w"
        self.psp_port = free_port()
        self.has_disk = False
        self.reconcilers = []
        self.scheduler_number = 0
        self.log_lengths = deque(maxlen=200)
        self.links = Links(directory, self._ways())

    # Where everything is

    def _way(self, program, server):
        return self.folder / (f"{program}.redis" if server == "redis" else f"{program}.pg/.s.PGSQL.5432")

    def _ways(self):
        ways = {f"{user}.redis": (str(self._way(user, "redis")), self.redis_server.socket) for user in REDIS_USERS}
        for user in POSTGRES_USERS:
            ways[f"{user}.postgres"] = (str(self._way(user, "postgres")), str(self.postgres.sockets / ".s.PGSQL.5432"))
        ways["all.provider"] = (self.psp_port, self.simulator.port)
        return ways

    def _write_config(self):
        self.settings["payment_base_url"] = f"http://127.0.0.1:{self.psp_port}"
        super()._write_config()
        base = self.config.read_text()
        for user in REDIS_USERS:
            text = base + f"redis_socket = {self._way(user, 'redis')}\n"
            if user in POSTGRES_USERS:
                text += f"postgres_conninfo = host={self._way(user, 'postgres').parent} dbname=sluice user=sluice\n"
            rows = dict(line.split(" = ", 1) for line in text.splitlines())
            self._write_rows(self.directory / f"{user}.conf", rows)

    def _config_of(self, pool):
        return self.directory / f"{pool}.conf" if pool in REDIS_USERS else self.config

    def _skew(self):
        library = glob.glob("/usr/lib/*/faketime/libfaketime.so.1")
        assert library, "the Debian package faketime is missing"
        wrapper = self.directory / "skew"
        wrapper.write_text(f"""#!/bin/bash
# Each process started gets the next clock.
until mkdir {self.directory}/skew.$((n % 1000)) 2>/dev/null; do n=$((n + 1)); done
clocks=({' '.join(SKEWS)})
export LD_PRELOAD={library[0]} FAKETIME=${{clocks[n % 4]}} FAKETIME_DONT_FAKE_MONOTONIC=1
exec "$@"
""")
        wrapper.chmod(wrapper.stat().st_mode | stat.S_IXUSR)
        return wrapper

    # Beginning and end

    def start(self, schedulers=2):
        self.folder.mkdir()
        for user in POSTGRES_USERS:
            self._way(user, "postgres").parent.mkdir()
        self._make_disk()
        self.links.start()
        super().start(schedulers=schedulers)
        self.add_reconciler()
        return self

    def _make_disk(self):
        """A small one of its own for PostgreSQL, where that may be made."""
        disk = self.directory / "disk"
        disk.mkdir()
        done = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={DISK_MIB}m,mode=711", "none", disk], capture_output=True,
                              check=False)
        self.has_disk = done.returncode == 0
        if self.has_disk:
            self.postgres.data = disk / "postgres"

    def add_scheduler(self):
        self.scheduler_number = self.scheduler_number % 2 + 1
        process = self._spawn("scheduler", [*self.wrapper, self.build / "sluice-scheduler", "--config",
                                            self._config_of(f"scheduler{self.scheduler_number}")])
        self.schedulers.append(process)
        return process

    def add_reconciler(self):
        process = self._spawn("reconcile", [self.build / "sluice-reconcile", "--every", "1", "--config",
                                            self._config_of("reconcile")])
        self.reconcilers.append(process)
        return process

    def knows_redis_whole(self):
        """It may have lost its end: reconcile is there, and looks."""
        return False

    def set_reconcilers(self, count):
        while len(self.reconcilers) > count:
            self.reconcilers.pop().stop(seconds=30)
        while len(self.reconcilers) < count:
            self.add_reconciler()

    def whole(self, schedulers=2):
        """Everything runs again and nothing is stopped or broken; nothing is begun anew that lives."""
        self.links.set("*", "through")
        self.disarm()
        self.free_disk()
        if not self.redis_server.process.alive():
            self.start_redis()
        if is_stopped(self.redis_server.process.pid):
            processes.cont(self.redis_server.process.pid)
        until(lambda: self.redis.config_set("maxmemory", 0), 15, "Redis")
        if not self.postgres.process.alive():
            self.postgres.start()
        for pid in [self.postgres.process.pid, *self.postgres.pids()]:
            self.go_on(pid)
        if not self.simulator.process.alive():
            self.simulator.start()
        for process in [*self.schedulers, *self.reconcilers, self.simulator.process, self.nginx]:
            self.go_on(process.pid)
        for name in self.pools:
            for pid in self.workers(name):
                self.go_on(pid)
        if not self.nginx.alive():
            self.start_nginx_again()
        self.schedulers = [process for process in self.schedulers if process.alive()]
        self.reconcilers = [process for process in self.reconcilers if process.alive()]
        while len(self.schedulers) < schedulers:
            self.add_scheduler()
        if not self.reconcilers:
            self.add_reconciler()

    @staticmethod
    def go_on(pid):
        try:
            if is_stopped(pid):
                processes.cont(pid)
        except ProcessLookupError:
            pass

    def start_nginx_again(self):
        self.nginx = self._spawn("nginx", [
            "nginx", "-p", self.directory / "nginx", "-e", "stderr", "-c",
            self.directory / "nginx" / "sluice.conf", "-g", "daemon off;"])

    def leader(self, queue):
        """The scheduler that leads, by what it has logged; any living one where none has."""
        found = None
        for line in (self.logs / "scheduler.log").read_text(errors="replace").splitlines():
            if '"event":"scheduler.leading"' in line and f'"queue":"{queue}"' in line:
                found = json.loads(line)["pid"]
        alive = [process for process in self.schedulers if process.alive()]
        return next((process for process in alive if process.pid == found), alive[0] if alive else None)

    # The disk

    def fill_disk(self):
        path = self.directory / "disk" / "ballast"
        with open(path, "wb", buffering=0) as ballast:
            try:
                while True:
                    ballast.write(b"\0" * 1048576)
            except OSError:
                pass

    def free_disk(self):
        (self.directory / "disk" / "ballast").unlink(missing_ok=True)

    # What Redis has written down

    def note_log_of_redis(self):
        """How long its log is now, for a power cut to go back to."""
        try:
            path = max((self.directory / "appendonlydir").glob("*.incr.aof"), key=lambda path: path.stat().st_mtime)
            self.log_lengths.append((time.monotonic(), path, path.stat().st_size))
        except (ValueError, OSError):
            pass

    def cut_log_of_redis(self, seconds):
        """As if what was written in the last seconds had not come to the disk. False where it is not known how much that is."""
        past = [(path, size) for at, path, size in self.log_lengths if at <= time.monotonic() - seconds]
        if not past or not past[-1][0].exists():
            return False
        path, size = past[-1]
        os.truncate(path, min(size, path.stat().st_size))
        return True

    def forget_redis_files(self):
        shutil.rmtree(self.directory / "appendonlydir", ignore_errors=True)

    def abandon(self):
        """Ends everything at once, whatever state it is in; returns what of it had to be killed in vain."""
        self.links.set("*", "through")
        parts = [self.nginx, *self.schedulers, *self.reconcilers, *self.pools.values(), self.simulator.process,
                 self.redis_server.process, self.links.process]
        for part in parts:
            if part is not None:
                for pid in [*children_of(part.pid), part.pid]:
                    try:
                        os.kill(pid, signal.SIGKILL)
                    except ProcessLookupError:
                        pass
                part.kill()
        if self.redis:
            self.redis.close()
        self.postgres.kill()
        if self.has_disk:
            subprocess.run(["umount", "-l", self.directory / "disk"], check=False, capture_output=True)
        left = processes.ours("SLUICE_TEST_PARTS", self.mark, [self.directory])
        for pid, _ in left:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
