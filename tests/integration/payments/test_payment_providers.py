"""The clients of KakaoPay and Toss against the simulator: money that was taken is never told as not taken."""

import re
import subprocess
import uuid
from datetime import datetime
from types import SimpleNamespace

import pytest

from lib.payments import PaymentSimulator, query_of
from lib.ports import free_port
from lib.project import build_directory

TIMEOUT_MS = 500
RETURN = "https://shop.test/v1/orders/o_1/payment/approve?state=abc"
DECLINED, EXPIRED, TOO_EARLY, MISMATCH, NO_SUCH, AMOUNT, MISCONFIGURED, UNSUPPORTED = range(1, 9)


@pytest.fixture(scope="module")
def running(make_directory):
    simulator = PaymentSimulator(make_directory("ask"))
    yield simulator
    simulator.stop()


@pytest.fixture(params=["kakaopay", "toss"])
def shop(request, running, make_directory):
    running.behave()
    yield Shop(running, request.param, make_directory("conf"))
    running.behave()


class Shop:
    """Makes the calls of one provider, each by a program of its own."""

    def __init__(self, sim, provider, folder):
        self.sim, self.provider, self.folder, self.total = sim, provider, folder, 11000
        self.changes = {}

    def ask(self, *words, expect=0, **changes):
        rows = self.sim.settings(self.provider, payment_timeout_ms=TIMEOUT_MS, payment_connect_timeout_ms=TIMEOUT_MS,
                                 **{**self.changes, **changes})
        (self.folder / "conf").write_text("".join(f"{name} = {value}\n" for name, value in rows.items()))
        program = build_directory("--sanitizers", "--test-hooks") / "tests" / "tools" / "payment_ask"
        done = subprocess.run([program, "--config", self.folder / "conf", "--", *map(str, words)],
                              capture_output=True, text=True, timeout=30)
        assert done.returncode == expect, (done.returncode, done.stdout, done.stderr)
        assert self.sim.secret not in done.stdout + done.stderr
        if expect:
            return done.stderr
        first, detail = done.stdout.splitlines()
        outcome, refusal, answered, ms, *more = first.split(" ")
        return SimpleNamespace(outcome=outcome, refusal=int(refusal), answered=answered == "1", ms=int(ms), more=more,
                               detail=detail, log=done.stderr)

    def ready(self, item="머그컵", **changes):
        self.id = "p_" + uuid.uuid4().hex[:22]
        answer = self.ask("ready", self.id, self.total, item, RETURN, **changes)
        if answer.outcome == "ok":
            self.ref, self.page = answer.more
        return answer

    def press(self, action="pay", **more):
        self.back = query_of(self.sim.press(self.page, action, **more))

    def paying(self):
        self.ready()
        self.press()
        return self

    def approve(self, attempt=1, **changes):
        back = {**self.back, **changes}
        answer = self.ask("approve", self.id, self.total, self.ref, back.get("pg_token", ""),
                          back.get("paymentKey", ""), back.get("orderId", ""), back.get("amount", ""), attempt)
        assert not any(token in answer.log for token in [back.get("pg_token") or "-----"])
        return answer

    def look(self, **changes):
        return self.ask("lookup", self.id, self.total, self.ref, **changes)

    def cancel(self, amount, before=0):
        return self.ask("cancel", self.id, self.total, self.ref, amount, before)

    def money(self):
        row = self.sim.payment(self.id)
        return row["taken"], row["given_back"]


def test_money_goes_there_and_back(shop):
    assert shop.ready().outcome == "ok" and shop.look().more[0] == "open"
    shop.press()
    paid = shop.approve()
    assert (paid.outcome, *paid.more[:3]) == ("ok", "paid", "11000", "0")
    assert abs(int(paid.more[3]) / 1000 - datetime.now().timestamp()) < 30, "Korea's time, as ours"
    assert shop.look().more[0] == "paid"
    part = shop.cancel(1000)
    assert part.outcome == "ok" and part.more[:3] == ["partly-canceled", "11000", "1000"]
    again = shop.cancel(1000)
    assert (again.outcome, again.answered) == ("unknown", True) or again.more == part.more
    assert shop.money() == (11000, 1000), "the same cancel twice gives back once"
    rest = shop.cancel(10000, 1000)
    assert rest.outcome == "ok" and rest.more[0] == "canceled" and shop.money() == (11000, 11000)
    assert shop.cancel(10000, 1000).outcome in ("unknown", "ok") and shop.money() == (11000, 11000)
    assert shop.look().more[:3] == ["canceled", "11000", "11000"]


def test_approved_twice_is_looked_up_and_taken_once(shop):
    shop.paying().approve()
    again = shop.approve()
    # Toss gives its first answer again, KakaoPay says that it is done.
    assert again.outcome == ("ok" if shop.provider == "toss" else "unknown")
    assert again.outcome == "ok" or again.answered and again.detail == "-702"
    assert shop.look().more[0] == "paid" and shop.money() == (11000, 0)


@pytest.mark.parametrize("shop", ["toss"], indirect=True, scope="function")
def test_a_stored_refusal_answers_its_attempt_alone(shop):
    """Toss answers a repeated key from its memory, whatever has become of the cause."""
    shop.ready(item="머그컵 sim:approve.refuse=UNAUTHORIZED_KEY*1")
    shop.press()
    for _ in range(2):
        answer = shop.approve(attempt=1)
        assert (answer.outcome, answer.refusal) == ("rejected", MISCONFIGURED) and shop.money() == (0, 0)
    assert shop.approve(attempt=2).outcome == shop.approve(attempt=2).outcome == "ok"
    assert shop.approve(attempt=3).outcome == "unknown" and shop.money() == (11000, 0)


def test_somebody_who_leaves_or_is_declined_has_not_paid(shop):
    for action in ("cancel", "fail"):
        shop.ready()
        shop.press(action)
        assert shop.look().more[0] == "failed"
    shop.ready()
    shop.press(method="declined")
    answer = shop.approve()
    assert (answer.outcome, answer.refusal) == ("rejected", DECLINED) and answer.detail
    assert shop.look().more[0] == "failed" and shop.money() == (0, 0)


def test_what_is_not_of_this_payment_takes_nothing(shop):
    shop.paying()
    wrong = {"kakaopay": {"pg_token": "stranger"}, "toss": {"amount": "1"}}[shop.provider]
    answer = shop.approve(**wrong)
    assert (answer.outcome, answer.refusal) == ("rejected", MISMATCH)
    assert shop.approve(**{name: "" for name in wrong}).refusal == MISMATCH
    assert shop.money() == (0, 0) and shop.approve().outcome == "ok", "and does not spoil it"


def test_a_session_that_is_not_finished_or_over(shop):
    shop.ready(item="머그컵 sim:approve.expire*1")
    shop.back = {"pg_token": "x", "paymentKey": shop.ref, "orderId": shop.id, "amount": "11000"}
    answer = shop.approve()
    assert (answer.outcome, answer.refusal) == ("rejected", EXPIRED)
    shop.ready()
    shop.back = {"pg_token": "x", "paymentKey": shop.ref, "orderId": shop.id, "amount": "11000"}
    answer = shop.approve()
    assert answer.refusal == (TOO_EARLY if shop.provider == "kakaopay" else EXPIRED) and shop.money() == (0, 0)


# What happens on the way, before either provider's language is read: once is enough.
ON_THE_WAY = ("drop_before_commit", "drop_after_commit", "half_json", "huge", "slow_drip", "delay_after=2000",
              "delay=2000", "late=1000")


def of_each(rows):
    """Each row, which begins with a fault, with each provider; those on the way with one."""
    return [(provider, *row) for row in rows for provider in ("kakaopay", "toss")
            if provider == "kakaopay" or row[0] not in ON_THE_WAY]


@pytest.mark.parametrize("shop, fault, taken", of_each([
    ("drop_before_commit", 0), ("http_500_before", 0), ("drop_after_commit", 11000), ("http_500_after", 11000),
    ("bad_json", 11000), ("half_json", 11000), ("empty", 11000), ("huge", 11000), ("redirect", 11000),
    ("slow_drip", 11000), ("delay_after=2000", 11000), ("delay=2000", 0), ("duplicate", 11000), ("late=1000", 0),
    ("late_error=1000", 0)]), indirect=["shop"])
def test_whatever_is_no_answer_is_never_taken_for_one(shop, fault, taken):
    shop.paying()
    shop.sim.fault(f"approve.{fault}")
    answer = shop.approve()
    assert answer.outcome == "unknown" and answer.detail and answer.ms < TIMEOUT_MS + 600
    shop.sim.behave()
    assert shop.money()[0] == taken and shop.look().more[0] == ("paid" if taken else "open")
    assert '"payment.provider"' in answer.log
    assert len(shop.sim.calls(shop.id, "approve")) == 1, "sent again"


@pytest.mark.parametrize("call", ["ready", "lookup", "cancel"])
@pytest.mark.parametrize("shop, fault", of_each([("drop_after_commit",), ("http_500_after",), ("half_json",)]), indirect=["shop"])
def test_the_other_calls_keep_apart_no_and_no_answer(shop, call, fault):
    shop.paying().approve()
    shop.sim.fault(f"{'order' if call == 'lookup' else call}.{fault}")
    answer = {"ready": shop.ready, "lookup": shop.look, "cancel": lambda: shop.cancel(11000)}[call]()
    assert answer.outcome == "unknown"


def test_another_amount_is_reported_as_it_is(shop):
    shop.paying()
    shop.sim.fault("approve.wrong_amount")
    answer = shop.approve()
    assert answer.outcome == "unknown" or answer.more[1] == "11001"


def test_a_provider_that_is_not_there_has_taken_nothing(shop):
    shop.paying()
    nowhere = f"http://127.0.0.1:{free_port()}"
    shop.changes = {"payment_base_url": nowhere}
    for answer in (shop.look(), shop.approve(), shop.cancel(1), shop.ready()):
        assert answer.outcome == "not-sent"


def test_a_key_that_is_not_known_is_a_matter_for_an_operator(shop):
    shop.paying()
    other = shop.folder / "other.key"
    other.write_text("another\n")
    other.chmod(0o600)
    shop.changes = {"payment_secret_key_file": other}
    for answer in (shop.look(), shop.approve(), shop.cancel(1), shop.ready()):
        assert (answer.outcome, answer.refusal) == ("rejected", MISCONFIGURED)


def test_a_payment_that_nobody_knows(shop):
    shop.ready()
    shop.ref = "T" + "0" * 19
    answer = shop.look()
    assert (answer.outcome, answer.refusal) == ("rejected", NO_SUCH)


def test_long_names_are_cut_between_characters(shop):
    assert shop.ready(item="가" * 99 + "나다").outcome == "ok"
    assert shop.sim.payment(shop.id)["item_name"] == "가" * 99 + "나"
    assert shop.ready(item="x" * 100).outcome == "ok" and shop.sim.payment(shop.id)["item_name"] == "x" * 100


def test_what_cannot_be_asked_for_is_not_sent(shop):
    shop.total = 0
    answer = shop.ready()
    assert (answer.outcome, answer.refusal) == ("rejected", UNSUPPORTED) and shop.sim.payment(shop.id) is None
    answer = shop.ask("ready", "p_1234567", 100, "x", "https://shop.test/" + "a" * 240)
    assert answer.refusal == UNSUPPORTED


def test_pages_may_lie_on_the_site_itself(shop, make_directory):
    sim = PaymentSimulator(make_directory("path"), "--public-url", "/_sluice/payment-simulator")
    try:
        other = Shop(sim, shop.provider, shop.folder)
        other.id = "p_" + uuid.uuid4().hex[:22]
        answer = other.ask("ready", other.id, 11000, "x", "/v1/orders/o_1/payment/approve?state=abc")
        assert re.fullmatch(r"/_sluice/payment-simulator/pay/[\w-]+", answer.more[1])
        page = answer.more[1].removeprefix("/_sluice/payment-simulator")
        assert sim.press(page).startswith("/v1/orders/o_1/payment/approve?state=abc&")
    finally:
        sim.stop()


def test_settings_that_do_not_fit_together(shop):
    assert "payment_secret_key_file" in shop.ask("lookup", expect=78, payment_secret_key_file="")
    assert "payment_public_url" in shop.ask("lookup", expect=78, payment_public_url="http://shop.test")
    assert "payment_grace_seconds" in shop.ask("lookup", expect=78, payment_grace_seconds=3)
    assert "https://" in shop.ask("lookup", expect=78, payment_base_url="http://pay.test")
    assert "payment_public_url" in shop.ask("lookup", expect=78, payment_base_url="")
