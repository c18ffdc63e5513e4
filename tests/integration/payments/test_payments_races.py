"""Two things at once about one payment, workers that stand still or die in the middle, a provider that is not there:
one of them wins, and money and goods agree."""

import random
import threading

import pytest

from lib import processes
from lib.client import assert_problem
from lib.paying import WORKERS, Purchase, result_of
from lib.wait import until


@pytest.fixture
def purchase(paying):
    return Purchase(paying)


class Behind:
    """A call that goes on while the test does other things."""

    def __init__(self, api, *call):
        self.answer, self.error = None, None

        def run():
            try:
                self.answer = api.call(*call, timeout=30)
            except Exception as error:  # the worker was killed
                self.error = error
        self.thread = threading.Thread(target=run, daemon=True)
        self.thread.start()

    def end(self, seconds=30):
        self.thread.join(3 * seconds)
        assert not self.thread.is_alive()
        return self.answer


def held_at(paying, step, *call):
    """A call whose worker stands still at `step`; (call, pid)."""
    paying.arm_pause(step)
    behind = Behind(paying.api, *call)
    return behind, paying.wait_hit(step)


# Cancel against approve

def test_cancel_and_approve_at_once(paying):
    """Unarranged, many times, sometimes with one a little ahead."""
    seen = set()
    queue = paying.api.queue()
    members = paying.api.ready_members(queue, 24)
    purchases = [Purchase(paying, queue=queue, member=member) for member in members]
    backs = [purchase.press() for purchase in purchases]
    for number, (purchase, back) in enumerate(zip(purchases, backs)):
        calls = [purchase.back_call(back), purchase.cancel_call()]
        if number % 2:
            calls.reverse()
        paying.simulator.fault(f"approve.delay={number % 4 * 5}")
        paying.api.together(calls + [purchase.back_call(back)] * (number % 3))
    paying.simulator.behave()
    for purchase in purchases:
        until(lambda p=purchase: p.status() in ("PAID", "CANCELED"), 10, "it ends")
        seen.add(purchase.assert_agrees())
    assert paying.postgres.value("SELECT count(*) FROM payment WHERE state NOT IN ('PAID', 'STOPPED', 'CANCELED')"
                                 " AND order_id = ANY (%s)", [p.order for p in purchases]) == 0
    assert seen == {"PAID", "CANCELED"}, "each of them has won"


def test_cancel_while_it_is_being_approved(paying, purchase):
    back = purchase.press()
    behind, pid = held_at(paying, "payment.approving", *purchase.back_call(back))
    problem = assert_problem(purchase.cancel(), 409, "PAYMENT_IN_PROGRESS")
    assert problem["status"] == 409 and purchase.status() == "PENDING_PAYMENT"
    assert_problem(purchase.start(), 409, "PAYMENT_IN_PROGRESS")
    assert result_of(purchase.come_back(back)) == "confirming"
    assert result_of(purchase.come_back(back.replace("/approve?", "/cancel?"))) == "confirming", "too late to stop it"
    processes.cont(pid)
    assert result_of(behind.end()) == "paid"
    assert purchase.approvals() == 1 and purchase.assert_agrees() == "PAID"


def test_cancel_once_the_money_is_taken(paying, purchase):
    back = purchase.press()
    behind, pid = held_at(paying, "payment.approved", *purchase.back_call(back))
    assert purchase.kept() == purchase.total
    assert_problem(purchase.cancel(), 409, "PAYMENT_IN_PROGRESS")
    processes.cont(pid)
    assert result_of(behind.end()) == "paid"
    assert purchase.cancel()["status"] == "CANCELED"
    assert purchase.assert_agrees() == "CANCELED"


def test_two_refunds_at_once(paying, purchase):
    """The member's and reconcile's, the one held between the look and the call, the other between the call and the record."""
    assert purchase.pay() == "paid"
    behind, pid = held_at(paying, "payment.canceling", *purchase.cancel_call())
    paying.settle_payments(lambda: purchase.status() == "CANCELED")
    processes.cont(pid)
    assert behind.end()["status"] in ("CANCELED", "CANCEL_REQUESTED")
    row = paying.simulator.payment(purchase.payment())
    assert (row["taken"], row["given_back"]) == (purchase.total, purchase.total)
    assert purchase.assert_agrees() == "CANCELED"


def test_a_refund_recorded_twice(paying, purchase):
    assert purchase.pay() == "paid"
    behind, pid = held_at(paying, "payment.canceled", *purchase.cancel_call())
    paying.settle_payments(lambda: purchase.status() == "CANCELED")
    processes.cont(pid)
    assert behind.end()["status"] in ("CANCELED", "CANCEL_REQUESTED")
    assert purchase.assert_agrees() == "CANCELED"
    assert len(paying.simulator.calls(purchase.payment(), "cancel")) == 1


def act_in_between(paying, purchase, back, action):
    """Something that others do while a worker stands still."""
    if action == "cancel":
        purchase.cancel()
    elif action == "return":
        purchase.come_back(back)
    elif action in ("left", "failed"):
        purchase.come_back(back.replace("/approve?", "/cancel?" if action == "left" else "/fail?"))
    elif action == "start":
        purchase.start()
    elif action == "over":
        paying.end_session(purchase.payment())
    paying.make_due()
    paying.reconcile(expect=None)


@pytest.mark.limit(120)
def test_whatever_happens_in_between(paying):
    """At each step that counts a worker stands still while others do what they like; then it goes on, or is killed."""
    seed = random.randrange(1 << 32)
    print("seed", seed)
    draw = random.Random(seed)
    queue = paying.api.queue()
    steps = ["payment.approving", "payment.approved", "payment.canceling", "payment.canceled"]
    ends = set()
    for number in range(8):
        purchase = Purchase(paying, queue=queue)
        step, back = steps[number % len(steps)], purchase.press()
        if step.startswith("payment.cancel"):
            assert result_of(purchase.come_back(back)) == "paid"
            behind, pid = held_at(paying, step, *purchase.cancel_call())
        else:
            behind, pid = held_at(paying, step, *purchase.back_call(back))
        actions = draw.choices(["cancel", "return", "left", "failed", "start", "over"], k=draw.randrange(1, 4))
        for action in actions:
            act_in_between(paying, purchase, back, action)
        killed = draw.random() < 0.5
        (processes.kill9 if killed else processes.cont)(pid)
        behind.end()
        paying.all_workers("payment")
        paying.end_session(purchase.payment())
        paying.settle_payments(lambda: purchase.status() not in ("PENDING_PAYMENT", "CANCEL_REQUESTED") and
                               purchase.state() not in ("APPROVING", "UNKNOWN", "CANCEL_REQUESTED"),
                               what=f"{step} {actions} {'killed' if killed else 'woken'}")
        ends.add(purchase.assert_agrees())
    assert "PAID" in ends or "CANCELED" in ends


# Expiry, reconcile and workers that wake up late

def test_expiry_against_approve(paying, purchase):
    """The order's time is over while it is being approved: it is not given away."""
    back = purchase.press()
    behind, pid = held_at(paying, "payment.approving", *purchase.back_call(back))
    paying.postgres.query("UPDATE customer_order SET expires_at = now() - interval '1 s' WHERE id = %s", purchase.order)
    paying.reconcile()
    assert purchase.status() == "PENDING_PAYMENT"
    processes.cont(pid)
    assert result_of(behind.end()) == "paid"
    assert purchase.assert_agrees() == "PAID"


def test_approving_lengthens_the_order(paying, purchase):
    back = purchase.press()
    paying.postgres.query("UPDATE customer_order SET expires_at = now() + interval '1 s' WHERE id = %s", purchase.order)
    behind, pid = held_at(paying, "payment.approving", *purchase.back_call(back))
    left = paying.postgres.value("SELECT extract(epoch FROM expires_at - now()) FROM customer_order WHERE id = %s",
                                 purchase.order)
    assert left > 1.5 * 2, "longer than the call may take"
    processes.cont(pid)
    assert result_of(behind.end()) == "paid"


def test_a_worker_that_wakes_up_late_does_not_approve(paying, purchase):
    """It slept between its turn and the call; meanwhile the payment was looked up and ended."""
    back = purchase.press()
    behind, pid = held_at(paying, "payment.approving", *purchase.back_call(back))
    paying.settle_payments(lambda: purchase.state() == "UNKNOWN", what="it is in doubt")
    assert purchase.status() == "PENDING_PAYMENT" and result_of(purchase.come_back(back)) == "confirming"
    paying.end_session(purchase.payment())
    paying.settle_payments(lambda: purchase.state() == "EXPIRED")
    assert purchase.status() == "EXPIRED"
    # Its call is made within three seconds of its turn, or not at all.
    until(lambda: paying.postgres.value(
        "SELECT now() - at > interval '3.2 s' FROM payment_event WHERE payment_id = %s AND to_state = 'APPROVING'",
        purchase.payment()), 10, "its turn is long past")
    processes.cont(pid)
    assert result_of(behind.end()) == "refused"
    assert purchase.approvals() == 0 and purchase.assert_agrees() == "EXPIRED"


def test_a_worker_that_wakes_up_late_with_the_money_gives_it_back(paying, purchase):
    """The provider took it, and the order was given away before that was recorded."""
    back = purchase.press()
    behind, pid = held_at(paying, "payment.approved", *purchase.back_call(back))
    paying.postgres.query("SELECT payment_in_doubt.* FROM payment_unknown(%s, 1, 'test') AS payment_in_doubt",
                          purchase.payment())
    paying.postgres.query("SELECT payment_unpaid(%s, 'EXPIRED', true, true, 'test')", purchase.payment())
    assert purchase.status() == "EXPIRED" and purchase.kept() == purchase.total
    processes.cont(pid)
    assert result_of(behind.end()) == "refunded"
    paying.settle_payments(lambda: purchase.state() == "CANCELED")
    assert purchase.assert_agrees() == "EXPIRED"
    paying.settle_payments(lambda: True)
    assert purchase.left() == purchase.stock, "the goods came back once"


def test_reconcile_finds_the_money_before_the_worker_records_it(paying, purchase):
    back = purchase.press()
    behind, pid = held_at(paying, "payment.approved", *purchase.back_call(back))
    paying.settle_payments(lambda: purchase.state() == "PAID")
    processes.cont(pid)
    assert result_of(behind.end()) == "paid"
    assert purchase.assert_agrees() == "PAID"


def test_a_start_that_comes_too_late_is_another_s(paying, purchase):
    """Its worker slept; the member has begun anew. One payment is open, and the late one has no address."""
    behind, pid = held_at(paying, "payment.started", *purchase.start_call())
    assert_problem(purchase.start(), 409, "PAYMENT_IN_PROGRESS")
    paying.postgres.query("UPDATE payment SET created_at = created_at - interval '1 hour' WHERE order_id = %s", purchase.order)
    assert purchase.start().status == 201
    processes.cont(pid)
    assert_problem(behind.end(), 409, "PAYMENT_IN_PROGRESS")
    assert [state for _, state in purchase.payments()] == ["FAILED", "READY"]
    assert result_of(purchase.come_back(purchase.press())) == "paid"
    assert purchase.assert_agrees() == "PAID"


def test_an_order_canceled_while_its_payment_starts(paying, purchase):
    behind, pid = held_at(paying, "payment.started", *purchase.start_call())
    assert purchase.cancel()["status"] == "CANCELED"
    processes.cont(pid)
    assert behind.end().code in ("PAYMENT_IN_PROGRESS", "ORDER_NOT_PAYABLE")
    assert (purchase.state(), purchase.assert_agrees()) == ("FAILED", "CANCELED")


# A worker dies at each step

def kill_at(paying, step, *call):
    behind, pid = held_at(paying, step, *call)
    processes.kill9(pid)
    behind.end()
    paying.all_workers("payment")


@pytest.mark.parametrize("step", ["payment.starting", "payment.started"])
def test_killed_while_starting(paying, purchase, step):
    kill_at(paying, step, *purchase.start_call())
    assert purchase.state() == "STARTING" and purchase.status() == "PENDING_PAYMENT"
    assert_problem(purchase.start(), 409, "PAYMENT_IN_PROGRESS")
    paying.settle_payments(lambda: purchase.state() == "FAILED")
    assert purchase.status() == "PENDING_PAYMENT", "the member may begin anew"
    assert purchase.pay() == "paid"
    assert purchase.assert_agrees() == "PAID"


def test_killed_before_the_call_to_the_provider(paying, purchase):
    back = purchase.press()
    kill_at(paying, "payment.approving", *purchase.back_call(back))
    assert purchase.state() == "APPROVING" and result_of(purchase.come_back(back)) == "confirming"
    paying.settle_payments(lambda: purchase.state() == "UNKNOWN")
    assert_problem(purchase.start(), 409, "PAYMENT_IN_PROGRESS")
    assert_problem(purchase.cancel(), 409, "PAYMENT_IN_PROGRESS")
    paying.end_session(purchase.payment())
    paying.settle_payments(lambda: purchase.state() == "EXPIRED")
    assert purchase.assert_agrees() == "EXPIRED"


def test_killed_with_the_money_taken(paying, purchase):
    back = purchase.press()
    kill_at(paying, "payment.approved", *purchase.back_call(back))
    assert purchase.state() == "APPROVING" and purchase.kept() == purchase.total
    assert result_of(purchase.come_back(back)) == "confirming"
    paying.settle_payments(lambda: purchase.state() == "PAID")
    assert result_of(purchase.come_back(back)) == "paid"
    assert purchase.approvals() == 1 and purchase.assert_agrees() == "PAID"


@pytest.mark.parametrize("step", ["payment.canceling", "payment.canceled"])
def test_killed_while_giving_back(paying, purchase, step):
    assert purchase.pay() == "paid"
    kill_at(paying, step, *purchase.cancel_call())
    assert purchase.status() == "CANCEL_REQUESTED" and purchase.left() == purchase.stock - purchase.quantity
    assert purchase.cancel()["status"] == "CANCEL_REQUESTED"
    paying.settle_payments(lambda: purchase.status() == "CANCELED")
    assert purchase.assert_agrees() == "CANCELED"
    assert len(paying.simulator.calls(purchase.payment(), "cancel")) == 1


# The provider is not there, or leaves in the middle

def test_the_provider_is_away(paying, purchase):
    paying.simulator.kill()
    answer = purchase.start()
    assert_problem(answer, 503, "PAYMENT_UNAVAILABLE")
    assert int(answer.headers["retry-after"]) >= 1
    assert purchase.state() == "FAILED" and purchase.status() == "PENDING_PAYMENT"
    paying.simulator.start()
    back = purchase.press()
    paying.simulator.kill()
    assert result_of(purchase.come_back(back)) == "unavailable", "nothing was sent, so nothing was taken"
    assert purchase.payments()[-1][1] == "READY"
    paying.simulator.start()
    assert result_of(purchase.come_back(back)) == "paid", "the same address pays"
    paying.simulator.kill()
    assert purchase.cancel()["status"] == "CANCEL_REQUESTED"
    assert purchase.left() == purchase.stock - purchase.quantity, "the goods come back with the money"
    paying.reconcile(expect=None)
    assert purchase.status() == "CANCEL_REQUESTED"
    paying.simulator.start()
    paying.settle_payments(lambda: purchase.status() == "CANCELED")
    assert purchase.assert_agrees() == "CANCELED"


@pytest.mark.parametrize("fault", ["drop_after_commit", "http_500_after", "bad_json", "slow_drip", "late=400"])
def test_an_approval_whose_answer_is_lost(paying, purchase, fault):
    back = purchase.press()
    paying.simulator.fault(f"approve.{fault}")
    assert result_of(purchase.come_back(back)) in ("confirming", "paid"), "never: failed"
    assert purchase.status() in ("PENDING_PAYMENT", "PAID")
    paying.simulator.behave()
    if purchase.status() != "PAID":
        assert_problem(purchase.start(), 409, "PAYMENT_IN_PROGRESS")
        paying.settle_payments(lambda: purchase.state() == "PAID")
    assert result_of(purchase.come_back(back)) == "paid"
    assert purchase.approvals() == 1 and purchase.assert_agrees() == "PAID"


def test_an_approval_that_never_arrived(paying, purchase):
    back = purchase.press()
    paying.simulator.fault("approve.http_500_before")
    assert result_of(purchase.come_back(back)) == "confirming"
    paying.simulator.behave()
    paying.settle_payments(lambda: True)
    assert (purchase.state(), purchase.status()) == ("UNKNOWN", "PENDING_PAYMENT"), "not final yet"
    paying.end_session(purchase.payment())
    paying.settle_payments(lambda: purchase.state() == "EXPIRED")
    assert purchase.assert_agrees() == "EXPIRED"


def test_taken_there_after_it_ended_here(paying, purchase):
    """The provider's clock is behind, or its approval late: found by the one more look, and given back."""
    back = purchase.press()
    paying.simulator.fault("approve.late=2500")
    assert result_of(purchase.come_back(back)) == "confirming"
    paying.simulator.behave()
    paying.end_session(purchase.payment())
    paying.reconcile(expect=None)
    assert (purchase.state(), purchase.status()) == ("EXPIRED", "EXPIRED")
    until(lambda: purchase.kept() == purchase.total, 10, "the late approval")
    # Another shop's number was set meanwhile: the provider does not know the payment, which says nothing about the money.
    paying.simulator.fault("order.error=-721")
    paying.allowed_errors.add("payment.not_settled")
    paying.make_due()
    assert f"needs a person: payment {purchase.payment()}" in paying.reconcile(expect=1)
    paying.simulator.behave()
    paying.settle_payments(lambda: purchase.state() == "CANCELED")
    assert purchase.assert_agrees() == "EXPIRED"


def declined(paying, purchase):
    back = purchase.press()
    paying.simulator.fault("approve.error=-780")
    assert result_of(purchase.come_back(back)) == "refused"
    assert purchase.state() == "FAILED"


def undone(paying, purchase):
    back = purchase.press()
    paying.simulator.fault("approve.error=-701")
    assert result_of(purchase.come_back(back)) == "unavailable"
    assert purchase.state() == "READY"


def stopped(paying, purchase):
    undone(paying, purchase)
    assert purchase.cancel()["status"] == "CANCELED"
    assert purchase.state() == "STOPPED"


def looked_at(paying, purchase):
    """In doubt, and the last look was answered; an operator wants another one."""
    back = purchase.press()
    paying.simulator.fault("approve.http_500_before")
    assert result_of(purchase.come_back(back)) == "confirming"
    paying.simulator.behave()
    paying.end_session(purchase.payment())
    paying.settle_payments(lambda: purchase.state() == "EXPIRED" and purchase.looks_are_over())


@pytest.mark.parametrize("ended, end", [(declined, "PAYMENT_FAILED"), (undone, "EXPIRED"), (stopped, "CANCELED"),
                                        (looked_at, "EXPIRED")])
def test_what_certainly_took_nothing_needs_no_person(paying, purchase, ended, end):
    """Another shop's number was set meanwhile. Nobody could do anything about a payment that is not known there."""
    ended(paying, purchase)
    paying.simulator.fault("order.error=-721")
    paying.end_session(purchase.payment())
    assert paying.api.admin("POST", f"/payments/{purchase.payment()}/look")["due"]
    paying.reconcile()
    paying.make_due()
    paying.reconcile()
    assert purchase.looks_are_over()
    assert purchase.assert_agrees() == end


def test_taken_though_postgres_has_lost_the_approval(paying, purchase):
    """It failed over to a copy that had not heard of it, and the provider does not answer: the goods are free, the money is
    found later and given back."""
    back = purchase.press()
    kill_at(paying, "payment.approved", *purchase.back_call(back))
    assert purchase.kept() == purchase.total
    paying.postgres.query("UPDATE payment SET state = 'READY', approvals = 0 WHERE id = %s", purchase.payment())
    paying.simulator.fault("order.http_500_before")
    paying.allowed_errors.add("payment.not_settled")
    paying.end_session(purchase.payment())
    paying.reconcile(expect=None)
    assert (purchase.state(), purchase.status(), purchase.left()) == ("EXPIRED", "EXPIRED", purchase.stock)
    paying.simulator.behave()
    paying.settle_payments(lambda: purchase.state() == "CANCELED")
    assert purchase.assert_agrees() == "EXPIRED"


@pytest.mark.parametrize("fault", ["drop_before_commit", "drop_after_commit", "http_500_after", "bad_json"])
def test_a_refund_whose_answer_is_lost(paying, purchase, fault):
    assert purchase.pay() == "paid"
    paying.simulator.fault(f"cancel.{fault}")
    assert purchase.cancel()["status"] == "CANCEL_REQUESTED"
    paying.simulator.behave()
    paying.settle_payments(lambda: purchase.status() == "CANCELED")
    row = paying.simulator.payment(purchase.payment())
    assert (row["taken"], row["given_back"]) == (purchase.total, purchase.total)
    assert purchase.assert_agrees() == "CANCELED"


def test_postgres_away_while_the_money_is_taken(paying, purchase):
    back = purchase.press()
    behind, pid = held_at(paying, "payment.approved", *purchase.back_call(back))
    paying.postgres.kill()
    processes.cont(pid)
    assert result_of(behind.end()) == "confirming"
    paying.postgres.start()
    paying.settle_payments(lambda: purchase.state() == "PAID", 20)
    assert purchase.assert_agrees() == "PAID"


def test_what_the_provider_says_is_compared(paying, purchase):
    """Another amount was taken than was to be: nobody guesses, a person looks."""
    back = purchase.press()
    behind, pid = held_at(paying, "payment.approved", *purchase.back_call(back))
    paying.postgres.query("UPDATE payment SET amount = amount + 1 WHERE id = %s", purchase.payment())
    processes.cont(pid)
    assert result_of(behind.end()) == "confirming"
    assert paying.postgres.query("SELECT state, needs_person FROM payment WHERE id = %s", purchase.payment()) == [
        ("UNKNOWN", True)]
    assert purchase.status() == "PENDING_PAYMENT"
    paying.allowed_errors.add("payment.amount_differs")
    paying.postgres.query("UPDATE payment SET amount = amount - 1 WHERE id = %s", purchase.payment())
    paying.settle_payments(lambda: purchase.state() == "PAID")


def test_a_slow_provider_takes_no_worker_from_orders(paying):
    """Every worker of the payment pool waits, and more wait for them: orders go on as if nothing were."""
    queue = paying.api.queue()
    purchases = [Purchase(paying, queue=queue) for _ in range(WORKERS + 2)]
    buyer = paying.api.ready_member(queue)
    sku = purchases[0].sku
    paying.simulator.fault("ready.delay=1200")
    starts = [Behind(paying.api, *purchase.start_call()) for purchase in purchases]
    until(lambda: paying.postgres.value("SELECT count(*) FROM payment WHERE state = 'STARTING' AND order_id = ANY (%s)",
                                        [p.order for p in purchases]) == WORKERS, 10, "all workers wait")
    answer = buyer.order(queue, [{"sku": sku, "quantity": 1}])
    assert answer.status == 201
    assert answer.received - answer.sent < 1, "an order waits for no provider"
    assert {start.end().status for start in starts} == {201}


def test_postgres_away_when_the_member_starts_and_comes_back(paying, purchase):
    other = Purchase(paying)
    back = purchase.press()
    paying.postgres.kill()
    assert_problem(other.start(), 503, "ORDERS_UNAVAILABLE")
    assert_problem(purchase.come_back(back), 503, "ORDERS_UNAVAILABLE")
    assert_problem(purchase.cancel(), 503, "ORDERS_UNAVAILABLE")
    paying.postgres.start()
    until(lambda: purchase.come_back(back).status == 303, 15, "the database is found again", every=0.3)
    until(lambda: result_of(purchase.come_back(back)) == "paid", 10, "it is paid", every=0.3)
    paying.settle()
    assert purchase.approvals() == 1 and purchase.assert_agrees() == "PAID"


def test_several_reconcilers_divide_the_work(paying):
    """Each payment is looked up once, by one of them."""
    queue = paying.api.queue()
    purchases = [Purchase(paying, queue=queue) for _ in range(8)]
    backs = [purchase.press() for purchase in purchases]
    paying.simulator.fault("approve.drop_after_commit")
    answers = paying.api.together([p.back_call(back) for p, back in zip(purchases, backs)], WORKERS)
    assert {result_of(answer) for answer in answers} == {"confirming"}
    paying.simulator.behave()
    paying.make_due()
    threads = [threading.Thread(target=paying.reconcile, kwargs={"expect": None}) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {purchase.assert_agrees() for purchase in purchases} == {"PAID"}
    assert [len(paying.simulator.calls(purchase.payment(), "order")) for purchase in purchases] == [1] * len(purchases)


def test_what_cannot_be_settled_needs_a_person(paying, purchase):
    back = purchase.press()
    paying.simulator.fault("approve.drop_after_commit")
    assert result_of(purchase.come_back(back)) == "confirming"
    paying.simulator.kill()
    paying.postgres.query("UPDATE payment SET attempts = 9, retry_at = now() WHERE id = %s", purchase.payment())
    assert f"needs a person: payment {purchase.payment()} of order {purchase.order} is UNKNOWN: " in paying.reconcile(expect=1)
    paying.allowed_errors.add("payment.not_settled")
    attempts, wait, person = paying.postgres.query(
        "SELECT attempts, extract(epoch FROM retry_at - now()), needs_person FROM payment WHERE id = %s",
        purchase.payment())[0]
    assert attempts == 10 and 200 < wait < 380 and person, "later and later, and never given up"
    paying.simulator.start()
    paying.settle_payments(lambda: purchase.state() == "PAID")
    assert paying.postgres.value("SELECT needs_person FROM payment WHERE id = %s", purchase.payment()) is False
