"""Payments under scripts/run: the simulator is the provider, its page lies on the site, and it is plainly one."""

import os
import subprocess
from types import SimpleNamespace
from urllib.parse import urlencode

import pytest

from lib import processes
from lib.paying import Purchase, result_of
from lib.payments import path_of
from lib.project import ROOT
from lib.wait import until

FORM = {"Content-Type": "application/x-www-form-urlencoded"}
PLACE = "/_sluice/payment-simulator"


class Browser:
    """Presses buttons on the page as a browser behind nginx does."""

    def __init__(self, api):
        self.api = api

    def press(self, url, action="pay", method="money"):
        assert url.startswith(f"http://127.0.0.1:{self.api.port}{PLACE}/pay/"), url
        url = path_of(url)
        page = self.api.call("GET", url, {"Accept-Language": "ko"})
        assert page.status == 200 and "시뮬레이터" in page.body.decode() and "<script" not in page.body.decode()
        assert "simulator" in self.api.call("GET", f"{url}?lang=en").body.decode()
        answer = self.api.call("POST", url, FORM, urlencode({"action": action, "method": method}).encode())
        assert answer.status == 302, answer
        return answer.headers["location"]


@pytest.fixture
def purchase(api):
    return Purchase(SimpleNamespace(api=api, simulator=Browser(api)))


def test_with_a_real_provider_named_there_is_no_simulator():
    script = ('set -euo pipefail; port=1 run_dir=/r; source "$0/scripts/lib/payment_simulator.sh"; '
              "payments_are_simulated && payment_simulator_settings || echo none")
    for name in ("SLUICE_PAYMENT_PROVIDER", "SLUICE_PAYMENT_SECRET_KEY_FILE", "SLUICE_PAYMENT_BASE_URL", None):
        environment = {key: value for key, value in os.environ.items() if not key.startswith("SLUICE_PAYMENT_")}
        environment.update({name: "kakaopay"} if name else {})
        done = subprocess.run(["bash", "-c", script, ROOT], env=environment, capture_output=True, text=True, timeout=30)
        assert done.returncode == 0, done.stderr
        assert (done.stdout == "none\n") == bool(name), (name, done.stdout)


def test_a_member_pays_on_a_page_of_the_site_itself(api, purchase):
    where = purchase.press()
    assert where.startswith(f"/v1/orders/{purchase.order}/payment/approve?state="), where
    assert result_of(purchase.come_back(where)) == "paid" and purchase.status() == "PAID"
    assert purchase.cancel().status in (200, 202)
    until(lambda: purchase.status() == "CANCELED", 15)


@pytest.mark.parametrize("headers, mobile", [
    ({"User-Agent": "Mozilla/5.0 (iPhone; CPU iPhone OS 17_0 like Mac OS X) Version/17.0 Mobile/15E148 Safari/604.1"}, True),
    ({"User-Agent": "x", "Sec-CH-UA-Mobile": "?1"}, True),
    ({"User-Agent": "Mozilla/5.0 (Linux; Android 10; Mobile)", "Sec-CH-UA-Mobile": "?0"}, False),
    ({"User-Agent": "Mozilla/5.0 (X11; Linux x86_64)"}, False)])
def test_phones_get_the_provider_s_page_for_phones(api, purchase, headers, mobile):
    method, path, login, body = purchase.start_call()
    answer = api.call(method, path, {**login, **headers}, body)
    assert answer.status == 201 and answer["redirectUrl"].endswith("?mobile") == mobile


@pytest.mark.parametrize("host", ["127.0.0.1:{port}", "localhost:{port}", "[::1]:{port}", "shop.example"])
def test_the_page_is_on_the_site_by_the_name_that_the_browser_knows(api, purchase, host):
    """A program follows it as it is, and the cookies of one name are not those of another."""
    host = host.format(port=api.port)
    method, path, login, body = purchase.start_call()
    answer = api.call(method, path, {**login, "Host": host}, body)
    assert answer.status == 201 and answer["redirectUrl"].startswith(f"http://{host}{PLACE}/pay/")


def test_a_member_who_turns_back_has_not_paid(purchase):
    assert result_of(purchase.come_back(purchase.press("cancel"))) != "paid"
    assert purchase.status() in ("CANCELED", "PAYMENT_FAILED")


def test_what_tests_ask_the_simulator_is_closed(api):
    for path in ("/_sim/ledger", "/_sim/faults", "/_sim/calls"):
        assert api.call("GET", PLACE + path).status == 404
    for path in ("/online/v1/payment/ready", "/v1/payments"):
        assert api.call("POST", PLACE + path, None, {"cid": "TC0ONETIME"}).status == 401


def test_a_killed_simulator_comes_back_and_knows_what_it_took(stack, purchase):
    where = purchase.press()
    victims = stack.part_pids("payment_simulator")
    assert len(victims) == 1
    processes.kill9(victims[0])
    until(lambda: purchase.api.call("GET", f"{PLACE}/alive").status == 200, 20)
    # The session is still there, and its token too.
    assert result_of(purchase.come_back(where)) == "paid" and purchase.status() == "PAID"
