"""A member's whole way through the running system."""

import re

import pytest

from lib.client import assert_problem
from lib.wait import until


def test_enter_wait_ready_order(api):
    queue = api.queue()
    sku = api.product(queue, stock=5, amount=2500)
    member = api.member("alice")
    assert member.position(queue)["status"] == "NOT_ENTERED"
    entered = member.enter(queue)
    assert (entered.status, entered["rank"], entered["currentTotalWaitingCount"]) == (201, 0, 1)
    ready = member.wait_ready(queue)
    assert re.fullmatch(r"[A-Za-z0-9_-]{43}", ready["entryToken"])
    order = member.order(queue, [{"sku": sku, "quantity": 2}], key="the-key")
    assert order.status == 201 and order["total"] == {"amount": 5000, "currency": "KRW"}
    again = member.order(queue, [{"sku": sku, "quantity": 2}], key="the-key")
    assert again.status == 200 and again.json == order.json
    assert again.headers["idempotent-replayed"] == "true"
    assert member.position(queue)["status"] == "NOT_ENTERED"
    assert_problem(member.order(queue, [{"sku": sku, "quantity": 1}]), 401, "ENTRY_TOKEN_INVALID")
    assert [row["id"] for row in member.orders()["orders"]] == [order["id"]]


def test_everyone_orders_once(api):
    """A hundred and twenty members, eighty things: eighty orders, the rest keep a good token."""
    queue = api.queue(maxActive=500)
    sku = api.product(queue, stock=80)
    spare = api.product(queue, stock=1)
    members = api.ready_members(queue, 120)
    answers = api.together([m.order_call(queue, [{"sku": sku, "quantity": 1}]) for m in members], 16, timeout=60)
    made = [answer for answer in answers if answer.status == 201]
    refused = [(m, answer) for m, answer in zip(members, answers) if answer.status != 201]
    for member, answer in list(refused):
        if answer.code == "ORDERS_UNAVAILABLE":
            answer = until(lambda m=member: _decided(m.order(queue, [{"sku": sku, "quantity": 1}])), 10)
            made += [answer] if answer.status == 201 else []
        if answer.status != 201:
            assert_problem(answer, 409, "OUT_OF_STOCK")
            assert member.position(queue)["status"] == "READY"
    assert len({answer["id"] for answer in made}) == 80
    assert api.admin("GET", f"/products/{sku}")["available"] == 0
    assert api.admin("GET", f"/products/{spare}")["available"] == 1


def _decided(answer):
    return answer if answer.status in (201, 409) and answer.code != "ORDER_IN_PROGRESS" else None


def test_unpaid_order_expires_by_cancel_and_stock_comes_back(api):
    queue = api.queue()
    sku = api.product(queue, stock=1)
    member = api.ready_member(queue)
    order = member.order(queue, [{"sku": sku, "quantity": 1}])
    assert_problem(api.call("POST", f"/v1/orders/{order['id']}/cancel", api.member().headers()), 404, "NOT_FOUND")
    canceled = api.call("POST", f"/v1/orders/{order['id']}/cancel", member.headers())
    assert (canceled.status, canceled["status"]) == (200, "CANCELED")
    assert api.admin("GET", f"/products/{sku}")["available"] == 1


@pytest.mark.parametrize("path", ["/livez", "/healthz", "/readyz"])
def test_probes(api, path):
    assert api.call("GET", path).status == 200


def test_every_problem_has_a_page(api):
    """What `type` points to is really served."""
    from lib.project import ROOT
    codes = re.findall(r"^ERROR\((\w+),", (ROOT / "fcgi-app/http/errors.tbl").read_text(), re.M)
    assert len(codes) > 20
    for code in codes:
        page = api.call("GET", "/problems/" + code.lower().replace("_", "-"))
        assert page.status == 200 and page.headers["content-type"].startswith("text/html")
        assert code in page.body.decode()


def test_request_ids_and_traces(stack, api):
    """The id of the answer stands in the log of the worker that gave it."""
    trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
    queue = api.queue()
    sku = api.product(queue)
    member = api.ready_member(queue)
    call = list(member.order_call(queue, [{"sku": sku, "quantity": 1}]))
    call[2]["traceparent"] = trace
    answer = api.call(*call)
    identity = answer.headers["x-request-id"]
    assert answer.status == 201 and identity
    until(lambda: any(identity in line and trace in line for line in
                      (stack.data / "logs" / "order-pool.log").read_text().splitlines()), 5)
