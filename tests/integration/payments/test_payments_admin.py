"""Who looks after payments: the operators' routes, sluicectl, and what reconcile says of what needs a person."""

import json
import os
import re
import subprocess

import pytest

from lib import metrics
from lib.client import assert_problem
from lib.paying import Purchase, result_of

NOBODY_S = "p_AAAAAAAAAAAAAAAAAAAAAA"


@pytest.fixture
def stuck(paying):
    """A payment whose money is taken, and whose provider cannot be asked."""
    purchase = Purchase(paying)
    back = purchase.press()
    paying.simulator.fault("approve.drop_after_commit", "order.drop_before_commit")
    assert result_of(purchase.come_back(back)) == "confirming"
    paying.allowed_errors.add("payment.not_settled")
    paying.postgres.query("UPDATE payment SET attempts = 9, retry_at = now() WHERE id = %s", purchase.payment())
    purchase.looks = looks_for_a_person(paying)
    purchase.report = paying.reconcile(expect=1)
    purchase.numbers = metrics.read(paying.api.call("GET", "/metrics").body)
    return purchase


def looks_for_a_person(parts):
    text = parts.api.call("GET", "/metrics").body.decode()
    return int(re.search(r'^sluice_payment_looks_total\{left="person"\} (\d+)$', text, re.MULTILINE)[1])


def sluicectl(parts, *words, code=0):
    done = subprocess.run([parts.build / "sluicectl" / "sluicectl", "--url", f"http://127.0.0.1:{parts.port}",
                           "--data", parts.directory / "data", *words],
                          capture_output=True, text=True, timeout=30, env={**os.environ, "SLUICE_URL": ""})
    assert done.returncode == code, (done.stdout, done.stderr)
    return done.stdout + done.stderr


def test_what_needs_a_person_is_named(paying, stuck):
    payment = stuck.payment()
    assert f"needs a person: payment {payment} of order {stuck.order} is UNKNOWN: " in stuck.report
    assert "needs a person: 1 payments; see sluicectl payments stuck" in stuck.report
    assert looks_for_a_person(paying) == stuck.looks + 1
    assert stuck.numbers["sluice_payments_stuck"] == 1 and stuck.numbers['sluice_payments{state="UNKNOWN"}'] == 1
    assert stuck.numbers['sluice_payment_provider_calls_total{result="unknown"}'] >= 2
    assert stuck.numbers["sluice_payment_provider_call_duration_seconds_count"] >= 3
    assert f"payment {payment}" in paying.reconcile(expect=1), "also when its time has not come"
    found = paying.api.admin("GET", "/payments?stuck=true")
    assert found.status == 200 and [row["id"] for row in found["payments"]] == [payment] and found["next"] is None
    row = found["payments"][0]
    assert row["needsPerson"] and row["attempts"] == 10 and row["lastError"] and row["state"] == "UNKNOWN"
    assert payment in sluicectl(paying, "payments", "stuck") and payment in sluicectl(paying, "payments", "list", "UNKNOWN")
    assert payment not in sluicectl(paying, "payments", "list", "PAID")
    # Later and later, until somebody wants it now.
    paying.simulator.behave()
    paying.reconcile(expect=1)
    assert stuck.state() == "UNKNOWN"
    assert sluicectl(paying, "payments", "look", payment) == "The payment will be looked up.\n"
    assert stuck.state() == "UNKNOWN" and paying.api.admin("GET", f"/payments/{payment}")["needsPerson"], "clears nothing"
    paying.reconcile()
    assert stuck.assert_agrees() == "PAID"
    assert paying.api.admin("GET", "/payments?stuck=true")["payments"] == []


def test_one_payment_and_its_life(paying):
    purchase = Purchase(paying)
    assert purchase.pay() == "paid"
    assert purchase.cancel().status == 200
    seen = paying.api.admin("GET", f"/payments/{purchase.payment()}")
    assert (seen["order"], seen["amount"], seen["canceledAmount"], seen["currency"], seen["provider"]) == (
        purchase.order, purchase.total, purchase.total, "KRW", "kakaopay")
    assert [event["to"] for event in seen["events"]] == [
        "STARTING", "READY", "APPROVING", "PAID", "CANCEL_REQUESTED", "CANCELED"]
    assert seen["events"][0]["from"] is None and all(event["why"] for event in seen["events"])
    text = json.dumps(seen.json)
    assert purchase.url not in text and "state=" not in text
    assert "given back" in sluicectl(paying, "payments", "show", purchase.payment())
    assert json.loads(sluicectl(paying, "--json", "payments", "show", purchase.payment())) == seen.json
    answer = paying.api.admin("POST", f"/payments/{purchase.payment()}/look")
    assert (answer.status, answer["due"]) == (202, False)


def test_pages_and_filters(paying):
    queue = paying.api.queue()
    purchases = [Purchase(paying, queue=queue) for _ in range(3)]
    for purchase in purchases:
        assert purchase.start().status == 201
    ids = [purchase.payment() for purchase in reversed(purchases)]
    first = paying.api.admin("GET", "/payments?limit=2")
    assert [row["id"] for row in first["payments"]] == ids[:2] and first["next"] == ids[1]
    second = paying.api.admin("GET", f"/payments?limit=1&cursor={first['next']}")
    assert [row["id"] for row in second["payments"]] == ids[2:]
    one = paying.api.admin("GET", f"/payments?order={purchases[1].order}&state=READY")
    assert [row["id"] for row in one["payments"]] == [ids[1]]
    assert paying.api.admin("GET", f"/payments?order={purchases[1].order}&state=PAID")["payments"] == []
    for query in ("stuck=yes", "state=GONE", "order=x", "cursor=x", "limit=0", "limit=501"):
        assert_problem(paying.api.admin("GET", f"/payments?{query}"), 400, "INVALID_REQUEST")


def test_who_may(paying):
    purchase = Purchase(paying)
    purchase.start()
    one, viewer = f"/v1/admin/payments/{purchase.payment()}", {"Authorization": f"Bearer {paying.api.viewer_key}"}
    for path in ("/v1/admin/payments", one):
        assert paying.api.call("GET", path, viewer).status == 200
        assert_problem(paying.api.call("GET", path, purchase.member.headers()), 401)
    assert_problem(paying.api.call("POST", f"{one}/look", viewer), 403, "FORBIDDEN")
    for payment in (NOBODY_S, "x", "p_" + "!" * 22):
        assert_problem(paying.api.admin("GET", f"/payments/{payment}"), 404, "NOT_FOUND")
        assert_problem(paying.api.admin("POST", f"/payments/{payment}/look"), 404, "NOT_FOUND")
    assert "is not a payment" in sluicectl(paying, "payments", "show", "x", code=64)
    assert "is not a state" in sluicectl(paying, "payments", "list", "GONE", code=64)


def test_a_look_finds_what_was_given_back_at_the_provider(paying):
    """Somebody gave the money back on the provider's own pages."""
    purchase = Purchase(paying)
    assert purchase.pay() == "paid"
    row = paying.simulator.payment(purchase.payment())
    answer = paying.simulator.kakaopay("cancel", cid=row["cid"], tid=row["ref"], cancel_amount=row["total"],
                                       cancel_tax_free_amount=0)
    assert answer.status == 200
    assert paying.api.admin("POST", f"/payments/{purchase.payment()}/look")["due"] is True
    paying.reconcile()
    assert purchase.assert_agrees() == "CANCELED"
