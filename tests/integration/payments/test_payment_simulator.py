"""The payment simulator keeps its promises: other tests trust its ledger."""

import http.client
import http.server
import json
import re
import threading
import time
import uuid
from datetime import datetime, timedelta, timezone

import pytest

from lib.payments import CID, PaymentSimulator, query_of
from lib.wait import until

GONE = (ConnectionError, http.client.HTTPException)
KST = timezone(timedelta(hours=9))


@pytest.fixture(scope="module")
def running(make_directory):
    simulator = PaymentSimulator(make_directory("pay"), "--session-seconds", "60", "--confirm-seconds", "60")
    yield simulator
    simulator.stop()


@pytest.fixture
def sim(running):
    running.behave()
    yield running
    running.behave()


class Kakao:
    """A payment at KakaoPay from the shop's side."""

    def __init__(self, sim, total=11000, tax_free=0, item="머그컵", **more):
        self.sim, self.order = sim, "p_" + uuid.uuid4().hex[:22]
        self.made = sim.kakaopay(
            "ready", cid=CID, partner_order_id=self.order, partner_user_id="member-1", item_name=item, quantity=1,
            total_amount=total, tax_free_amount=tax_free, approval_url="https://shop.test/back?state=abc",
            cancel_url="https://shop.test/cancel", fail_url="https://shop.test/fail", **more)
        assert self.made.status == 200, self.made.body
        self.tid, self.page = self.made["tid"], self.made["next_redirect_pc_url"]

    def press(self, action="pay", **more):
        where = self.sim.press(self.page, action, **more)
        self.token = query_of(where or "").get("pg_token")
        return where

    def approve(self, fault=None, **changes):
        return self.sim.kakaopay("approve", fault, **{
            "cid": CID, "tid": self.tid, "partner_order_id": self.order, "partner_user_id": "member-1",
            "pg_token": getattr(self, "token", "") or "none", **changes})

    def paid(self):
        self.press()
        assert self.approve().status == 200
        return self

    def cancel(self, amount, tax_free=0, fault=None, **more):
        return self.sim.kakaopay("cancel", fault, cid=CID, tid=self.tid, cancel_amount=amount,
                                 cancel_tax_free_amount=tax_free, **more)

    def look(self):
        return self.sim.kakaopay("order", cid=CID, tid=self.tid).json

    def money(self):
        row = self.sim.payment(self.order)
        return row["taken"], row["given_back"]


def code(answer):
    assert answer.status == 400, (answer.status, answer.body)
    return answer["error_code"]


def test_money_is_taken_once_on_the_way_that_kakaopay_documents(sim):
    pay = Kakao(sim, total=12000, tax_free=1000)
    assert pay.made["next_redirect_mobile_url"] == f"{pay.page}?mobile"
    assert re.fullmatch(r"T[0-9a-f]{19}", pay.tid) and pay.look()["status"] == "READY"
    page = sim.open_page(pay.page)
    assert page.status == 200 and "결제 시뮬레이터" in page.body.decode() and "12,000 KRW" in page.body.decode()
    assert "simulator" in sim.open_page(pay.page, "en-US,en;q=0.9").body.decode()
    assert b"<script" not in page.body and pay.look()["status"] == "OPEN_PAYMENT"
    assert pay.press().startswith("https://shop.test/back?state=abc&pg_token=")
    assert pay.look()["status"] == "AUTH_PASSWORD" and pay.money() == (0, 0)
    done = pay.approve()
    assert done.status == 200 and "status" not in done.json and "card_info" not in done.json
    assert done["amount"] == {"total": 12000, "tax_free": 1000, "vat": 1000, "point": 0, "discount": 0,
                              "green_deposit": 0}
    assert code(pay.approve()) == -702 and pay.money() == (12000, 0)
    look = pay.look()
    assert look["status"] == "SUCCESS_PAYMENT" and look["cancel_available_amount"]["total"] == 12000
    assert [action["payment_action_type"] for action in look["payment_action_details"]] == ["PAYMENT"]
    assert pay.press() is None and sim.open_page(pay.page).status == 410


def test_times_are_those_of_seoul_and_say_no_zone(sim):
    pay = Kakao(sim).paid()
    for text in (pay.made["created_at"], pay.look()["approved_at"]):
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d", text)
        age = datetime.now(KST) - datetime.fromisoformat(text).replace(tzinfo=KST)
        assert timedelta(seconds=-1) <= age < timedelta(seconds=30)


def test_an_approval_is_checked_in_kakaopay_s_order(sim):
    pay = Kakao(sim)
    assert sim.kakaopay("approve", key="wrong").status == 401
    wrong = {"partner_order_id": "x", "partner_user_id": "x", "pg_token": "x"}
    assert code(pay.approve(cid="TC0OTHER00", tid="T0", **wrong)) == -731
    assert code(pay.approve(tid="T0", **wrong)) == -721
    assert code(pay.approve(**wrong)) == -701
    pay.press()
    for name, expected in (("partner_order_id", -706), ("partner_user_id", -707), ("pg_token", -708)):
        assert code(pay.approve(**wrong)) == expected
        del wrong[name]
    assert code(pay.approve(total_amount=1)) == -704
    assert pay.money() == (0, 0) and pay.approve().status == 200
    late = Kakao(sim)
    late.press()
    assert code(late.approve("approve.expire", pg_token="x")) == -723
    assert code(late.approve()) == -723 and late.press() is None and late.money() == (0, 0)


def test_two_approvals_at_once_take_the_money_once(sim):
    pay = Kakao(sim)
    pay.press()
    first = []
    thread = threading.Thread(target=lambda: first.append(pay.approve("approve.delay=600")))
    thread.start()
    until(lambda: sim.calls(pay.order, "approve"), 5)
    assert code(pay.approve()) == -785
    thread.join()
    assert first[0].status == 200 and pay.money() == (11000, 0)


@pytest.mark.parametrize("action, address, status", [
    ("cancel", "https://shop.test/cancel", "QUIT_PAYMENT"), ("fail", "https://shop.test/fail", "FAIL_AUTH_PASSWORD")])
def test_leaving_the_page_ends_the_payment_and_proves_nothing(sim, action, address, status):
    pay = Kakao(sim)
    assert pay.press(action) == address and pay.look()["status"] == status
    assert code(pay.approve()) == -783 and pay.money() == (0, 0)


def test_a_means_of_payment_may_refuse(sim):
    pay = Kakao(sim)
    pay.press(method="declined")
    refused = pay.approve()
    assert code(refused) == -780 and refused["extras"]["method_result_code"] == "USER_LOCKED"
    assert pay.look()["status"] == "FAIL_PAYMENT" and code(pay.approve()) == -783
    other = Kakao(sim)
    other.press(method="card")
    assert other.approve("approve.decline=LIMIT")["extras"]["method_result_code"] == "LIMIT"


@pytest.mark.parametrize("total, tax_free, vat", [(1, 0, 0), (5, 0, 0), (6, 0, 1), (16, 0, 1), (17, 0, 2), (1000, 0, 91),
                                                  (10000, 10000, 0), (10000, 5000, 455)])
def test_vat_is_an_eleventh_rounded_half_up(sim, total, tax_free, vat):
    assert Kakao(sim, total, tax_free).look()["amount"]["vat"] == vat


def test_parts_that_are_given_back_add_up_to_the_whole(sim):
    pay = Kakao(sim, total=1000).paid()  # VAT 91
    assert code(pay.cancel(1001)) == -711
    part = pay.cancel(500, cancel_available_amount=1000)
    assert part["status"] == "PART_CANCEL_PAYMENT" and part["approved_cancel_amount"]["vat"] == 45
    assert part["cancel_available_amount"]["total"] == 500 and part["canceled_amount"]["total"] == 500
    assert code(pay.cancel(500, cancel_available_amount=1000)) == -710, "sent twice, given back once"
    assert code(pay.cancel(501)) == -710
    rest = pay.cancel(500)
    assert rest["status"] == "CANCEL_PAYMENT" and rest["approved_cancel_amount"]["vat"] == 46
    assert rest["canceled_amount"]["vat"] == 91 and code(pay.cancel(1)) == -784
    assert pay.money() == (1000, 1000) and pay.look()["canceled_at"]
    assert code(Kakao(sim).cancel(1)) == -784


@pytest.mark.parametrize("fault, done", [
    ("drop_before_commit", False), ("http_500_before", False), ("error=-780", False), ("drop_after_commit", True),
    ("http_500_after", True), ("bad_json", True), ("half_json", True), ("empty", True), ("redirect", True),
    ("duplicate", True), ("wrong_amount", True)])
def test_what_a_fault_leaves_behind(sim, fault, done):
    """As the header says, as the item's name says, as a rule says: in each case the ledger and the look-up agree."""
    by_item = Kakao(sim, item=f"머그컵 sim:approve.{fault}*1")
    by_rule, by_header = Kakao(sim), Kakao(sim)
    for pay, header in ((by_item, None), (by_header, f"approve.{fault}"), (by_rule, None)):
        pay.press()
        if pay is by_rule:
            sim.fault(f"approve.{fault}")
        try:
            answer = pay.approve(header)
            whole = answer.status == 200 and answer.json.get("tid")
        except (*GONE, ValueError):
            whole = False
        assert bool(whole) == (fault == "wrong_amount")
        assert pay.money() == ((11000, 0) if done else (0, 0))
        assert pay.look()["status"] == ("SUCCESS_PAYMENT" if done else "AUTH_PASSWORD")
    sim.behave()
    again = by_item.approve()
    assert code(again) == -702 if done else again.status == 200


def test_a_fault_may_be_bounded_to_the_first_calls(sim):
    pay = Kakao(sim, item="sim:approve.http_500_before*2")
    pay.press()
    assert [pay.approve().status for _ in range(3)] == [500, 500, 200]


def test_money_may_be_taken_after_nobody_waits_any_more(sim):
    pay = Kakao(sim)
    pay.press()
    with pytest.raises(GONE):
        pay.approve("approve.late=1500")
    assert pay.look()["status"] == "AUTH_PASSWORD" and pay.money() == (0, 0)
    assert code(pay.approve()) == -785
    until(lambda: pay.money() == (11000, 0), 5)
    assert pay.look()["status"] == "SUCCESS_PAYMENT"


def test_answers_may_take_their_time(sim):
    pay = Kakao(sim)
    pay.press()
    begin = time.monotonic()
    assert pay.approve("approve.delay_after=300").status == 200
    assert time.monotonic() - begin >= 0.3
    other = Kakao(sim).paid()
    with pytest.raises(TimeoutError):
        sim.call("POST", "/online/v1/payment/order",
                 {"Authorization": f"SECRET_KEY {sim.secret}", "X-Sim-Fault": "slow_drip"},
                 {"cid": CID, "tid": other.tid}, timeout=0.15)


def test_an_outage_ends(sim):
    sim.outage(1.2, "ready")
    with pytest.raises(GONE):
        Kakao(sim)
    until(lambda: Kakao(sim), 5)
    sim.outage(30, how="503")
    assert sim.kakaopay("order", cid=CID, tid="T0").status == 503


def test_a_seed_decides_whom_a_rule_meets(sim):
    def fates(seed):
        sim.fault("ready.http_500_before", probability=0.5, seed=seed)
        return [sim.kakaopay("ready", cid=CID, total_amount=amount, partner_order_id=uuid.uuid4().hex).status
                for amount in range(1000, 1040)]
    one = fates(1)
    assert one == fates(1) != fates(2)
    assert 5 < one.count(500) < 35


def test_its_clock_may_be_wrong(sim):
    pay = Kakao(sim)
    pay.press()
    sim.behave(skew_ms=3_600_000)
    assert code(pay.approve()) == -723
    assert datetime.fromisoformat(Kakao(sim).made["created_at"]) > datetime.now(KST).replace(tzinfo=None) + \
        timedelta(minutes=59)


def test_a_fault_that_is_none_is_refused(sim):
    for fault in ("nonsense", "approve.delay", "approve.delay=x", "other.delay=1", "drop_after_commit=1"):
        with pytest.raises(AssertionError):
            sim.fault(fault)


class Toss:
    """A payment at Toss."""

    def __init__(self, sim, amount=11000):
        self.sim, self.order = sim, "p_" + uuid.uuid4().hex[:22]
        self.made = sim.toss("POST", "", {
            "method": "CARD", "amount": amount, "orderId": self.order, "orderName": "머그컵",
            "successUrl": "https://shop.test/back?state=abc", "failUrl": "https://shop.test/fail?state=abc"})
        assert self.made.status == 200, self.made.body
        self.key, self.page = self.made["paymentKey"], self.made["checkout"]["url"]

    def confirm(self, key=None, fault=None, **changes):
        return self.sim.toss("POST", "/confirm", {"paymentKey": self.key, "orderId": self.order, "amount": 11000,
                                                  **changes}, key, fault)

    def look(self):
        return self.sim.toss("GET", f"/{self.key}").json

    def money(self):
        row = self.sim.payment(self.order)
        return row["taken"], row["given_back"]


def test_toss_takes_the_money_when_it_is_confirmed(sim):
    pay = Toss(sim)
    assert sim.call("GET", f"/v1/payments/{pay.key}", {"Authorization": "Basic eA=="}).status == 401
    assert pay.look()["status"] == "READY" and pay.confirm()["code"] == "NOT_FOUND_PAYMENT_SESSION"
    back = query_of(sim.press(pay.page))
    assert back == {"state": "abc", "paymentType": "NORMAL", "paymentKey": pay.key, "orderId": pay.order,
                    "amount": "11000"}
    assert pay.confirm(amount=1).status == 400 and pay.money() == (0, 0)
    done = pay.confirm("key-1")
    assert done["status"] == "DONE" and done["totalAmount"] == 11000 and done["vat"] == 1000
    assert done["approvedAt"].endswith("+09:00")
    assert pay.confirm("key-1").json == done.json, "the first answer again"
    assert pay.confirm("key-2")["code"] == "ALREADY_PROCESSED_PAYMENT"
    assert sim.toss("GET", f"/orders/{pay.order}")["paymentKey"] == pay.key and pay.money() == (11000, 0)


def test_an_idempotency_key_makes_one_refund_of_two_calls(sim):
    pay = Toss(sim)
    sim.press(pay.page)
    pay.confirm()
    body = {"cancelReason": "returned", "cancelAmount": 1000}
    with pytest.raises(GONE):
        sim.toss("POST", f"/{pay.key}/cancel", body, "c-1", "cancel.drop_after_commit")
    again = sim.toss("POST", f"/{pay.key}/cancel", body, "c-1")
    assert again["status"] == "PARTIAL_CANCELED" and again["balanceAmount"] == 10000 and pay.money() == (11000, 1000)
    rest = sim.toss("POST", f"/{pay.key}/cancel", {"cancelReason": "returned"}, "c-2")
    assert rest["status"] == "CANCELED" and pay.money() == (11000, 11000)
    assert sim.toss("POST", f"/{pay.key}/cancel", body, "c-3")["code"] == "ALREADY_CANCELED_PAYMENT"


def test_toss_says_why_somebody_comes_back_without_paying(sim):
    pay = Toss(sim)
    back = query_of(sim.press(pay.page, "cancel"))
    assert back["code"] == "PAY_PROCESS_CANCELED" and back["state"] == "abc" and pay.look()["status"] == "ABORTED"
    declined = Toss(sim)
    sim.press(declined.page, method="declined")
    assert declined.confirm("k").status == 403 and declined.look()["failure"]["code"] == "REJECT_CARD_COMPANY"
    forced = Toss(sim)
    sim.press(forced.page)
    assert forced.confirm(fault="approve.error=PROVIDER_ERROR")["code"] == "PROVIDER_ERROR"
    assert forced.money() == declined.money() == (0, 0)
    assert declined.confirm("k")["code"] == "REJECT_CARD_COMPANY", "the first answer again"
    assert forced.confirm("k-1", "approve.refuse=FORBIDDEN_REQUEST")["code"] == "FORBIDDEN_REQUEST"
    assert forced.confirm("k-1")["code"] == "FORBIDDEN_REQUEST" and forced.money() == (0, 0)
    assert forced.confirm("k-2")["status"] == "DONE"


def test_what_is_in_the_ledger_survives_a_kill(make_directory):
    """Killed within and between calls, again and again: what was answered is there, and nothing is there twice."""
    sim = PaymentSimulator(make_directory("kill"))
    try:
        answered = []
        for _ in range(2):
            pays = [Kakao(sim) for _ in range(6)]
            for pay in pays:
                pay.press()
            threads = [threading.Thread(target=lambda pay=pay: _approve(pay, answered)) for pay in pays]
            for thread in threads:
                thread.start()
            until(lambda: len(answered) >= 2, 10, every=0.001)
            sim.kill()
            for thread in threads:
                thread.join()
            sim.start()
            for pay in pays:
                taken = pay.money()[0]
                assert taken in (0, 11000) and (taken or pay not in answered)
                if not taken:
                    assert pay.approve().status == 200
                else:
                    assert code(pay.approve()) == -702
                assert sim.payment(pay.order)["takes"] == 1
            answered.clear()
    finally:
        sim.stop()


def _approve(pay, answered):
    try:
        if pay.approve().status == 200:
            answered.append(pay)
    except (*GONE, OSError):
        pass


def test_who_presses_again_is_sent_back_with_the_same_token(sim):
    pay = Kakao(sim)
    assert pay.press() == pay.press()
    assert pay.press("cancel") == "https://shop.test/cancel" and pay.press() is None


class Listener(http.server.BaseHTTPRequestHandler):
    """A shop that takes webhooks: the first call fails."""

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.got.append((body, self.headers))
        self.send_response(200 if len(self.server.got) > 1 else 500)
        self.end_headers()

    def log_message(self, *arguments):
        pass


def test_webhooks_come_until_they_are_taken_and_are_not_signed(sim):
    shop = http.server.HTTPServer(("127.0.0.1", 0), Listener)
    shop.got = []
    thread = threading.Thread(target=shop.serve_forever, daemon=True)
    thread.start()
    try:
        sim.behave(webhook={"url": f"http://127.0.0.1:{shop.server_port}/", "copies": 2})
        pay = Toss(sim)
        sim.press(pay.page)
        pay.confirm()
        until(lambda: len(shop.got) == 3, 10, "two copies, one of them twice")
        for body, headers in shop.got:
            event = json.loads(body)
            assert event["eventType"] == "PAYMENT_STATUS_CHANGED" and event["data"]["status"] == "DONE"
            assert event["data"]["orderId"] == pay.order
            assert headers["tosspayments-webhook-transmission-time"]
            assert "tosspayments-webhook-signature" not in headers
    finally:
        shop.shutdown()
        shop.server_close()
