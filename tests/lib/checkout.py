"""The checkout of the sample shop as the browser tests see it: visitors with an order to pay, and the simulator's
ledger, which says what was really paid."""

import json
import sqlite3
from contextlib import closing

from lib.api import some_name
from lib.project import ROOT

TEXTS = {language: json.loads((ROOT / "web" / "shop" / "assets" / "texts" / f"{language}.json").read_text())
         for language in ("en", "ko")}
EN = TEXTS["en"]
STATE = "document.getElementById('order')?.dataset.state === argument"
PROVIDER = "/_sluice/payment-simulator/pay/"
PRICE = 15000

# Makes an order as the product page does, in a page of the shop; gives it back.
ORDER = """(async () => {
    const call = async (method, path, body, headers) => {
        const answer = await fetch(path, {method, body: body && JSON.stringify(body), headers: {...headers,
            ...(body && {'Content-Type': 'application/json'})}});
        return answer.json();
    };
    await call('POST', `/v1/queues/${argument.queue}/entries`);
    for (;;) {
        const {entryToken} = await call('GET', `/v1/queues/${argument.queue}/position`);
        const headers = {'X-Entry-Token': entryToken, 'Idempotency-Key': 'order'};
        if (entryToken && argument.show)
            await call('POST', `/v1/shows/${argument.show}/holds`, {seats: argument.seats}, headers);
        if (entryToken)
            return call('POST', '/v1/orders', argument, headers);
        await new Promise((done) => setTimeout(done, 100));
    }
})()"""

# Runs before the page: a function of (path, options, send) may answer its requests in the place of the API.
MEDDLING = """
const send = window.fetch.bind(window);
window.fetch = (path, options) => (%s)(String(path), options || {}, () => send(path, options));
"""
REFUSED = """(path, options, send) => {
    const [code, status] = path.endsWith('/payment') && JSON.parse(sessionStorage.refusals || '%s').shift() || [];
    if (!code)
        return send();
    sessionStorage.refusals = JSON.stringify(JSON.parse(sessionStorage.refusals || '%s').slice(1));
    return new Response(JSON.stringify({code, instance: 'request'}), {status, headers: {'Retry-After': '1'}});
}"""


def refusing(*refusals):
    """The first requests to pay are refused with these (code, status)."""
    text = json.dumps(refusals)
    return MEDDLING % (REFUSED % (text, text))


class Ledger:
    """What the simulator of a running system did, by a product's name."""

    def __init__(self, stack):
        self.file = stack.data / "payment-simulator.sqlite"

    def _rows(self, query, *values):
        with closing(sqlite3.connect(f"file:{self.file}?mode=ro", uri=True)) as database:
            return database.execute(query, values).fetchall()

    def payments(self, name):
        return self._rows("SELECT ref FROM payment WHERE item_name LIKE ?", f"%{name}%")

    def kept(self, name):
        """Money that was taken and not given back."""
        (row,) = self._rows("SELECT COALESCE(sum(CASE kind WHEN 'PAYMENT' THEN amount ELSE -amount END), 0)"
                            " FROM action JOIN payment USING (ref) WHERE item_name LIKE ?", f"%{name}%")
        return row[0]


class Checkout:
    """A visitor with an unpaid order of something, on its page."""

    def __init__(self, running, browser, faults="", seats=None, **options):
        self.api, self.ledger = running.api, Ledger(running)
        self.queue = self.api.queue(some_name("checkout"), identity="visitor")
        self.sku, self.stock = some_name("piece"), 5
        wish = self._seats(seats) if seats else self._piece(faults)
        self.shop = f"http://127.0.0.1:{running.port}/shop"
        self.page = browser.page(**options)
        self.page.goto(f"{self.shop}/result.html")
        order = self.page.evaluate(ORDER, {"queue": self.queue, **wish})
        assert order["status"] == "PENDING_PAYMENT", order
        self.order = order["id"]
        self.page.goto(self.url)
        self.page.until(STATE, "TO_PAY")

    def _piece(self, faults):
        answer = self.api.admin("PUT", f"/products/{self.sku}", {
            "name": f"{self.sku}{f' sim:{faults}' if faults else ''}", "stock": self.stock, "queue": self.queue,
            "price": {"amount": PRICE, "currency": "KRW"}})
        assert answer.status == 201, answer.body
        return {"items": [{"sku": self.sku, "quantity": 1}]}

    def _seats(self, seats):
        concert = self.api.concert(title=self.sku)
        return {"show": self.api.show(self.queue, [*seats, "Z-1"], concert=concert, amount=PRICE), "seats": seats}

    @property
    def url(self):
        return f"{self.shop}/result.html?order={self.order}"

    def go_to_provider(self, page=None):
        page = page or self.page
        page.click("#pay")
        page.until(f"location.pathname.startsWith('{PROVIDER}') && document.readyState === 'complete'")

    def press(self, action="pay", method="money", page=None):
        """Presses on the provider's page and comes back."""
        page = page or self.page
        if method != "money":
            page.click(f"input[value={method}]")
        page.click(f"button[value={action}]")
        page.until("location.pathname === '/shop/result.html'")

    def pay(self, action="pay", method="money"):
        self.go_to_provider()
        self.press(action, method)

    def wait(self, state, seconds=20, page=None):
        (page or self.page).until(STATE, state, seconds)

    def cancel(self):
        self.page.click("#order-cancel summary")
        self.page.click("#cancel")

    def seen(self):
        return self.page.evaluate("fetch(`/v1/orders/${argument}`).then((answer) => answer.json())", self.order)

    def left(self):
        return self.api.admin("GET", f"/products/{self.sku}")["available"]

    def kept(self):
        return self.ledger.kept(self.sku)

    def payments(self):
        return len(self.ledger.payments(self.sku))
