"""One fault of the provider each, for both providers: what the member is told, and that money and goods agree.

A fault stands in the item's name, so it is that payment's alone: all of a provider's go their way at once, and each test
looks at its own.
"""

import subprocess
import threading
import time

import pytest

from lib import logs, processes
from lib.client import assert_problem
from lib.paying import SETTINGS, WORKERS, Purchase, result_of
from lib.processes import is_stopped
from lib.wait import holds_for, until

MAYBE = ("confirming", "paid")  # how soon it is known depends on the fault
# Approve: what the member may be told at once, how the order ends.
LOST = {  # the money is taken
    "drop_after_commit": MAYBE, "http_500_after": MAYBE, "bad_json": MAYBE, "half_json": MAYBE, "empty": MAYBE,
    "huge": MAYBE, "redirect": MAYBE, "slow_drip": MAYBE, "wrong_amount": MAYBE, "duplicate": MAYBE,
    "delay=300": ("paid",), "delay_after=2500": ("confirming",), "delay=2500": ("confirming",),
    "late=2500": ("confirming",), "late_error=900": ("confirming",),
    "drop_after_commit,order.http_500_before*2": ("confirming",), "drop_after_commit,order.bad_json*2": ("confirming",)}
APPROVE = {
    **{fault: (words, "PAID") for fault, words in LOST.items()},
    "drop_before_commit": (("confirming",), "EXPIRED"), "http_500_before": (("confirming",), "EXPIRED"),
    "expire": (("refused",), "EXPIRED")}
OF_KAKAOPAY = {
    "error=-702": (("confirming",), "EXPIRED"), "error=-785": (("confirming",), "EXPIRED"),
    "error=-783": (("confirming",), "EXPIRED"), "error=-9999": (("confirming",), "EXPIRED"),
    "error=-780": (("refused",), "PAYMENT_FAILED"), "decline=USER_LOCKED": (("refused",), "PAYMENT_FAILED"),
    "error=-701*1": (("unavailable",), "PAID"), "error=-708*1": (("unavailable",), "PAID")}
OF_TOSS = {
    "error=ALREADY_PROCESSED_PAYMENT": (("confirming",), "EXPIRED"), "error=PROVIDER_ERROR": (("confirming",), "EXPIRED"),
    "error=IDEMPOTENT_REQUEST_PROCESSING": (("confirming",), "EXPIRED"), "error=NEW_CODE": (("confirming",), "EXPIRED"),
    "error=REJECT_CARD_PAYMENT": (("refused",), "PAYMENT_FAILED"),
    "error=UNAUTHORIZED_KEY*1": (("unavailable",), "PAID"), "refuse=UNAUTHORIZED_KEY*1": (("unavailable",), "PAID"),
    "refuse=FORBIDDEN_REQUEST*1": (("unavailable",), "PAID"),
    "decline=REJECT_CARD_COMPANY": (("refused",), "PAYMENT_FAILED")}
READY = ["delay=2500", "http_500_before", "http_500_after", "bad_json", "half_json", "empty", "drop_before_commit",
         "drop_after_commit", "slow_drip", "late=500"]
CANCEL = ["drop_before_commit*1", "drop_after_commit", "http_500_before*1", "http_500_after", "bad_json", "half_json",
          "empty", "huge", "slow_drip", "delay_after=2500", "late=800", "late_error=800", "duplicate", "wrong_amount"]
CANCEL_KAKAOPAY = ["error=-785*1", "error=-784*1", "error=-710*1"]
CANCEL_TOSS = ["error=IDEMPOTENT_REQUEST_PROCESSING*1", "error=NOT_CANCELABLE_PAYMENT*1"]
FAULTS = {"kakaopay": ({**APPROVE, **OF_KAKAOPAY}, CANCEL + CANCEL_KAKAOPAY),
          "toss": ({**APPROVE, **OF_TOSS}, CANCEL + CANCEL_TOSS)}
WHO = list(FAULTS)


def cases(place):
    return [(who, fault) for who in WHO for fault in (READY if place is None else FAULTS[who][place])]


def marked(call, fault):
    first, *more = fault.split(",")
    return ",".join([f"{call}.{first}", *more])


class Tried:
    """One order and its fault."""

    def __init__(self, parts, queue, call, fault):
        self.purchase = Purchase(parts, queue=queue, name=f"A thing sim:{marked(call, fault)}")
        self.call, self.fault = call, fault
        self.back = self.answer = self.again = None
        self.words = []

    def is_over(self):
        return self.purchase.status() not in ("PENDING_PAYMENT", "CANCEL_REQUESTED") and all(
            state not in ("STARTING", "READY", "APPROVING", "UNKNOWN", "CANCEL_REQUESTED")
            for _, state in self.purchase.payments())


class Fair:
    """All faults of one provider, each tried once."""

    def __init__(self, parts, who):
        self.parts = parts
        approve, cancel = FAULTS[who]
        queue = parts.api.queue()
        self.tried = {(call, fault): Tried(parts, queue, call, fault)
                      for call, faults in (("ready", READY), ("approve", approve), ("cancel", cancel)) for fault in faults}
        self.start(self.of("ready"))
        self.come_back(self.of("approve") + self.of("cancel"))
        again = [tried for tried in self.of("approve") if tried.words == ["unavailable"]]
        self.come_back(again)
        for tried, answer in zip(self.of("cancel"), self.send([t.purchase.cancel_call() for t in self.of("cancel")])):
            tried.answer = answer
        self.settle(lambda tried: tried.call == "ready" or (tried.call, tried.fault) in self.unpaid(approve))
        for tried in self.of("approve"):
            if (tried.call, tried.fault) in self.unpaid(approve) and not tried.is_over():
                parts.end_session(tried.purchase.payment())
        self.settle(lambda tried: tried.call == "ready")

    @staticmethod
    def unpaid(approve):
        return {("approve", fault) for fault, (_, end) in approve.items() if end != "PAID"}

    def of(self, call):
        return [tried for (name, _), tried in self.tried.items() if name == call]

    def send(self, calls):
        return self.parts.api.together(calls, WORKERS)

    def start(self, some):
        for number in range(2):  # once more, as a member would
            for tried, answer in zip(some, self.send([tried.purchase.start_call() for tried in some])):
                tried.answer, tried.again = (answer, None) if number == 0 else (tried.answer, answer)

    def come_back(self, some):
        for tried in some:
            tried.back = tried.back or tried.purchase.press()
        for tried, answer in zip(some, self.send([tried.purchase.back_call(tried.back) for tried in some])):
            tried.words.append(result_of(answer))

    def settle(self, but):
        waiting = [tried for tried in self.tried.values() if not but(tried)]

        def done():
            waiting[:] = [tried for tried in waiting if not tried.is_over()]
            return not waiting
        try:
            self.parts.settle_payments(done, 25)
        except AssertionError:
            pass  # the test of each one says what it came to


@pytest.fixture(scope="module")
def fairs(all_paying):
    all_paying.settle()
    all_paying.allowed_errors |= {"payment.not_settled", "payment.not_approved", "payment.amount_differs"}
    found = {}
    for who in WHO:
        all_paying.reconfigure("payment", payment_provider=who)
        found[who] = Fair(all_paying, who)
    all_paying.reconfigure("payment", payment_provider="kakaopay")
    return found


@pytest.mark.limit(150)
@pytest.mark.parametrize("who, fault", cases(None))
def test_no_session(fairs, who, fault):
    """Nobody has an address: nothing can be taken, and the order can still be canceled."""
    tried = fairs[who].tried["ready", fault]
    assert_problem(tried.answer, 503, "PAYMENT_UNAVAILABLE")
    assert_problem(tried.again, 503, "PAYMENT_UNAVAILABLE")
    assert [state for _, state in tried.purchase.payments()] == ["FAILED", "FAILED"]
    assert tried.purchase.status() == "PENDING_PAYMENT"
    assert tried.purchase.cancel()["status"] == "CANCELED"
    assert tried.purchase.assert_agrees() == "CANCELED"


@pytest.mark.limit(150)
@pytest.mark.parametrize("who, fault", cases(0))
def test_an_approval(fairs, who, fault):
    words, end = FAULTS[who][0][fault]
    tried = fairs[who].tried["approve", fault]
    assert tried.words[0] in words
    assert tried.purchase.assert_agrees() == end
    row = fairs[who].parts.simulator.payment(tried.purchase.payment())
    assert row["takes"] == (1 if end == "PAID" else 0) and row["gives"] == 0


@pytest.mark.limit(150)
@pytest.mark.parametrize("who, fault", cases(1))
def test_a_refund(fairs, who, fault):
    tried = fairs[who].tried["cancel", fault]
    assert tried.words == ["paid"]
    assert tried.answer.status == 200 and tried.answer["status"] in ("CANCEL_REQUESTED", "CANCELED"), tried.answer.body
    assert tried.purchase.assert_agrees() == "CANCELED"
    row = fairs[who].parts.simulator.payment(tried.purchase.payment())
    assert (row["takes"], row["gives"]) == (1, 1)


# What befalls everybody at once

@pytest.fixture
def purchase(paying):
    return Purchase(paying)


def test_an_outage_of_the_provider(paying, purchase):
    """Before anything was taken; with the money taken; while it is asked."""
    back = purchase.press()
    paying.simulator.outage(60, how="503")
    assert result_of(purchase.come_back(back)) == "confirming", "503 may come from something between that has sent it on"
    paying.allowed_errors.add("payment.not_settled")
    paying.make_due()
    assert "payments settled 0, still open 1" in paying.reconcile(expect=None)
    assert_problem(purchase.cancel(), 409, "PAYMENT_IN_PROGRESS")
    paying.simulator.behave()
    paying.end_session(purchase.payment())
    paying.settle_payments(purchase.status)
    paying.settle_payments(lambda: purchase.status() == "EXPIRED")
    assert purchase.assert_agrees() == "EXPIRED"


@pytest.mark.parametrize("hours, word, end", [(2, "refused", "EXPIRED"), (-2, "paid", "PAID")])
def test_the_provider_s_clock_is_wrong(paying, purchase, hours, word, end):
    back = purchase.press()
    paying.simulator.behave(skew_ms=hours * 3600_000)
    assert result_of(purchase.come_back(back)) == word
    assert purchase.assert_agrees() == end


def test_a_shop_that_the_provider_does_not_know_proves_nothing(paying, purchase):
    """Another shop's number was set while it was in doubt: the provider has never heard of such a payment. The money
    is taken, so that must not end it."""
    back = purchase.press()
    paying.simulator.fault("approve.drop_after_commit")
    assert result_of(purchase.come_back(back)) == "confirming"
    paying.simulator.fault("order.error=-721")
    paying.allowed_errors.add("payment.not_settled")
    paying.end_session(purchase.payment())
    assert f"needs a person: payment {purchase.payment()}" in paying.reconcile(expect=1)
    assert (purchase.state(), purchase.status()) == ("UNKNOWN", "PENDING_PAYMENT")
    paying.simulator.behave()
    paying.settle_payments(lambda: purchase.state() == "PAID")
    assert purchase.assert_agrees() == "PAID"


# Reconcile dies

def reconcile_at(parts, step):
    """One that has stopped there."""
    parts.arm_pause(step)
    parts.start_reconcile()
    until(lambda: is_stopped(parts.reconciler.pid), 15, f"reconcile at {step}")
    return parts.reconciler.pid


@pytest.mark.parametrize("step", ["payment.looked", "payment.canceling", "payment.canceled"])
def test_reconcile_is_killed(paying, purchase, step):
    """With a refund of which only the wish is known: another one finishes it, once."""
    assert purchase.pay() == "paid"
    paying.simulator.fault("cancel.drop_before_commit*1")
    assert purchase.cancel()["status"] == "CANCEL_REQUESTED"
    paying.simulator.behave()
    if step == "payment.looked":  # which a refund does not pass
        paying.postgres.query("SELECT payment_cancel_refused(%s, 'test')", purchase.payment())
    paying.make_due()
    processes.kill9(reconcile_at(paying, step))
    paying.disarm()
    paying.reconciler.wait(5)
    paying.reconciler = None
    due = paying.postgres.value("SELECT retry_at > now() FROM payment WHERE id = %s", purchase.payment())
    assert due, "it comes again, when the dead one could not have it any more"
    if step == "payment.looked":
        paying.settle_payments(lambda: purchase.status() == "PAID")
        assert purchase.cancel()["status"] == "CANCELED"
    paying.settle_payments(lambda: purchase.status() == "CANCELED")
    assert purchase.assert_agrees() == "CANCELED"
    assert paying.simulator.payment(purchase.payment())["gives"] == 1


def test_reconcile_is_killed_with_an_approval_found(paying, purchase):
    back = purchase.press()
    paying.simulator.fault("approve.drop_after_commit")
    assert result_of(purchase.come_back(back)) == "confirming"
    paying.simulator.behave()
    paying.make_due()
    processes.kill9(reconcile_at(paying, "payment.looked"))
    paying.disarm()
    paying.reconciler.wait(5)
    paying.reconciler = None
    assert purchase.state() == "UNKNOWN"
    paying.settle_payments(lambda: purchase.state() == "PAID")
    assert purchase.assert_agrees() == "PAID"


def test_reconcile_that_wakes_up_late(paying, purchase):
    """It found "not paid" and slept; the money was taken meanwhile, and another one found that."""
    back = purchase.press()
    paying.simulator.fault("approve.late=1700")
    assert result_of(purchase.come_back(back)) == "confirming"
    paying.simulator.behave()
    paying.end_session(purchase.payment())
    pid = reconcile_at(paying, "payment.looked")
    until(lambda: purchase.kept() == purchase.total, 10, "the late approval")
    paying.settle_payments(lambda: purchase.state() == "PAID")
    processes.cont(pid)
    paying.settle_payments(lambda: True)
    paying.stop_reconcile()
    paying.settle_payments(lambda: True)
    assert purchase.assert_agrees() == "PAID"


def test_a_look_that_is_older_than_the_return_changes_nothing(paying, purchase):
    """It found a payment that nobody had approved. Before that was recorded the member came back, too early: the payment stays
    theirs, and they can try again."""
    back = purchase.press()
    paying.postgres.query("UPDATE payment SET retry_at = now() WHERE id = %s", purchase.payment())
    look = reconcile_at(paying, "payment.looked")
    paying.simulator.fault("approve.error=-701")
    paying.arm_pause("payment.approving")
    answers = []
    member = threading.Thread(target=lambda: answers.append(purchase.come_back(back)))
    member.start()
    worker = paying.wait_hit("payment.approving", but=look)
    assert purchase.state() == "APPROVING"
    processes.cont(look)
    paying.stop_reconcile()
    assert purchase.state() == "APPROVING"
    (found,) = paying.postgres.query("SELECT outcome, state FROM payment_unpaid(%s, 0, 'FAILED', false, true, true, 'test')",
                                     purchase.payment())
    assert found == ("stale", "APPROVING")
    processes.cont(worker)
    member.join(30)
    assert [result_of(answer) for answer in answers] == ["unavailable"] and purchase.state() == "READY"
    paying.simulator.behave()
    assert result_of(purchase.come_back(back)) == "paid"
    assert purchase.assert_agrees() == "PAID"


def test_a_payment_is_one_reconciler_s(paying):
    """While one waits for a slow provider, others do not look the same payment up, however long it takes; they look up
    others."""
    queue = paying.api.queue()
    purchases = [Purchase(paying, queue=queue) for _ in range(3)]
    backs = [purchase.press() for purchase in purchases]
    paying.simulator.fault("approve.drop_after_commit")
    assert {result_of(a) for a in paying.api.together([p.back_call(b) for p, b in zip(purchases, backs)])} == {"confirming"}
    refs = {paying.simulator.payment(purchase.payment())["ref"] for purchase in purchases}
    paying.simulator.fault("order.delay=3500")
    paying.reconfigure(payment_timeout_ms=5000)
    paying.postgres.query("UPDATE payment SET retry_at = now() WHERE state = 'UNKNOWN'")
    running = [reconcile_beside(paying) for _ in range(3)]

    def calls():
        return [call for call in paying.simulator.calls(name="order") if call["subject"] in refs]
    until(lambda: len(calls()) == 3, 10, "all are being looked up")
    # Longer than the first pause between two look-ups of a payment.
    holds_for(2.7, lambda: len(calls()) == 3, "one look-up of each payment")
    running.append(reconcile_beside(paying))
    for process in running:
        process.wait(30)
    paying.reconfigure(payment_timeout_ms=SETTINGS["payment_timeout_ms"])
    assert len(calls()) == 3 and {call["subject"] for call in calls()} == refs
    assert max(call["at"] for call in calls()) - min(call["at"] for call in calls()) < 6, "at the same time: one after the other takes 7"
    assert {purchase.assert_agrees() for purchase in purchases} == {"PAID"}


# Redis restarts meanwhile

def recoveries(parts, queue):
    return [event for event in logs.events(parts.logs, "queue.recovered") if event["queue"] == queue]


def restart_redis(parts):
    """As if its machine had been started anew: nothing is admitted before reconcile has recovered the queues."""
    assert parts.reconciler
    parts.redis_server.kill()
    parts.start_redis()


def test_a_slow_provider_does_not_delay_recoveries(paying):
    """At most the look-up that runs, and one that begins while Redis is down."""
    queue = paying.api.queue()
    purchases = [Purchase(paying, queue=queue) for _ in range(4)]
    backs = [purchase.press() for purchase in purchases]
    paying.simulator.fault("approve.drop_after_commit")
    assert {result_of(a) for a in paying.api.together([p.back_call(b) for p, b in zip(purchases, backs)])} == {"confirming"}
    paying.simulator.fault("order.delay=2200")
    paying.reconfigure(payment_timeout_ms=5000)

    def calls():
        return sum(len(paying.simulator.calls(purchase.payment(), "order")) for purchase in purchases)
    before = calls()
    paying.postgres.query("UPDATE payment SET retry_at = now() WHERE state = 'UNKNOWN'")
    paying.start_reconcile()
    until(lambda: calls() > before, 10, "a look-up")
    restart_redis(paying)
    until(lambda: recoveries(paying, queue), 25, "the queue is recovered", every=0.05)
    assert calls() - before <= 2
    paying.simulator.behave()
    paying.stop_reconcile()
    paying.reconfigure(payment_timeout_ms=SETTINGS["payment_timeout_ms"])
    paying.settle_payments(lambda: {purchase.state() for purchase in purchases} == {"PAID"})
    assert {purchase.assert_agrees() for purchase in purchases} == {"PAID"}


def test_a_recovery_that_keeps_failing_does_not_hold_up_payments(paying):
    """One pass settles more than one of them."""
    queue, broken = paying.api.queue(), paying.api.queue()
    purchases = [Purchase(paying, queue=queue) for _ in range(3)]
    backs = [purchase.press() for purchase in purchases]
    paying.simulator.fault("approve.drop_after_commit")
    assert {result_of(a) for a in paying.api.together([p.back_call(b) for p, b in zip(purchases, backs)])} == {"confirming"}
    paying.simulator.behave()
    key = f"sluice:{{{broken}}}:settings"

    def calls():
        return [len(paying.simulator.calls(purchase.payment(), "order")) for purchase in purchases]
    before = calls()
    paying.redis_server.kill()
    paying.start_redis()
    with paying.redis.pipeline() as pipe:
        # Of a tenure before, and of a queue that no script can read.
        pipe.delete("sluice:tenures", key)
        pipe.hset("sluice:tenures", mapping={"since": "1", "0" * 40: "0" * 40})
        pipe.set(key, "not a hash")
        pipe.execute()
    try:
        paying.postgres.query("UPDATE payment SET retry_at = now() WHERE state = 'UNKNOWN'")
        paying.reconcile(expect=None)
        assert sum(calls()) - sum(before) > 1 and not recoveries(paying, broken)
    finally:
        paying.redis.delete(key)
        paying.reconcile_until(lambda: recoveries(paying, broken), 20, "the queue is recovered")
    paying.settle_payments(lambda: {purchase.state() for purchase in purchases} == {"PAID"})
    assert {purchase.assert_agrees() for purchase in purchases} == {"PAID"}


def test_an_unusable_key_stops_look_ups_alone(paying, purchase):
    back = purchase.press()
    paying.simulator.fault("approve.drop_after_commit")
    assert result_of(purchase.come_back(back)) == "confirming"
    paying.simulator.behave()
    paying.make_due()
    paying.allowed_errors.add("payments.unusable")
    paying.simulator.secret_file.chmod(0o644)
    try:
        paying.start_reconcile()
        restart_redis(paying)
        until(lambda: recoveries(paying, purchase.queue), 20, "the queue is recovered")
        assert "needs a person: payments cannot be looked up" in paying.reconcile(expect=1)
        assert paying.reconciler.alive() and purchase.state() == "UNKNOWN"
        assert paying.simulator.calls(purchase.payment(), "order") == []
        assert logs.events(paying.logs, "payments.unusable")
    finally:
        paying.simulator.secret_file.chmod(0o600)
    until(lambda: (paying.make_due(), purchase.state() == "PAID")[1], 15, "it is looked up once the key is usable")
    paying.stop_reconcile()
    assert purchase.assert_agrees() == "PAID"


# Webhooks that come at a bad moment

def hint(parts, payment):
    row = parts.simulator.payment(payment)
    body = {"eventType": "PAYMENT_STATUS_CHANGED", "createdAt": "2026-11-29T12:00:00.000000",
            "data": {"paymentKey": row["ref"] if row else "never-heard-of", "orderId": payment, "status": "CANCELED"}}
    answer = parts.api.call("POST", "/v1/payments/webhooks/toss", {}, body)
    assert answer.status == 200, answer.body
    return answer["recorded"]


def staff_cancel(parts, payment):
    reference = parts.simulator.payment(payment)["ref"]
    assert parts.simulator.toss("POST", f"/{reference}/cancel", {"cancelReason": "staff"}).status == 200


def looked_until(parts, purchase, end):
    """Reconcile comes by, and nothing is made due by the test."""
    until(lambda: (parts.reconcile(expect=None), purchase.status() == end)[1], 10, end, every=0.2)


def test_news_within_the_same_second(toss):
    """The second webhook tells of something else than the first, and nobody will send it again."""
    purchase = Purchase(toss)
    assert purchase.pay() == "paid"
    assert hint(toss, purchase.payment())
    toss.reconcile()
    staff_cancel(toss, purchase.payment())
    for _ in range(5):
        assert hint(toss, purchase.payment())
    looks = len(toss.simulator.calls(purchase.payment(), "order"))
    looked_until(toss, purchase, "CANCELED")
    assert purchase.assert_agrees() == "CANCELED"
    assert len(toss.simulator.calls(purchase.payment(), "order")) - looks <= 2, "a flood is a look or two"


@pytest.mark.parametrize("paid", [True, False])
def test_news_while_it_is_looked_up(toss, paid):
    """What the look found is older than the news: it is looked at once more."""
    purchase = Purchase(toss)
    back = purchase.press()
    if paid:
        assert result_of(purchase.come_back(back)) == "paid"
    else:
        toss.simulator.fault("approve.drop_after_commit")
        assert result_of(purchase.come_back(back)) == "confirming"
        toss.simulator.behave()
    hint(toss, purchase.payment())
    pid = reconcile_at(toss, "payment.looked")
    staff_cancel(toss, purchase.payment())
    assert hint(toss, purchase.payment())
    processes.cont(pid)
    until(lambda: purchase.status() == "CANCELED", 15, "the news is found", every=0.2)
    toss.stop_reconcile()
    assert purchase.assert_agrees() == "CANCELED"


def test_news_of_a_payment_in_use_while_it_is_looked_up(toss):
    """The member gave up at the provider and does not come back: that is not found only when the session has ended."""
    purchase = Purchase(toss)
    purchase.press()
    hint(toss, purchase.payment())
    pid = reconcile_at(toss, "payment.looked")
    purchase.press("cancel")
    assert hint(toss, purchase.payment())
    processes.cont(pid)
    until(lambda: purchase.status() == "PAYMENT_FAILED", 15, "the news is found", every=0.2)
    toss.stop_reconcile()
    assert purchase.assert_agrees() == "PAYMENT_FAILED"


@pytest.mark.parametrize("action, end", [("pay", "PAID"), ("cancel", "STOPPED"), (None, "READY")])
def test_a_flood_of_news_while_it_is_looked_up(toss, action, end):
    """Anybody can post a webhook, all the time: that is a look a second, and one payment does not keep reconcile."""
    purchase = Purchase(toss)
    back = purchase.press(action or "pay")
    if action:
        purchase.come_back(back)
    assert purchase.state() == end
    payment = purchase.payment()

    def looks():
        return len(toss.simulator.calls(payment, "order"))
    seen = before = looks()
    began = time.monotonic()
    hint(toss, payment)
    toss.simulator.fault("order.delay=200")
    running = reconcile_beside(toss)
    while running.poll() is None:
        if looks() > seen:  # during each look-up; all the time would lock the row, and end the pass by that
            seen = looks()
            hint(toss, payment)
    assert 1 <= seen - before <= time.monotonic() - began + 2


def test_news_of_a_payment_without_a_session(toss):
    """Its opening was lost, so we never learnt its name there: there is nothing that could be looked up, ever."""
    purchase = Purchase(toss)
    toss.simulator.fault("ready.drop_after_commit")
    assert_problem(purchase.start(), 503, "PAYMENT_UNAVAILABLE")
    toss.simulator.behave()
    assert hint(toss, purchase.payment())
    assert toss.postgres.value("SELECT retry_at IS NULL FROM payment WHERE id = %s", purchase.payment())


def reconcile_beside(parts):
    """One pass in a process that runs on."""
    with open(parts.logs / "reconcile.log", "ab") as log:
        return subprocess.Popen([parts.build / "sluice-reconcile", "--once", "--config", parts.config],
                                stdout=subprocess.DEVNULL, stderr=log)
