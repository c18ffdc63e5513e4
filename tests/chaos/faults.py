"""Doing what the plan says, and undoing it. Everything here runs in the thread that started the parts: what another thread
starts would die with that thread."""

import heapq
import itertools
import os
import signal
import time
from collections import Counter

from chaos.plan import LOSSES
from lib import processes
from lib.processes import is_gone, is_stopped
from lib.wait import until


class Faults:
    def __init__(self, parts, plan, queue, rng_pause=time.sleep):
        self.parts, self.plan, self.queue, self.sleep = parts, plan, queue, rng_pause
        self.done, self.skipped = Counter(), Counter()
        self.losses = []          # when, on the monotonic clock, Redis knew nothing any more
        self.disturbed = []       # (name, from, to)
        self.said = []            # what operators were answered
        self._events = []
        self._order = itertools.count()

    def run(self, began):
        """All of the plan, in its time; then everything is whole again."""
        for fault in self.plan.faults:
            self._at(fault.at_ms, self._begin, fault)
        while self._events:
            at, _, step, arguments = heapq.heappop(self._events)
            left = began + at / 1000 - time.monotonic()
            if left > 0:
                self.sleep(left)
            step(*arguments)
        self.parts.whole()
        if self.done["operator_pause"]:
            until(lambda: self._act("resume"), 60, "the queue goes on", every=0.2)

    def _at(self, at_ms, step, *arguments):
        heapq.heappush(self._events, (at_ms, next(self._order), step, arguments))

    def _begin(self, fault):
        since = time.monotonic()
        if fault.name in LOSSES:
            self.losses.append(since)
        undo = getattr(self, "_" + fault.name)(fault)
        if undo is None:
            self.skipped[fault.name] += 1
            return
        self.done[fault.name] += 1
        if callable(undo) and fault.ms:
            self._at(fault.at_ms + fault.ms, self._end, fault, undo, since)
        elif callable(undo):
            self._end(fault, undo, since)
        else:
            self.disturbed.append((fault.name, since, time.monotonic()))

    def _end(self, fault, undo, since):
        undo()
        self.disturbed.append((fault.name, since, time.monotonic()))

    # Processes of ours. A step returns what undoes it, True where there is nothing to undo, None where nothing was to be hit.

    def _one_of(self, candidates, fault):
        return candidates[fault.dice % len(candidates)] if candidates else None

    def _kill_worker(self, fault):
        pid = self._one_of(self.parts.workers(fault.words[0]), fault)
        return self._kill9(pid)

    @staticmethod
    def _kill9(pid):
        if pid is None:
            return None
        try:
            processes.kill9(pid)
        except ProcessLookupError:
            return None
        return True

    def _stop(self, pid):
        if pid is None or is_stopped(pid) or is_gone(pid):
            return None
        try:
            processes.stop(pid)
        except ProcessLookupError:
            return None
        return lambda: self.parts.go_on(pid)

    def _stop_worker(self, fault):
        return self._stop(self._one_of(self.parts.workers(fault.words[0]), fault))

    def _living(self, group):
        return [process for process in group if process.alive()]

    def _kill_scheduler(self, fault):
        return self._kill_part(self._one_of(self._living(self.parts.schedulers), fault), self._more_schedulers)

    def _kill_leader(self, _fault):
        return self._kill_part(self.parts.leader(self.queue), self._more_schedulers)

    @staticmethod
    def _kill_part(process, again):
        if process is None:
            return None
        process.kill()
        return again

    def _more_schedulers(self):
        self.parts.schedulers = self._living(self.parts.schedulers)
        while len(self.parts.schedulers) < 2:
            self.parts.add_scheduler()

    def _stop_scheduler(self, fault):
        process = self._one_of(self._living(self.parts.schedulers), fault)
        return self._stop(process and process.pid)

    def _stop_leader(self, _fault):
        """Longer than its lock lasts: when it goes on it believes to lead, and so does another one."""
        process = self.parts.leader(self.queue)
        return self._stop(process and process.pid)

    def _kill_reconcile(self, fault):
        def again():
            self.parts.reconcilers = self._living(self.parts.reconcilers)
            if not self.parts.reconcilers:
                self.parts.add_reconciler()
        return self._kill_part(self._one_of(self._living(self.parts.reconcilers), fault), again)

    def _stop_reconcile(self, fault):
        process = self._one_of(self._living(self.parts.reconcilers), fault)
        return self._stop(process and process.pid)

    # Steps of programs

    def _who_stops_at_hooks(self):
        pids = [*self.parts.workers("order"), *self.parts.workers("payment")]
        return pids + [process.pid for process in self.parts.schedulers + self.parts.reconcilers if process.alive()]

    def _at_hook(self, fault):
        """Who reaches the step within a second, if anybody does."""
        if not self.parts.has_hooks:
            return None
        before = {pid for pid in self._who_stops_at_hooks() if is_stopped(pid)}
        hit = self.parts.pauses / f"{fault.words[0]}.hit"
        self.parts.arm_pause(fault.words[0])
        end = time.monotonic() + 1.2
        while time.monotonic() < end:
            if hit.exists():
                stopped = [pid for pid in self._who_stops_at_hooks() if is_stopped(pid) and pid not in before]
                if stopped:
                    return stopped[0]
            self.sleep(.01)
        self.parts.disarm()
        return None

    def _hook_kill(self, fault):
        pid = self._at_hook(fault)
        done = self._kill9(pid)

        def again():
            self._more_schedulers()
            self.parts.reconcilers = self._living(self.parts.reconcilers)
            if not self.parts.reconcilers:
                self.parts.add_reconciler()
        return done and again

    def _hook_hold(self, fault):
        pid = self._at_hook(fault)
        return pid and (lambda: self.parts.go_on(pid))

    # Redis

    def _redis_kill(self, _fault):
        self.parts.redis_server.kill()
        return self.parts.start_redis

    def _redis_restart(self, _fault):
        self.parts.redis_server.stop()
        return self.parts.start_redis

    def _redis_stall(self, _fault):
        return self._stop(self.parts.redis_server.process.pid)

    def _redis_full(self, _fault):
        return self._admin_of_redis(lambda redis: redis.config_set("maxmemory", 1)) and (
            lambda: self._admin_of_redis(lambda redis: redis.config_set("maxmemory", 0)))

    def _redis_script_flush(self, _fault):
        return self._admin_of_redis(lambda redis: redis.script_flush())

    def _redis_flush(self, _fault):
        return self._admin_of_redis(lambda redis: redis.flushall()) and (lambda: None)

    def _redis_lost(self, _fault):
        self.parts.redis_server.kill()
        self.parts.forget_redis_files()
        return self.parts.start_redis

    def _redis_power_cut(self, _fault):
        """The log is written to the disk once a second: what was answered in the last one is gone."""
        self.parts.redis_server.kill()
        if not self.parts.cut_log_of_redis(1.0):
            self.parts.start_redis()
            return None
        return self.parts.start_redis

    def _admin_of_redis(self, work):
        client = self.parts.redis_server.client()
        try:
            work(client)
            return True
        except Exception:  # pylint: disable=broad-except
            return None
        finally:
            client.close()

    # PostgreSQL

    def _postgres_kill(self, _fault):
        self.parts.postgres.kill()
        return self.parts.postgres.start

    def _postgres_restart(self, _fault):
        self.parts.postgres.stop()
        return self.parts.postgres.start

    def _postgres_stall(self, _fault):
        postgres = self.parts.postgres
        if not postgres.process.alive():
            return None
        processes.stop(postgres.process.pid)
        pids = [postgres.process.pid, *postgres.pids()]
        for pid in pids[1:]:
            try:
                os.kill(pid, signal.SIGSTOP)
            except ProcessLookupError:
                pass

        def go_on():
            for pid in pids:
                self.parts.go_on(pid)
        return go_on

    def _postgres_cut(self, _fault):
        try:
            self.parts.postgres.superuser("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'sluice'")
            return True
        except Exception:  # pylint: disable=broad-except
            return None

    def _postgres_full(self, _fault):
        if not self.parts.has_disk:
            return None
        self.parts.fill_disk()

        def room_again():
            self.parts.free_disk()
            if not self.parts.postgres.process.alive():
                self.parts.postgres.start()
        return room_again

    # nginx, the ways between, the provider

    def _nginx_reload(self, _fault):
        self.parts.nginx.send(signal.SIGHUP)
        return True

    def _nginx_restart(self, _fault):
        self.parts.nginx.kill()
        return self.parts.start_nginx_again

    def _link(self, fault, mode):
        way = ".".join(fault.words)
        self.parts.links.set(way, mode, 30 + fault.dice % 400)
        return lambda: self.parts.links.set(way, "through")

    def _link_slow(self, fault):
        return self._link(fault, "slow")

    def _link_cut(self, fault):
        return self._link(fault, "cut")

    def _link_silent(self, fault):
        return self._link(fault, "silent")

    def _link_deaf(self, fault):
        return self._link(fault, "deaf")

    # Operators

    def _act(self, action):
        """False: nobody could be told, or it is stored and Redis has yet to hear of it."""
        try:
            answer = self.parts.api.call("POST", f"/v1/admin/queues/{self.queue}/actions/{action}",
                                         self.parts.api.operator_headers(), timeout=5)
            self.said.append((action, answer.status, answer.body[:300]))
            return answer.status in (200, 204)
        except Exception as error:  # pylint: disable=broad-except
            self.said.append((action, repr(error)))
            return False

    def _operator_pause(self, _fault):
        self._act("pause")
        return lambda: self._act("resume")

    def _provider_kill(self, _fault):
        self.parts.simulator.kill()
        return self.parts.simulator.start

    def _provider_stall(self, _fault):
        return self._stop(self.parts.simulator.process.pid)


def wait_whole(parts):
    """Until every pool answers again."""
    for name in ("queue", "order", "payment"):
        parts._wait_pool(name)  # pylint: disable=protected-access
    until(lambda: parts.postgres.value("SELECT 1") == 1, 20, "PostgreSQL")
