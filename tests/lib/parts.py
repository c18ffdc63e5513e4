"""Every part of the system by itself, so that a test can stop, kill and pause each of them."""

import os
import secrets
import shutil
import signal
import subprocess
import time
import uuid

from lib import fastcgi, logs, processes
from lib.api import Api
from lib.ports import free_port
from lib.postgres_server import PostgresServer
from lib.processes import Process, assert_none_left, children_of, is_stopped
from lib.project import ROOT, SCRIPTS, build_directory
from lib.redis_server import RedisServer
from lib.tokens import encode
from lib.wait import until

PAUSE_STEPS = ("order.before_claim", "order.claimed", "order.before_transaction", "order.committed",
               "order.consumed", "scheduler.before_promote", "scheduler.between_calls", "scheduler.promoted",
               "catalog.computing", "catalog.computed", "payment.starting", "payment.started", "payment.approving", "payment.approved",
               "payment.canceling", "payment.canceled", "payment.looked", "queue.locking", "queue.locked",
               "reconcile.page_loaded", "operator.stored")
# Short times, so that tests need not be long; a statement's is what a busy machine needs for a large one.
SETTINGS = {"leader_lock_ms": 1000, "order_pool_silence_ms": 1500, "statement_timeout_ms": 1000,
            "lock_timeout_ms": 250, "redis_timeout_ms": 1000}
SHORTEST_LEASE_S = 3  # three times a statement's time


def conninfo_of_programs(postgres):
    """Each program in a role of its own, as on servers."""
    return postgres.conninfo.replace("user=sluice", "user=sluice-{program}")


class Parts:
    """Starts Redis, PostgreSQL, the pools, nginx; schedulers and reconcile as a test asks for them.

    Everything carries a mark of its own, so that nothing can stay behind unseen.
    """

    def __init__(self, directory, queue_workers=2, order_workers=4, catalog_workers=2, payment_workers=1,
                 environment=None, build=None, wrapper=(), redis_server=None, **settings):
        self.directory = directory
        self.build = build or build_directory("--sanitizers", "--test-hooks")
        self.queue_workers, self.order_workers = queue_workers, order_workers
        self.catalog_workers, self.payment_workers = catalog_workers, payment_workers
        self.wrapper = list(wrapper)
        self.settings = {**SETTINGS, **settings}
        self.mark = uuid.uuid4().hex
        self.logs = directory / "data" / "logs"
        self.secrets = directory / "data" / "secrets"
        self.pauses = directory / "pauses"
        self.memory = directory / "memory"
        self.hosts = {}  # name → its pool
        self.environment = {"SLUICE_TEST_PAUSE_DIR": str(self.pauses), "SLUICE_TEST_PARTS": self.mark,
                            "UBSAN_OPTIONS": "print_stacktrace=1", **(environment or {})}
        self.redis_server = redis_server or RedisServer(directory, append_only=True)
        self.postgres = PostgresServer(directory, self.logs / "postgres.log")
        self.pools = {}
        self.schedulers = []
        self.reconciler = None
        self.nginx = None
        self.port = free_port()
        self.allowed_errors = set()
        self.temporary = None  # settings for a fixture: its name, the pool, the settings, and all those of before
        self.in_order = False
        self.redis = None
        self.api = None

    # Starting

    def start(self, schedulers=1):
        os.chmod(self.directory, 0o711)
        for folder in (self.logs, self.secrets, self.pauses, self.directory / "fcgi"):
            folder.mkdir(parents=True)
        self._write_secrets()
        self.memory.mkdir()
        self.config = self.directory / "sluice.conf"
        self.start_redis()
        self._write_config()
        self.postgres.create().start()
        if os.geteuid() == 0:
            shutil.chown(self.directory / "fcgi", group="www-data")
            os.chmod(self.directory / "fcgi", 0o710)
        self.start_pool("queue", self.queue_workers)
        self.start_pool("order", self.order_workers)
        self.start_pool("payment", self.payment_workers)
        self.start_pool("operator", 1)
        self.start_pool("catalog", self.catalog_workers)
        self._start_nginx()
        self.api = Api(self.port, self.secrets)
        self._wait_pool(*self.pools)
        for _ in range(schedulers):
            self.add_scheduler()
        return self

    def _write_secrets(self):
        programs = ("queue", "order", "payment", "operator", "catalog", "scheduler", "board", "reconcile", "doctor")
        for name in ("redis.key", *(f"redis-{program}.key" for program in programs)):
            (self.secrets / name).write_text(encode(secrets.token_bytes(32)) + "\n")
        for name in ("admin.key", "viewer.key", "member-jwt.key"):
            (self.secrets / name).write_text(encode(secrets.token_bytes(32)) + "\n")
        for name in ("queue-ticket.keys", "visitor.keys", "altcha.keys"):
            (self.secrets / name).write_text(f"k1:{encode(secrets.token_bytes(32))}\n")
        for path in self.secrets.iterdir():
            path.chmod(0o600)

    def _write_config(self):
        place = self.secrets
        rows = {
            **self._redis_users(), **self.redis_server.settings(), "postgres_conninfo": conninfo_of_programs(self.postgres),
            "queue_ticket_keys_file": place / "queue-ticket.keys", "visitor_keys_file": place / "visitor.keys",
            "altcha_keys_file": place / "altcha.keys",
            "member_jwt_algorithm": "HS256", "member_jwt_key_file": place / "member-jwt.key",
            "admin_key_file": place / "admin.key", "viewer_key_file": place / "viewer.key",
            "waiting_room_directory": ROOT / "web" / "waiting-room",
            "catalog_l1_directory": self.memory / "catalog", "metrics_file": self.memory / "metrics", **self.settings}
        if rows["member_jwt_algorithm"] != "HS256":
            del rows["member_jwt_key_file"]
        self._write_rows(self.config, rows)
        for host in self.hosts:
            self._write_rows(self._config_of(host), {
                **rows, "catalog_l1_directory": self.memory / host, "metrics_file": self.memory / f"{host}-metrics",
                "snapshot_file": self.memory / f"{host}-snapshot"})

    def _redis_users(self):
        if not isinstance(self.redis_server, RedisServer):  # others have users of their own, or none
            return {}
        return {"redis_user": "sluice-{program}", "redis_password_file": self.secrets / "redis-{program}.key"}

    @staticmethod
    def _write_rows(path, rows):
        path.write_text("".join(f"{name} = {value}\n" for name, value in rows.items()))

    def _config_of(self, pool):
        return self.directory / f"{pool}.conf" if pool in self.hosts else self.config

    def _spawn(self, name, command):
        return Process(name, command, self.logs / f"{name}.log", env=self.environment, cwd=self.directory)

    def start_redis(self):
        """Each program is a user of its own, as on servers; we are the one who may everything."""
        acl = self.directory / "redis.acl"
        if isinstance(self.redis_server, RedisServer) and not acl.exists():
            users = subprocess.run([SCRIPTS / "redis-acl", self.secrets], check=True, capture_output=True, text=True).stdout
            acl.write_text("\n".join(["user default on nopass ~* &* +@all", *users.splitlines()[1:]]) + "\n")
            self.redis_server.options += ["--aclfile", str(acl)]
        self.redis_server.start()
        if self.redis is None:
            self.redis = self.redis_server.client()
        elif self.knows_redis_whole():
            self.redis.delete("sluice:tenures")

    def knows_redis_whole(self):
        """Nobody would look whether it has lost something: we know that it has not."""
        return self.reconciler is None

    def socket(self, pool):
        return self.directory / "fcgi" / f"{pool}.sock"

    def add_host(self, name, pool="catalog"):
        """A pool of another "host": with a memory (L1) and counters of its own."""
        if name not in self.hosts:
            self.hosts[name] = pool
            self._write_config()
            self.start_pool(name, self.catalog_workers)
            self._wait_pool(name)
        return self.socket(name)

    def _count_of(self, pool):
        return {"queue": self.queue_workers, "order": self.order_workers, "payment": self.payment_workers,
                "operator": 1}.get(pool, self.catalog_workers)

    def start_pool(self, name, workers):
        """A socket with that many processes behind it; the dead ones are replaced."""
        socket = self.socket(name)
        socket.unlink(missing_ok=True)
        owner = ["-G", "www-data"] if os.geteuid() == 0 else []
        self.pools[name] = self._spawn(f"{name}-pool", [
            "spawn-fcgi", "-s", socket, "-b", "4096", "-M", "0660", *owner, "-n", "--",
            shutil.which("multiwatch"), "-f", workers, "-r", "1000", "-t", "1000", "-s", "TERM", "--",
            *self.wrapper, self.build / "sluice-fcgi", "--pool", self.hosts.get(name, name),
            "--config", self._config_of(name)])

    def reconfigure(self, *pools, **settings):
        """Changes settings and starts these pools anew with them."""
        self.in_order = False
        self.settings.update(settings)
        if self.temporary:
            self.temporary[3].update(settings)
        self._write_config()
        for name in pools:
            self.pools[name].stop(seconds=20)
            self.start_pool(name, self._count_of(name))
        self._wait_pool(*pools)

    def use_settings(self, fixture, pool, **settings):
        """Other settings of a pool, as long as tests ask for that fixture one after another: a pool's start takes seconds."""
        if self.temporary and self.temporary[:3] == (fixture, pool, settings):
            return
        before = self.temporary[3] if self.temporary and self.temporary[1] == pool else None
        if before is None:
            self.restore_settings()
        self.temporary = fixture, pool, settings, dict(before or self.settings)
        self.settings = {**self.temporary[3], **settings}
        self.reconfigure(pool)

    def restore_settings(self, but_from=()):
        if self.temporary and self.temporary[0] not in but_from:
            _, pool, _, self.settings = self.temporary
            self.temporary = None
            self.reconfigure(pool)

    def _wait_pool(self, *names):
        """Until every worker of these pools answers well: each connects by itself."""
        for name in names:
            if name == "catalog" or name in self.hosts:
                calls = [(self.socket(name), "/readyz")] * 12
                until(lambda: {answer.status for answer in fastcgi.together(calls)} == {200}, 20, f"pool {name}", every=0.05)  # pylint: disable=cell-var-from-loop
        asked = [call for name in names if name != "catalog" and name not in self.hosts for call in self._calls_of_all(name)]
        until(lambda: all(answer.status == status for answer, (_, status) in zip(
            self.api.together([call for call, _ in asked]), asked)), 20, f"pools {names}", every=0.05)

    def _calls_of_all(self, name):
        """So many calls at once that each worker gets one, and the status of a good answer."""
        method, path, status = {
            "queue": ("GET", "/livez", 200), "order": ("GET", "/readyz", 200),
            "operator": ("GET", "/v1/admin/queues", 200),
            "payment": ("POST", "/v1/orders/o_AAAAAAAAAAAAAAAAAAAAAA/cancel", 404)}[name]
        headers = self.api.member("nobody").headers() if name == "payment" else self.api.operator_headers()
        workers = self._count_of(name)
        count = 1 if workers == 1 else 12 if name == "queue" else min(12, 3 * workers)
        return [((method, path, headers, None), status)] * count

    def _start_nginx(self):
        """Its configuration is made by the project's own script."""
        (self.directory / "nginx").mkdir()
        script = """
            set -euo pipefail
            root=$1 run_dir=$2 data_dir=$2/data port=$3 pool_backlog=1024
            ulimit -S -n "$(ulimit -H -n)"
            for name in common templates problem_pages nginx; do source "$root/scripts/lib/$name.sh"; done
            project_root=$root
            fail_part() { shift; die "nginx $*"; }
            write_nginx_config
            """
        done = subprocess.run(["bash", "-c", script, "parts", ROOT, self.directory, str(self.port)],
                              capture_output=True, text=True, timeout=180)
        assert done.returncode == 0, done.stderr + (self.logs / "nginx.log").read_text()
        self.nginx = self._spawn("nginx", [
            "nginx", "-p", self.directory / "nginx", "-e", "stderr", "-c",
            self.directory / "nginx" / "sluice.conf", "-g", "daemon off;"])

    def add_scheduler(self):
        process = self._spawn("scheduler", [*self.wrapper, self.build / "sluice-scheduler", "--config", self.config])
        self.schedulers.append(process)
        return process

    def restart_schedulers(self, count=1):
        """Exactly that many fresh ones."""
        for process in self.schedulers:
            process.stop()
        self.schedulers = []
        return [self.add_scheduler() for _ in range(count)]

    def start_reconcile(self, every=1):
        self.reconciler = self._spawn("reconcile", [self.build / "sluice-reconcile", "--every", str(every),
                                                    "--config", self.config])

    def stop_reconcile(self):
        if self.reconciler:
            # It finishes its pass, which may have to wait for a payment provider.
            self.reconciler.stop(seconds=30)
            self.reconciler = None

    def reconcile(self, expect=0):
        """One pass; returns what it printed."""
        done = subprocess.run([self.build / "sluice-reconcile", "--once", "--config", self.config],
                              env={**os.environ, **self.environment}, capture_output=True, text=True, timeout=180)
        with open(self.logs / "reconcile.log", "a") as log:
            log.write(done.stderr)
        assert expect is None or done.returncode == expect, (done.returncode, done.stdout, done.stderr)
        return done.stdout

    def reconcile_until(self, check, seconds=15, what=None):
        """Pass after pass, until `check` holds: some work is left to a later pass on purpose."""
        def settled():
            self.reconcile(expect=None)
            return check()
        return until(settled, seconds, what or "reconcile is done", every=0.2)

    def outbox_empty(self, queue):
        return self.postgres.value("SELECT count(*) FROM outbox WHERE queue = %s", queue) == 0

    def wait_tick(self, queue):
        """A tick of the queue that begins from now on has ended."""
        def begun():
            return self.redis.hget(f"sluice:{{{queue}}}:state", "tickAt")
        before = begun()
        until(lambda: begun() != before, 10, f"a tick of {queue}")

    def leading_pid(self, queue):
        """Which scheduler leads, by what they log."""
        events = [event for event in logs.events(self.logs, "scheduler.leading") if event["queue"] == queue]
        return events[-1]["pid"] if events else None

    # Faults

    def forget_everything(self):
        """Redis loses its memory, long after the queues were made: those of the last seconds reconcile does not miss yet."""
        self.postgres.query("UPDATE queue SET created_at = created_at - interval '1 minute'")
        self.redis.flushall()

    def workers(self, pool):
        """Pids of a pool's living workers."""
        return children_of(self.pools[pool].pid)

    def all_workers(self, pool):
        """The same, once the pool is complete again."""
        count = self._count_of(pool)
        return until(lambda: len(self.workers(pool)) >= count and self.workers(pool), 20, f"workers of {pool}")

    def arm_pause(self, step):
        """The next process that reaches `step` will stop there."""
        assert step in PAUSE_STEPS
        (self.pauses / f"{step}.hit").unlink(missing_ok=True)
        (self.pauses / step).touch()

    def wait_hit(self, step, seconds=15, but=None):
        """Waits for that; returns the stopped process's pid. `but`: one that was stopped before."""
        until((self.pauses / f"{step}.hit").exists, seconds, f"a process at {step}")
        more = [*self.schedulers, *([self.reconciler] if self.reconciler else [])]
        pids = [*self._workers_that_stop(), *(process.pid for process in more if process.alive())]
        stopped = until(lambda: [pid for pid in pids if pid != but and is_stopped(pid)], 5, f"stop at {step}")
        assert len(stopped) == 1, stopped
        return stopped[0]

    def _workers_that_stop(self, *more):
        return children_of(*(self.pools[pool].pid for pool in ("order", "payment", "catalog", "operator", *self.hosts, *more)))

    def disarm(self):
        for path in self.pauses.iterdir():
            path.unlink()

    def stop_everybody_s_stop(self):
        """Lets go on whatever a test left stopped."""
        for pid in [*self._workers_that_stop("queue"), *(s.pid for s in self.schedulers)]:
            if is_stopped(pid):
                processes.cont(pid)

    # Ending

    def at_work(self, fixtures):
        """In order for the one test of the block that has these fixtures, and afterwards for the next."""
        if not self.in_order or self.temporary and self.temporary[0] not in fixtures:
            self.settle(fixtures)
        self.in_order = False
        yield self
        self.settle(fixtures)
        self.in_order = True

    def settle(self, fixtures=()):
        """After each test: everything is as a test with these fixtures wants to find it."""
        self.disarm()
        self.stop_everybody_s_stop()
        self.stop_reconcile()
        if not self.redis_server.process.alive():
            self.start_redis()
        if isinstance(self.redis_server, RedisServer):
            self.redis.config_set("appendfsync", "everysec")
        if not self.postgres.process.alive():
            self.postgres.start()
        self.schedulers = [process for process in self.schedulers if process.alive()]
        if len(self.schedulers) != 1:
            self.restart_schedulers(1)
        self.restore_settings(but_from=fixtures)
        self._wait_pool("order", "payment")
        if not self.redis.hexists("sluice:tenures", "complete"):
            # Until reconcile has looked once, no queue is called misspelt.
            self.reconcile(expect=None)
        self.api.delete_queues()

    def stop(self):
        """Ends everything, in order, and asserts that it ended well."""
        problems = []
        parts = [self.nginx, *self.schedulers, *self.pools.values(), self.reconciler]
        for part in parts:
            if part is None or not part.alive():
                continue
            for pid in [part.pid, *children_of(part.pid)]:
                if is_stopped(pid):
                    processes.cont(pid)
            number = signal.SIGQUIT if part is self.nginx else signal.SIGTERM
            try:
                code = part.stop(number, 20)
                # One that has hardly begun does not take signals yet.
                hardly_begun = code == -number and time.monotonic() - part.started < 2
                if code != 0 and not hardly_begun:
                    problems.append(f"{part.name} ended with {code}")
            except AssertionError as error:
                problems.append(str(error))
        if self.redis:
            self.redis.close()
        self.redis_server.stop()
        self.postgres.stop()
        assert_none_left("SLUICE_TEST_PARTS", self.mark, [self.directory])
        logs.assert_clean(self.logs, self.allowed_errors, [self.api.admin_key] if self.api else [])
        assert not problems, problems


