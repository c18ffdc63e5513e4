"""The payment simulator as a process of its own, and what a person does on its page."""

import base64
import http.client
import json
import secrets
from urllib.parse import parse_qs, urlencode, urlsplit

from lib.client import Answer
from lib.ports import free_port
from lib.processes import Process
from lib.project import ROOT
from lib.wait import until

CID = "TC0ONETIME"


class PaymentSimulator:
    """Runs in `directory`, which keeps its ledger and its secret. Its port stays the same when it is started again."""

    def __init__(self, directory, *options):
        self.directory, self.options = directory, options
        self.secret_file = directory / "payment.key"
        self.secret = secrets.token_urlsafe(24)
        self.secret_file.write_text(self.secret + "\n")
        self.secret_file.chmod(0o600)
        self.port = free_port()
        self.starts = 0
        self.process = None
        self.start()

    def start(self):
        self.starts += 1
        log = self.directory / f"payment-simulator-{self.starts}.log"
        self.process = Process("payment-simulator", [
            "/usr/bin/python3", "-u", ROOT / "tests" / "payment_simulator", "--port", self.port,
            "--ledger", self.directory / "payments.sqlite", "--secret-file", self.secret_file, *self.options], log)
        until(lambda: self.process.text().startswith("ready: "), 20, "the payment simulator", every=0.05)
        return self

    def kill(self):
        """As kill -9 does: without a chance to write anything."""
        self.process.kill()

    stop = kill

    @property
    def base_url(self):
        return f"http://127.0.0.1:{self.port}"

    def settings(self, provider="kakaopay", **more):
        """The programs' settings that make this their provider."""
        return {"payment_provider": provider, "payment_base_url": self.base_url,
                "payment_secret_key_file": self.secret_file, "payment_cid": CID, **more}

    # Calls

    def call(self, method, path, headers=None, body=None, timeout=20):
        """One call, as bytes or JSON. No answer at all: ConnectionError, or http.client's IncompleteRead."""
        link = http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)
        try:
            data = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
            link.request(method, path, data, headers or {})
            answer = link.getresponse()
            return Answer(answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read())
        finally:
            link.close()

    def kakaopay(self, call, fault=None, key=None, **fields):
        headers = {"Authorization": f"SECRET_KEY {self.secret if key is None else key}",
                   "Content-Type": "application/json"}
        if fault:
            headers["X-Sim-Fault"] = fault
        return self.call("POST", f"/online/v1/payment/{call}", headers, fields)

    def toss(self, method, path, body=None, key=None, fault=None):
        headers = {"Authorization": "Basic " + base64.b64encode(f"{self.secret}:".encode()).decode(),
                   "Content-Type": "application/json"}
        if key:
            headers["Idempotency-Key"] = key
        if fault:
            headers["X-Sim-Fault"] = fault
        return self.call(method, f"/v1/payments{path}", headers, body)

    # The page

    def open_page(self, redirect_url, language="ko"):
        """What the browser shows there."""
        return self.call("GET", path_of(redirect_url), {"Accept-Language": language})

    def press(self, redirect_url, action="pay", method="money"):
        """Presses a button ("pay", "cancel", "fail"; method: "money", "card", "declined") on the page at
        `redirect_url`. Returns the address that the browser is sent to, None where the page only says that it is
        over."""
        answer = self.call("POST", path_of(redirect_url), {"Content-Type": "application/x-www-form-urlencoded"},
                           urlencode({"action": action, "method": method}).encode())
        assert answer.status in (302, 404, 410), answer
        return answer.headers.get("location")

    # The ledger

    def _own(self, method, path, body=None):
        answer = self.call(method, f"/_sim/{path}", {"Authorization": f"SECRET_KEY {self.secret}"}, body)
        assert answer.status == 200, (answer.status, answer.body)
        return answer.json

    def ledger(self, payment=None):
        """All that it knows, or what it knows of one payment of ours: {"payments": […], "taken", "given_back"}."""
        return self._own("GET", "ledger" + (f"?order={payment}" if payment else ""))

    def payment(self, payment):
        """The row of one payment of ours; None where it never heard of it."""
        found = self.ledger(payment)["payments"]
        assert len(found) <= 1, found
        return found[0] if found else None

    def kept(self):
        """Payment id → money that was taken and not given back, where there is any."""
        return {row["order_id"]: row["taken"] - row["given_back"] for row in self.ledger()["payments"]
                if row["taken"] != row["given_back"]}

    def calls(self, payment=None, name=None):
        """The calls that it got, in their order; `name`: ready, approve, cancel or order."""
        found = self._own("GET", "calls" + (f"?order={payment}" if payment else ""))
        return [call for call in found if name in (None, call["name"])]

    # Misbehaviour, see tests/payment_simulator/faults.py

    def behave(self, **behaviour):
        """Replaces what it was told before; nothing: it behaves."""
        return self._own("POST", "faults", behaviour)

    def fault(self, *faults, probability=1, seed=0):
        """Every one of these, for everybody, with that probability; none: it behaves."""
        return self.behave(rules=[{"fault": fault, "probability": probability} for fault in faults], seed=seed)

    def outage(self, seconds, *calls, how="drop"):
        return self.behave(outage={"seconds": seconds, "how": how, **({"calls": calls} if calls else {})})


def path_of(url):
    """What is to be asked for at the server of a URL."""
    parts = urlsplit(url)
    return parts.path + (f"?{parts.query}" if parts.query else "")


def query_of(url):
    """The query of a URL as a dict."""
    return {name: values[0] for name, values in parse_qs(urlsplit(url).query, keep_blank_values=True).items()}
