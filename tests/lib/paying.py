"""Paying, as members, providers and books see it: one order from the queue to its end."""

from lib.api import some_name
from lib.client import new_key
from lib.parts import Parts
from lib.payments import PaymentSimulator, query_of
from lib.wait import until

# Short times, so that tests need not be long. A session is longer than any test; tests end it by SQL.
SETTINGS = {"payment_timeout_ms": 1500, "payment_connect_timeout_ms": 500, "payment_session_seconds": 600,
            "payment_grace_seconds": 8}
WORKERS = 6


class PayingParts(Parts):
    """All parts, and a simulator as their payment provider."""

    def __init__(self, directory, provider="kakaopay", **settings):
        self.simulator = PaymentSimulator(directory)
        super().__init__(directory, queue_workers=1, order_workers=2, payment_workers=WORKERS,
                         **{**SETTINGS, **self.simulator.settings(provider), **settings})

    def settle(self, fixtures=()):
        if not self.simulator.process.alive():
            self.simulator.start()
        self.simulator.behave()
        super().settle(fixtures)
        # What the test before has left open, perhaps at another provider, is nobody's business any more.
        self.postgres.query("UPDATE payment SET needs_person = false, retry_at = NULL WHERE needs_person OR retry_at IS NOT NULL")

    def stop(self):
        self.simulator.kill()
        super().stop()

    # What reconcile will find

    def make_due(self):
        """Whatever waits to be looked at is looked at now."""
        self.postgres.query("UPDATE payment SET retry_at = now() WHERE retry_at IS NOT NULL")

    def end_session(self, payment):
        """The provider's session and the grace are over, by our clock; the simulator's goes on."""
        self.postgres.query("UPDATE payment SET session_ends_at = now() - interval '2 s', final_at = now() - interval '1 s',"
                            " retry_at = now() WHERE id = %s AND state <> 'CANCELED'", payment)

    def settle_payments(self, check, seconds=15, what="payments are settled"):
        """Reconcile, until `check` holds."""
        def settled():
            self.make_due()
            self.reconcile(expect=None)
            return check()
        return until(settled, seconds, what, every=0.1)

    def paid_for(self, order):
        """What the provider has kept of an order's money, by its own ledger."""
        ids = {row[0] for row in self.postgres.query("SELECT id FROM payment WHERE order_id = %s", order)}
        return sum(kept for payment, kept in self.simulator.kept().items() if payment in ids)


class Purchase:
    """A member with an order of one product, of which there is nothing else; with `tax_free` also of one piece of another
    product, which has that price and is tax-free."""

    def __init__(self, parts, amount=1000, quantity=2, stock=10, name=None, member=None, queue=None, tax_free=0):
        self.parts, self.api, self.stock = parts, parts.api, stock
        self.queue = queue or self.api.queue()
        self.sku = some_name("sku")
        self.put_product(self.sku, name or f"Product {self.sku}", amount, stock)
        items = [{"sku": self.sku, "quantity": quantity}]
        if tax_free:
            items.append({"sku": some_name("sku"), "quantity": 1})
            self.put_product(items[1]["sku"], "A book", tax_free, 1, taxFree=True)
        self.member = member or self.api.ready_member(self.queue)
        self.answer = self.member.order(self.queue, items, key=new_key())
        assert self.answer.status == 201, self.answer.body
        self.order, self.total, self.quantity = self.answer["id"], amount * quantity + tax_free, quantity
        self.url = None

    def put_product(self, sku, name, amount, stock, **more):
        answer = self.api.admin("PUT", f"/products/{sku}", {
            "name": name, "price": {"amount": amount, "currency": "KRW"}, "stock": stock, "queue": self.queue, **more})
        assert answer.status == 201, answer.body

    # Calls

    def start_call(self):
        return "POST", f"/v1/orders/{self.order}/payment", self.member.headers(), None

    def start(self):
        answer = self.api.call(*self.start_call())
        if answer.status in (200, 201):
            self.url = answer["redirectUrl"]
        return answer

    def press(self, action="pay", method="money"):
        """Goes to the provider and presses; returns where the browser is sent."""
        if self.url is None:
            assert self.start().status == 201
        return self.parts.simulator.press(self.url, action, method)

    def back_call(self, path, **headers):
        return "GET", path, headers, None

    def come_back(self, path):
        return self.api.call(*self.back_call(path))

    def pay(self):
        """All of it; returns what the result page is told."""
        return result_of(self.come_back(self.press()))

    def cancel_call(self):
        return "POST", f"/v1/orders/{self.order}/cancel", self.member.headers(), None

    def cancel(self):
        return self.api.call(*self.cancel_call())

    # How it stands

    def seen(self):
        """The order as the member sees it."""
        def ask():
            answer = self.api.call("GET", f"/v1/orders/{self.order}", self.member.headers())
            assert answer.status in (200, 503), answer.body
            return answer.json if answer.status == 200 else None
        return until(ask, 10, "the order; PostgreSQL may have been away a moment ago")

    def status(self):
        return self.seen()["status"]

    def payments(self):
        """Its payments, the oldest first: (id, state)."""
        return self.parts.postgres.query("SELECT id, state FROM payment WHERE order_id = %s ORDER BY created_at, id",
                                         self.order)

    def payment(self):
        """The id of the only one."""
        (row,) = self.payments()
        return row[0]

    def looks_are_over(self):
        """Whether its only payment is settled: reconcile does not look at it again, and nobody has to."""
        return self.parts.postgres.value("SELECT retry_at IS NULL AND NOT needs_person FROM payment WHERE id = %s",
                                         self.payment())

    def state(self):
        (row,) = self.payments()
        return row[1]

    def rows(self):
        """All that is written about it, to see that nothing was."""
        return (self.parts.postgres.query("SELECT * FROM payment WHERE order_id = %s ORDER BY id", self.order),
                self.parts.postgres.query("SELECT * FROM customer_order WHERE id = %s", self.order))

    def left(self):
        return self.parts.postgres.value("SELECT available FROM product WHERE sku = %s", self.sku)

    def kept(self):
        return self.parts.paid_for(self.order)

    def approvals(self):
        """How often the provider was told to take the money."""
        return len(self.parts.simulator.calls(self.payment(), "approve"))

    def assert_agrees(self):
        """Money and goods agree: all of both, or nothing of either."""
        status, kept, left = self.status(), self.kept(), self.left()
        if status == "PAID":
            assert (kept, left) == (self.total, self.stock - self.quantity), (status, kept, left)
        else:
            assert status in ("CANCELED", "EXPIRED", "PAYMENT_FAILED"), status
            assert (kept, left) == (0, self.stock), (status, kept, left)
        return status


def result_of(answer):
    """The word that the result page gets."""
    assert answer.status == 303, (answer.status, answer.body)
    assert answer.headers["cache-control"] == "no-store"
    assert answer.headers["referrer-policy"] == "no-referrer"
    return query_of(answer.headers["location"])["payment"]
