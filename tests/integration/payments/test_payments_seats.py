"""Seats that are paid for: what becomes of them is what becomes of the money."""

import pytest

from lib import processes
from lib.background_call import BackgroundCall
from lib.client import new_key
from lib.paying import Purchase, result_of
from lib.wait import until


class SeatPurchase(Purchase):
    """A member with an order of all seats of a show but one."""

    def __init__(self, parts):
        self.parts, self.api, self.url = parts, parts.api, None
        self.queue = self.api.queue()
        self.show = self.api.show(self.queue, ["A-1", "A-2", "A-3"], amount=1000)
        self.member = self.api.ready_member(self.queue)
        held = until(lambda: (answer := self.member.hold(self.show, "A-1", "A-2")).status != 503 and answer, 10)
        assert held.status == 201, held.body
        self.answer = self.member.order_seats(self.queue, self.show, ["A-1", "A-2"], key=new_key())
        assert self.answer.status == 201, self.answer.body
        self.order, self.total = self.answer["id"], 2000

    def seats(self):
        return self.api.seat_states(self.show, self.member)

    def live(self):
        return self.parts.postgres.value("SELECT count(*) FROM order_seat WHERE order_id = %s AND live", self.order)

    def assert_seats(self, state):
        until(lambda: self.seats() == {"A-1": state, "A-2": state, "A-3": "AVAILABLE"}, 5, f"{state}: {self.seats()}")

    def assert_agrees(self):
        status, kept = self.status(), self.kept()
        if status == "PAID":
            assert (kept, self.live()) == (self.total, 2)
            self.assert_seats("SOLD*")
        else:
            assert (kept, self.live()) == (0, 0), status
            self.assert_seats("AVAILABLE")
        return status


@pytest.fixture
def seats(paying):
    return SeatPurchase(paying)


def test_held_until_paid_then_sold_then_given_back_once(paying, seats):
    seats.assert_seats("HELD*")
    assert seats.start().status == 201
    assert seats.pay() == "paid"
    assert seats.assert_agrees() == "PAID"
    answers = seats.api.together([seats.cancel_call()] * 5)
    assert {answer.status for answer in answers} <= {200, 409}
    until(lambda: seats.status() == "CANCELED", 10, "the refund")
    assert seats.assert_agrees() == "CANCELED"
    assert seats.member.order_seats(seats.queue, seats.show, ["A-1"]).code == "ENTRY_TOKEN_INVALID", "one order a turn"
    other = seats.api.ready_member(seats.queue)
    assert other.hold(seats.show, "A-1", "A-2").status == 201


@pytest.mark.parametrize("action, status", [("cancel", "CANCELED"), ("fail", "PAYMENT_FAILED")])
def test_free_again_at_once_where_the_member_turns_back(seats, action, status):
    seats.come_back(seats.press(action))
    assert seats.assert_agrees() == status


def test_nobody_else_has_them_while_it_is_not_known(paying, seats):
    """The answer to the approval is lost; the order's time runs out meanwhile."""
    paying.simulator.fault("approve.drop_after_commit", "order.drop_before_commit")
    assert result_of(seats.come_back(seats.press())) == "confirming"
    paying.postgres.query("UPDATE customer_order SET expires_at = now() - interval '1 s' WHERE id = %s", seats.order)
    paying.reconcile(expect=None)
    seats.assert_seats("HELD*")
    assert seats.api.ready_member(seats.queue).hold(seats.show, "A-1").code == "SEATS_TAKEN"
    paying.simulator.behave()
    paying.settle_payments(lambda: seats.state() == "PAID")
    assert seats.assert_agrees() == "PAID"


def test_a_payment_that_comes_too_late_is_given_back(paying, seats):
    """The seats went on to somebody else while the worker that was told of the money stood still."""
    back = seats.press()
    paying.simulator.fault("approve.drop_after_commit", "order.drop_before_commit")
    assert result_of(seats.come_back(back)) == "confirming"
    # What no run of ours does: the order ends although a payment of it is open.
    paying.postgres.query("UPDATE payment SET state = 'EXPIRED', retry_at = now() WHERE order_id = %s", seats.order)
    paying.postgres.query("SELECT order_end(%s, 'EXPIRED')", seats.order)
    paying.reconcile(expect=None)
    seats.assert_seats("AVAILABLE")
    other = seats.api.ready_member(seats.queue)
    assert other.hold(seats.show, "A-1", "A-2").status == 201
    assert other.order_seats(seats.queue, seats.show, ["A-1", "A-2"], key=new_key()).status == 201
    paying.simulator.behave()
    paying.settle_payments(lambda: seats.state() == "CANCELED", what="the refund")
    assert (seats.status(), seats.kept(), seats.live()) == ("EXPIRED", 0, 0)
    assert seats.api.seat_states(seats.show, other) == {"A-1": "HELD*", "A-2": "HELD*", "A-3": "AVAILABLE"}


def test_killed_between_the_money_and_the_seats(paying, seats):
    back = seats.press()
    paying.arm_pause("payment.approved")
    behind = BackgroundCall(lambda: paying.api.call(*seats.back_call(back)))
    processes.kill9(paying.wait_hit("payment.approved"))
    behind.wait()
    seats.assert_seats("HELD*")
    paying.settle_payments(lambda: seats.state() == "PAID")
    assert seats.assert_agrees() == "PAID"
