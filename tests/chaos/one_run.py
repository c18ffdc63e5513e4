"""One run: the plan of a seed played on the system, until it is quiet and counted."""

import threading
import time
from dataclasses import dataclass, field
from types import SimpleNamespace

from chaos import promises
from chaos.faults import Faults, wait_whole
from chaos.shoppers import Crowd
from chaos.watch import Watch
from lib.logs import SANITIZER
from lib.paying_chaos import RULES, wait_quiet

PATIENCE_S = 40     # for members, from the moment when everything is whole again
QUIET_S = 60        # for what is left to reconcile
MOST_S = 240        # for members, as long as there is progress


@dataclass
class Result:
    plan: object
    seconds: float = 0.0
    orders: int = 0
    coupons: int = 0
    payments: int = 0
    admissions: int = 0
    answers: int = 0
    losses: int = 0
    done: dict = field(default_factory=dict)
    skipped: dict = field(default_factory=dict)
    refused: dict = field(default_factory=dict)
    findings: list = field(default_factory=list)


def open_shop(parts, plan):
    api = parts.api
    name = f"chaos-{plan.seed}-{parts.runs}"
    queue = api.queue(name, **plan.settings)
    # A queue of the last seconds is not missed when Redis has lost it; this one is meant to be older.
    parts.postgres.query("UPDATE queue SET created_at = created_at - interval '1 minute' WHERE id = %s", queue)
    seats = [f"A-{number}" for number in range(plan.seats)]
    return SimpleNamespace(
        queue=queue, seats=seats,
        scarce=api.product(queue, stock=plan.stock, amount=1000, sku=f"{name}-scarce"),
        plenty=api.product(queue, stock=1_000_000, amount=700, sku=f"{name}-plenty"),
        free=api.product(queue, stock=1_000_000, amount=0, sku=f"{name}-free"),
        show=api.show(queue, seats, name=f"{name}-show", amount=500, holdTtlSeconds=60, maxSeatsPerMember=4,
                      concert=api.concert(f"{name}-concert")),
        event=api.coupon_event(queue, plan.coupons, event=f"{name}-event"))


class LogWatch:
    """New reports of sanitizers since the last look."""

    def __init__(self, folder):
        self.folder, self.read = folder, {}

    def news(self):
        found = []
        for path in sorted(self.folder.glob("*.log")):
            begin, size = self.read.get(path, 0), path.stat().st_size
            if size > begin:
                with open(path, errors="replace") as log:
                    log.seek(begin)
                    found += [f"{path.name}: {line.strip()}" for line in log if SANITIZER.search(line)]
            self.read[path] = size
        return found


def play(parts, plan, say_more=print):
    """Returns the Result; findings in it are (word, details)."""
    result, began = Result(plan), time.monotonic()
    parts.runs = getattr(parts, "runs", 0) + 1
    parts.log_watch = getattr(parts, "log_watch", None) or LogWatch(parts.logs)

    def say(word, *details):
        result.findings.append((word, " ".join(str(detail) for detail in details)[:600]))
    shop = open_shop(parts, plan)
    rules = [{"fault": fault, "probability": part} for fault, part in RULES] if plan.misbehaves else []
    parts.simulator.behave(rules=rules, seed=plan.seed)
    parts.set_reconcilers(plan.reconcilers)
    crowd = Crowd(plan, parts, shop)
    faults = Faults(parts, plan, shop.queue)
    crowd.losses = faults.losses
    watch = Watch(parts, shop.queue).start()
    thread = threading.Thread(target=crowd.run)
    thread.start()
    try:
        try:
            faults.run(time.monotonic())
            wait_whole(parts)
        except AssertionError as error:
            say("NOT_WHOLE", error, faults.said[-3:])
        crowd.ends_at = time.monotonic() + PATIENCE_S
        thread.join(MOST_S)
    finally:
        crowd.ends_at = crowd.ends_at or time.monotonic()
        parts.whole()
        thread.join(30)
    say_more(f"  everybody is done after {time.monotonic() - began:.1f} s")
    parts.simulator.behave()
    settle(parts, shop, say)
    watch.stop()
    result.findings += crowd.journal.findings
    count(parts, plan, shop, crowd.journal, watch, faults, result, say)
    for report in parts.log_watch.news():
        say("SANITIZER", report)
    result.done, result.skipped, result.losses = dict(faults.done), dict(faults.skipped), len(faults.losses)
    result.answers, result.refused = crowd.journal.answers, dict(crowd.journal.refused)
    result.seconds = time.monotonic() - began
    parts.api.delete_queues()
    return result


def settle(parts, shop, say):
    """Until nothing is left to do, and reconcile says that nothing needs a person."""
    try:
        wait_quiet(parts, QUIET_S)
        parts.reconcile_until(lambda: not parts.redis.zcard(f"sluice:{{{shop.queue}}}:claimed"), 20, "no claim is left")
        last = parts.reconcile(expect=None)
        if "needs a person" in last:
            last = parts.reconcile(expect=None)
            for line in last.splitlines():
                if line.startswith("needs a person"):
                    say("NEEDS_A_PERSON", line)
    except AssertionError as error:
        say("NOT_QUIET", error, parts.postgres.query(
            "SELECT kind, member, attempts FROM outbox LIMIT 5"), parts.postgres.query(
            "SELECT id, state, attempts, last_error FROM payment WHERE retry_at IS NOT NULL LIMIT 5"), parts.postgres.query(
            "SELECT id, status, expires_at FROM customer_order WHERE status IN ('PENDING_PAYMENT', 'CANCEL_REQUESTED') LIMIT 5"))


def count(parts, plan, shop, journal, watch, faults, result, say):
    withdrawn = int(parts.redis.hget(f"sluice:{{{shop.queue}}}:state", "withdrawn") or 0)
    result.admissions = len(promises.check_clients(journal, plan, faults.losses, withdrawn, say))
    promises.check_watch(watch.looks, plan.settings, say)
    result.orders = promises.check_orders(parts, shop.queue, journal, say)
    result.coupons = promises.check_goods(parts, shop, journal, say)
    result.payments = promises.check_money(parts, shop.queue, journal, say)
    promises.check_redis(parts, shop.queue, say)
