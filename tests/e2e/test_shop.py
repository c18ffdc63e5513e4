"""The sample shop: its pages, its queues, products and coupons, and the way of a visitor through the gate to an order."""

import json
import re
import subprocess
from html.parser import HTMLParser

import pytest

from lib.client import assert_problem, new_key
from lib.project import ROOT, SCRIPTS
from lib.wait import until

SHOP = ROOT / "web" / "shop"
PAGES = sorted(path.name for path in SHOP.glob("*.html"))
TEXTS = {path.stem: json.loads(path.read_text()) for path in (SHOP / "assets" / "texts").glob("*.json")}
BROWSER = {"Accept": "text/html,application/xhtml+xml", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}
TYPES = {"html": "text/html; charset=utf-8", "css": "text/css; charset=utf-8", "js": "text/javascript; charset=utf-8",
         "json": "application/json", "svg": "image/svg+xml", "txt": "text/plain"}
FREE = ["result.html", "coupon.html", *sorted(str(path.relative_to(SHOP)) for path in SHOP.glob("assets/**/*.*"))]
SEEDS = {path.stem: json.loads(path.read_text()) for path in (SHOP / "seed").glob("*.json")}


class Page(HTMLParser):
    """What a page's markup says: elements with their attributes, and the text right after each begin tag."""

    def __init__(self, name):
        super().__init__()
        self.elements = []
        self.feed((SHOP / name).read_text())

    def handle_starttag(self, tag, attrs):
        self.elements.append([tag, dict(attrs), ""])

    def handle_data(self, data):
        if self.elements and not self.elements[-1][2]:
            self.elements[-1][2] = data


class Visitor:
    """A browser's cookies and what its pages do with the API."""

    def __init__(self, api):
        self.api = api
        self.cookies = {}
        self.token = None

    def call(self, method, path, headers=None, body=None):
        cookies = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        answer = self.api.call(method, path, {"Cookie": cookies, **(headers or {})} if cookies else headers, body)
        if "set-cookie" in answer.headers:
            name, _, value = answer.headers["set-cookie"].partition(";")[0].partition("=")
            self.cookies[name] = value
        return answer

    def open(self, page):
        return self.call("GET", f"/shop/{page}", BROWSER)

    def go_through(self):
        """From a page's address through the waiting room to that page."""
        assert self.open("product.html?sku=sample-mug").status == 503
        entered = self.call("POST", "/_sluice/queues/shop/entries")
        assert entered.status in (200, 201), entered.body

        def inside():
            answer = self.open("product.html?sku=sample-mug")
            return answer if answer.status == 200 else None
        # Where a test before has had Redis begin anew, nobody is let in for recoverySeconds.
        return until(inside, 50, "the shop's page")

    def order(self, sku, key):
        if not self.token:
            position = self.call("GET", "/v1/queues/shop/position")
            assert position["status"] == "READY"
            self.token = position["entryToken"]
        return self.call("POST", "/v1/orders", {"X-Entry-Token": self.token, "Idempotency-Key": key},
                         {"queue": "shop", "items": [{"sku": sku, "quantity": 1}]})


@pytest.fixture(scope="module")
def visitor(stack):
    visitor = Visitor(stack.api)
    visitor.go_through()
    return visitor


def assert_shop_answer(answer, path):
    assert answer.status == 200
    assert answer.headers["content-type"] == TYPES[path.rpartition(".")[2]]
    assert answer.headers["content-security-policy"].startswith("default-src 'self';")
    assert answer.headers["x-content-type-options"] == "nosniff" and answer.headers["x-request-id"]


@pytest.mark.parametrize("path", FREE)
def test_in_front_of_the_gate(api, path):
    answer = api.call("GET", f"/shop/{path}", BROWSER)
    assert_shop_answer(answer, path)
    assert answer.body == (SHOP / path).read_bytes()


@pytest.mark.parametrize("path", ["", "index.html", "product.html?sku=sample-mug", "seed/queue.json", "nothing.html"])
def test_behind_the_gate(api, path):
    answer = api.call("GET", f"/shop/{path}", BROWSER)
    assert answer.status == 503 and answer.headers["retry-after"]
    assert answer.headers["content-type"].startswith("text/html") and b"Lockside" not in answer.body
    assert_problem(api.call("GET", f"/shop/{path}", {"Accept": "application/json"}), 503)


@pytest.mark.parametrize("path, file", [("", "index.html"), ("index.html", "index.html"),
                                        ("product.html?sku=sample-mug", "product.html")])
def test_who_was_let_in_sees_the_pages(visitor, path, file):
    answer = visitor.open(path)
    assert_shop_answer(answer, file)
    assert answer.body == (SHOP / file).read_bytes()
    assert "no-cache" in answer.headers["cache-control"], "a kept copy would go around the gate"


@pytest.mark.parametrize("path", ["seed/queue.json", "nothing.html", "assets", "Makefile.inc"])
def test_nothing_else_is_served(visitor, path):
    assert_problem(visitor.open(path), 404, "NOT_FOUND")


def test_pages_know_that_payments_are_simulated(api):
    answer = api.call("GET", "/shop/payment.json")
    assert_shop_answer(answer, "payment.json")
    assert answer.json == {"simulated": True} and answer.headers["cache-control"] == "no-cache"


def test_address_without_a_slash(api):
    answer = api.call("GET", "/shop?from=mail")
    assert (answer.status, answer.headers["location"]) == (302, "/shop/?from=mail")


@pytest.mark.parametrize("name", PAGES)
def test_markup_keeps_to_the_policy(name):
    """No script, style or handler within a page, and nothing from elsewhere."""
    for tag, attributes, _ in Page(name).elements:
        assert tag != "style" and (tag != "script" or attributes["src"].startswith("/shop/assets/"))
        assert not [key for key in attributes if key == "style" or key.startswith("on")]
        for key in ("src", "href"):
            assert re.match(r"/shop/|#", attributes.get(key, "#"))


@pytest.mark.parametrize("name", PAGES)
def test_markup_says_what_the_english_texts_say(name):
    for _, attributes, text in Page(name).elements:
        for key, said in (("data-text", text), ("data-alt", attributes.get("alt")),
                          ("data-label", attributes.get("aria-label"))):
            if key in attributes:
                assert said == TEXTS["en"][attributes[key]]


def test_languages_say_the_same_things():
    assert sorted(TEXTS) == ["en", "ko"]
    assert list(TEXTS["en"]) == list(TEXTS["ko"])
    for key, text in TEXTS["en"].items():
        assert text and TEXTS["ko"][key]
        assert set(re.findall(r"\{\w+\}", text)) == set(re.findall(r"\{\w+\}", TEXTS["ko"][key])), key


def test_prices_on_the_pages_are_those_that_are_charged(api):
    prices = [(int(a["value"]), a["data-currency"]) for tag, a, _ in Page("index.html").elements if tag == "data"]
    assert prices == [(int(a["value"]), a["data-currency"]) for tag, a, _ in Page("product.html").elements if tag == "data"]
    charged = [api.admin("GET", f"/products/{sku}")["price"] for sku in ("sample-mug", "sample-postcard")]
    assert prices == [(price["amount"], price["currency"]) for price in charged] == [(15000, "KRW"), (0, "KRW")]


def test_queue_and_products_are_there(api):
    queue = api.admin("GET", "/queues/shop").json
    assert {name: queue[name] for name in SEEDS["queue"]} == SEEDS["queue"]
    for sku in ("sample-mug", "sample-postcard"):
        product = api.admin("GET", f"/products/{sku}").json
        assert {name: product[name] for name in SEEDS[sku]} == SEEDS[sku]


def test_coupons_are_there(api):
    queue = api.admin("GET", "/queues/coupons").json
    assert {name: queue[name] for name in SEEDS["coupon-queue"]} == SEEDS["coupon-queue"]
    event = api.admin("GET", "/coupon-events/sample-coupon").json
    assert {name: event[name] for name in SEEDS["sample-coupon"]} == SEEDS["sample-coupon"]
    assert event["coupons"] == SEEDS["coupon-codes"]["generate"]
    for language in TEXTS.values():
        assert str(event["coupons"]) in language["couponHomeText"]


def seed(port, data, seconds=20):
    """Makes the sample shop once more, as the next start does."""
    libraries = "common interruptible supervise ready sample_shop"
    script = f"""set -euo pipefail
for library in {libraries}; do source "{SCRIPTS}/lib/$library.sh"; done
port={port} data_dir="{data}" ready_within={seconds}
make_sample_shop"""
    return subprocess.run(["bash", "-c", script], capture_output=True, text=True, timeout=60)


CHANGED = ("/queues/shop", "/products/sample-mug", "/coupon-events/sample-coupon")


def test_next_start_keeps_what_an_operator_changed(stack, api):
    before = api.admin("GET", "/queues/shop").json
    mug = api.admin("GET", "/products/sample-mug").json
    try:
        api.admin("PATCH", "/queues/shop", {"ratePerSecond": 7, "message": "Hello"})
        api.admin("PUT", "/products/sample-mug", {**mug, "stock": 499, "price": {"amount": 12000, "currency": "KRW"}})
        changed = [api.admin("GET", path).json for path in CHANGED]
        entries = api.admin("GET", "/audit?limit=1").json
        again = seed(stack.port, stack.data)
        assert (again.returncode, again.stdout, again.stderr) == (0, "", "")
        assert [api.admin("GET", path).json for path in CHANGED] == changed
        assert api.admin("GET", "/audit?limit=1").json == entries
    finally:
        api.admin("PUT", "/queues/shop", before)
        api.admin("PUT", "/products/sample-mug", mug)


def test_seeding_says_what_is_wrong(stack, make_directory):
    data = make_directory("seed")
    (data / "secrets").mkdir()
    (data / "logs").mkdir()
    (data / "secrets" / "admin.key").write_text("not-the-key\n")
    refused = seed(stack.port, data)
    assert refused.returncode == 1
    assert "the sample shop cannot be created: the operator API answers 401 to queues/shop" in refused.stderr
    assert "not-the-key" not in refused.stderr
    silent = seed(1, data, seconds=1)
    assert silent.returncode == 1 and "did not create the sample shop's queues/shop within 1 s" in silent.stderr


def test_order_of_the_postcard(visitor):
    """As the page does it: the token of one's place, one key for every repeat, then the result page."""
    key = new_key()
    order = visitor.order("sample-postcard", key)
    assert order.status == 201 and order["status"] == "PAID"
    assert order["total"] == {"amount": 0, "currency": "KRW"}
    again = visitor.order("sample-postcard", key)
    assert (again.status, again.json) == (200, order.json)
    assert_problem(visitor.order("sample-postcard", new_key()), 401, "ENTRY_TOKEN_INVALID")
    position = visitor.call("GET", "/v1/queues/shop/position")
    assert (position["status"], position["entryToken"]) == ("NOT_ENTERED", None)
    assert visitor.open(f"result.html?order={order['id']}").status == 200
    assert visitor.call("GET", f"/v1/orders/{order['id']}").json == order.json
    assert [row["id"] for row in visitor.call("GET", "/v1/orders")["orders"]] == [order["id"]]


def test_order_of_the_mug_waits_for_its_payment(api):
    visitor = Visitor(api)
    visitor.go_through()
    order = visitor.order("sample-mug", new_key())
    assert order.status == 201 and order["status"] == "PENDING_PAYMENT" and order["expiresAt"]
    assert_problem(Visitor(api).call("GET", f"/v1/orders/{order['id']}"), 401, "UNAUTHENTICATED")
    canceled = visitor.call("POST", f"/v1/orders/{order['id']}/cancel")
    assert (canceled.status, canceled["status"]) == (200, "CANCELED")
