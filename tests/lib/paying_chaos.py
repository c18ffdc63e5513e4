"""Many members who pay, change their minds and walk away, while everything that they need is killed at random.

A seed decides what each member does and what goes wrong with each call of the provider, so that a run can be had again;
what is killed when depends on the clock as well.
"""

import random
import threading
import time
from collections import Counter
from urllib.parse import urlsplit

from lib import processes
from lib.client import new_key
from lib.payments import query_of
from lib.processes import is_stopped
from lib.wait import until

# What goes wrong with which calls, and how often. The look-up tells the truth, when it tells something. A call that
# opens a session meets the same fate however often it is made for an order, so that is rarer.
RULES = [(f"{call}.{word}", part * (.3 if call == "ready" else 1.5))
         for call in ("ready", "approve", "cancel", "order")
         for word, part in [("drop_before_commit", .02), ("drop_after_commit", .03), ("http_500_before", .015),
                            ("http_500_after", .02), ("bad_json", .015), ("half_json", .01), ("empty", .01),
                            ("redirect", .005), ("huge", .005), ("slow_drip", .005), ("delay=300", .04),
                            ("delay_after=1000", .02), ("delay=2200", .01)]]
RULES += [("approve.late=2500", .03), ("approve.late_error=900", .03), ("approve.duplicate", .03),
          ("approve.error=-785", .02), ("approve.error=-780", .01), ("approve.error=-701", .01),
          ("approve.error=-708", .01), ("approve.expire", .01), ("approve.wrong_amount", .01),
          ("cancel.late=2500", .04), ("cancel.late_error=900", .04), ("cancel.duplicate", .03),
          ("cancel.error=-785", .03), ("cancel.error=-784", .01), ("cancel.wrong_amount", .01)]
HOOKS = ["payment.starting", "payment.started", "payment.approving", "payment.approved", "payment.canceling",
         "payment.canceled", "payment.looked", "order.claimed", "order.committed"]
OPEN = "('STARTING', 'READY', 'APPROVING', 'UNKNOWN', 'CANCEL_REQUESTED')"
DEAR = 100_000  # the dear thing's price; the cheap one costs 1, and its number makes every amount another one


class Chaos:
    """Kills and lets come again, in the caller's thread: what a thread has started dies with it. Everything runs when
    it is over."""

    def __init__(self, parts, seed):
        self.parts, self.draw = parts, random.Random(f"{seed}:chaos")
        self.reconcilers, self.counts = [], Counter()

    def during(self, work, reconcilers=2):
        """Until `work`, which runs in a thread, has come to its end."""
        for _ in range(reconcilers):
            self.add_reconciler()
        thread = threading.Thread(target=work)
        thread.start()
        try:
            self._run(thread)
        finally:
            self.let_go()
            thread.join()

    def stop_reconcilers(self):
        for process in self.reconcilers:
            if process.alive():
                process.stop()
        self.reconcilers = []

    def add_reconciler(self):
        parts = self.parts
        # pylint: disable-next=protected-access
        self.reconcilers.append(parts._spawn("reconcile", [
            parts.build / "sluice-reconcile", "--every", "1", "--config", parts.config]))

    def pids(self):
        """Whoever may stop at a hook."""
        return [*self.parts.workers("order"), *self.parts.workers("payment"), *(p.pid for p in self.reconcilers)]

    def let_go(self):
        self.parts.disarm()
        for pid in self.pids():
            if is_stopped(pid):
                processes.cont(pid)

    # What it does

    def _run(self, thread):
        ways = [(self.kill_worker, 30), (self.kill_at_hook, 34), (self.hold_at_hook, 6), (self.kill_reconcile, 14),
                (self.restart_redis, 8), (self.restart_postgres, 8), (self.restart_simulator, 6)]
        while thread.is_alive():
            way = self.draw.choices([way for way, _ in ways], [weight for _, weight in ways])[0]
            way()
            self.counts[way.__name__] += 1
            self.wait(.1, .7)

    def wait(self, least, most):
        time.sleep(self.draw.uniform(least, most))

    def kill_worker(self):
        pids = self.parts.workers(self.draw.choice(["payment", "payment", "order"]))
        if pids:
            processes.kill9(self.draw.choice(pids))

    def _stopped_at_hook(self):
        self.parts.arm_pause(self.draw.choice(HOOKS))
        end = time.monotonic() + 1.5
        while time.monotonic() < end:
            for pid in self.pids():
                if is_stopped(pid):
                    return pid
            time.sleep(.02)
        self.parts.disarm()
        return None

    def kill_at_hook(self):
        pid = self._stopped_at_hook()
        if pid:
            processes.kill9(pid)
            self.counts["killed at a hook"] += 1
        self._revive()

    def hold_at_hook(self):
        """Long enough for somebody else to go on with the work."""
        pid = self._stopped_at_hook()
        if pid:
            self.wait(1, 5)
            processes.cont(pid)

    def kill_reconcile(self):
        self.draw.choice(self.reconcilers).kill()
        self._revive()

    def _revive(self):
        dead = [process for process in self.reconcilers if not process.alive()]
        self.reconcilers = [process for process in self.reconcilers if process.alive()]
        for _ in dead:
            self.add_reconciler()

    def restart_redis(self):
        self.parts.redis_server.kill()
        self.wait(0, .5)
        self.parts.redis_server.start()

    def restart_postgres(self):
        self.parts.postgres.kill()
        self.wait(0, .5)
        self.parts.postgres.start()

    def restart_simulator(self):
        self.parts.simulator.kill()
        self.wait(0, 1)
        self.parts.simulator.start()


class Shopper:
    """One member with one order, who does what the seed wants."""

    def __init__(self, shop, member, number):
        self.shop, self.member, self.number = shop, member, number
        self.api, self.draw = shop.parts.api, random.Random(f"{shop.seed}:{number}")
        self.order = None
        self.results = []  # (word, state in the address that it was said for)

    def chance(self, part):
        return self.draw.random() < part

    def think(self, most=.5):
        time.sleep(self.draw.uniform(0, most))

    def call(self, *call, again=(429, 502, 503, 504), seconds=40):
        """As a patient client: the same request again where nobody could answer it."""
        end = time.monotonic() + seconds
        while True:
            try:
                answer = self.api.call(*call, timeout=25)
            except Exception:  # pylint: disable=broad-except
                answer = None
            if answer is not None and answer.status not in again:
                return answer
            if time.monotonic() > end:
                return answer
            time.sleep(self.draw.uniform(.1, .5))

    # The steps

    def run(self):
        self.think(self.shop.arrival_seconds)
        self.place()
        if self.chance(.06):
            return  # ordered, and gone
        if self.chance(.04):
            self.cancel()
            return
        for _ in range(3):
            if not self.attempt():
                break
        if self.chance(.25):
            self.think(3)
            self.cancel()

    def place(self):
        key = new_key()
        for items in ([(self.shop.dear, 1), (self.shop.cheap, self.number + 1)], [(self.shop.cheap, self.number + 1)]):
            body = [{"sku": sku, "quantity": quantity} for sku, quantity in items]
            end = time.monotonic() + 60
            while True:
                answer = self.call(*self.member.order_call(self.shop.queue, body, key))
                if answer is not None and answer.status in (200, 201):
                    self.order = answer["id"]
                    return
                if answer is not None and answer.status == 409 and answer.code == "SOLD_OUT":
                    break
                assert time.monotonic() < end, answer and answer.body
                time.sleep(.3)
            key = new_key()
        raise AssertionError("even the cheap thing is sold out")

    def start(self):
        """The address of the provider's page; None where there is none (any more)."""
        call = "POST", f"/v1/orders/{self.order}/payment", self.member.headers(), None
        if self.chance(.1):
            self.aside(lambda: self.call(*call, seconds=3))
        end = time.monotonic() + 10
        while time.monotonic() < end:
            answer = self.call(*call, seconds=6)
            if answer is None:
                return None
            if answer.status in (200, 201):
                return answer["redirectUrl"]
            if answer.status != 409 or answer.code != "PAYMENT_IN_PROGRESS":
                return None
            time.sleep(.5)
        return None

    def press(self, url):
        action = self.draw.choices(["pay", "cancel", "fail"], [84, 9, 7])[0]
        method = self.draw.choices(["money", "card", "declined"], [60, 30, 10])[0]
        for _ in range(40):
            try:
                return self.shop.parts.simulator.press(url, action, method)
            except Exception:  # pylint: disable=broad-except
                time.sleep(.25)
        return None

    def attempt(self):
        """One payment. Returns whether to try another one."""
        url = self.start()
        if url is None or self.chance(.05):
            return False
        self.think(1)
        back = self.press(url)
        if back is None or self.chance(.06):
            return False
        word = self.come_back(back)
        for _ in range(self.draw.choice([0, 0, 1, 3])):
            self.think(1.5)
            word = self.come_back(back)
        return word in ("stopped", "refused", "unavailable") and self.chance(.7)

    def come_back(self, url):
        path = urlsplit(url)
        path = path.path + "?" + path.query
        if self.chance(.15):
            self.aside(lambda: self.hear(path))
        if self.chance(.05):
            self.aside(self.cancel)
        if self.chance(.04):  # the page before is still open in another window
            other = path.replace("/approve?", self.draw.choice(["/cancel?", "/fail?"]))
            self.aside(lambda: self.hear(other))
        return self.hear(path)

    def hear(self, path):
        answer = self.call("GET", path, {}, None)
        if answer is None or answer.status != 303:
            assert answer is None or answer.status in (429, 503, 504, 502), (answer.status, answer.body)
            return None
        word = query_of(answer.headers["location"])["payment"]
        self.results.append((word, query_of(path)["state"]))
        return word

    def cancel(self):
        for _ in range(self.draw.choice([1, 1, 2])):
            answer = self.call("POST", f"/v1/orders/{self.order}/cancel", self.member.headers(), None, seconds=8)
            assert answer is None or answer.status in (200, 409, 429, 502, 503, 504), (answer.status, answer.body)

    def aside(self, work):
        """At the same time."""
        thread = threading.Thread(target=self.shop.guarded, args=(work,))
        thread.start()
        self.shop.asides.append(thread)


class Shop:
    """The queue, two products of which one is scarce, and all the members."""

    def __init__(self, parts, seed, count, arrival_seconds):
        self.parts, self.seed, self.count, self.arrival_seconds = parts, seed, count, arrival_seconds
        self.problems, self.asides = [], []
        self.queue = parts.api.queue(maxActive=count + 10, entryTtlSeconds=3600, releaseOn="payment", recoverySeconds=0,
                                     claimLeaseSeconds=2)
        self.stocks = {}
        self.dear = self._product("dear", count * 6 // 10, DEAR)
        self.cheap = self._product("cheap", count * count, 1)
        self.members = []
        for begin in range(0, count, 100):
            self.members += parts.api.ready_members(self.queue, min(100, count - begin))
        self.shoppers = [Shopper(self, member, number) for number, member in enumerate(self.members)]

    def _product(self, name, stock, amount):
        sku = self.parts.api.product(self.queue, stock=stock, amount=amount)
        self.stocks[sku] = stock
        return sku

    def guarded(self, work):
        try:
            work()
        except Exception as error:  # pylint: disable=broad-except
            self.problems.append(repr(error))

    def trade(self, threads):
        """All of it, until the last member has gone."""
        waiting = list(self.shoppers)

        def serve():
            while waiting:
                self.guarded(waiting.pop(0).run)
        crew = [threading.Thread(target=serve) for _ in range(threads)]
        for thread in crew:
            thread.start()
        for thread in crew:
            thread.join()
        for thread in self.asides:
            thread.join()


def is_quiet(parts):
    """Nothing is open any more, and nothing left to do."""
    parts.make_due()
    return parts.postgres.value(f"""
        SELECT (SELECT count(*) FROM payment WHERE state IN {OPEN} OR retry_at IS NOT NULL)
             + (SELECT count(*) FROM customer_order WHERE status IN ('PENDING_PAYMENT', 'CANCEL_REQUESTED'))
             + (SELECT count(*) FROM outbox)""") == 0


def wait_quiet(parts, seconds):
    return until(lambda: is_quiet(parts), seconds, "everything is settled", every=1)
