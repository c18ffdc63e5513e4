"""What both APIs share: time, the secret, and the way of one call through its faults."""

import base64
import hmac
import secrets
import threading
import time

import faults
import kakaopay
import toss
import webhooks
from basics import Dropped, Reply

APIS = {"kakaopay": kakaopay, "toss": toss}
ALONE = ("approve", "cancel")  # calls of which one at a time may run for a payment


class Simulator:
    """Payments, the secret, the clock."""

    def __init__(self, ledger, secret, cids, seconds):
        self.ledger, self.secret, self.cids, self.seconds = ledger, secret, cids, seconds
        self.public_url = ""
        self.busy = set()  # refs of which an approve or cancel runs; dies with the process, as it should
        self.behaviour = ledger.behaviour()

    # Time

    def now(self):
        """Its own clock, which may be wrong."""
        return time.time() + self.behaviour.get("skew_ms", 0) / 1000

    # Who calls

    def knows_key(self, header):
        """KakaoPay: `SECRET_KEY key`, or the word of the first weeks."""
        word, _, key = header.partition(" ")
        return word in ("SECRET_KEY", "DEV_SECRET_KEY") and hmac.compare_digest(key.encode(), self.secret.encode())

    def knows_basic(self, header):
        """Toss: Basic, the key as the name, and an empty password after the colon."""
        expected = "Basic " + base64.b64encode(f"{self.secret}:".encode()).decode()
        return hmac.compare_digest(header.encode(), expected.encode())

    # Misbehaviour

    def set_behaviour(self, value):
        faults.check_behaviour(value)
        outage = value.get("outage")
        if outage:
            outage["until"] = time.time() + outage["seconds"]
        self.behaviour = value
        self.ledger.set_behaviour(value)

    def outage(self, call):
        """Closes the connection, or gives an answer, while nobody is there."""
        outage = self.behaviour.get("outage")
        if not outage or time.time() >= outage["until"] or call not in outage.get("calls", faults.CALLS):
            return None
        if outage.get("how", "drop") == "drop":
            raise Dropped
        return Reply(503, {"message": "Service Unavailable"})

    # A call

    def serve(self, api, call, subject, fields, key=None, place="", header=""):
        """One call of the API `api`. `subject`: which payment, as far as the caller says so."""
        payment = self.ledger.payment(subject) or {}
        amount = payment.get("total") or fields.get("total_amount") or fields.get("amount") or 0
        item = payment.get("item_name") or str(fields.get("item_name") or fields.get("orderName") or "")
        with self.ledger.transaction():
            before = self.ledger.row("SELECT count(*) AS n FROM call WHERE name = ? AND subject = ?", call,
                                     subject)["n"]
            chosen = faults.choose(self.behaviour, call, before, amount, item, header)
            self.ledger.insert("call", at=time.time(), api=api, name=call, subject=subject, faults=chosen.text())
            number = self.ledger.row("SELECT last_insert_rowid() AS id")["id"]
        try:
            reply = self.outage(call) or self.run(APIS[api], call, subject, fields, chosen, key, place)
        except Dropped:
            self.note(number, 0, None)
            raise
        reply.faults = chosen
        self.note(number, 0 if "drop_after_commit" in chosen or "half_json" in chosen else reply.status, reply.code)
        return reply

    def note(self, number, status, code):
        with self.ledger.transaction() as db:
            db.execute("UPDATE call SET status = ?, code = ? WHERE id = ?", [status, code, number])

    def run(self, api, call, subject, fields, chosen, key, place):
        """The faults before the commit, the work itself, and the wait after it."""
        alone = call in ALONE
        if alone and not self.begin(subject):
            return api.under_way(key)
        later = False
        try:
            time.sleep(chosen.get("delay", 0) / 1000)
            if "drop_before_commit" in chosen:
                raise Dropped
            if "http_500_before" in chosen:
                return Reply(500, {"message": "Internal Server Error"})
            if "error" in chosen:
                return api.refused(chosen["error"])
            later = "late" in chosen or "late_error" in chosen
            if later:
                self.work_later(chosen.get("late", chosen.get("late_error")), api, call, subject, fields, chosen, key,
                                place)
                if "late" in chosen:
                    raise Dropped
                return Reply(500, {"message": "Internal Server Error"})
            reply = self.work(api, call, fields, chosen, key, place)
            if "duplicate" in chosen:
                reply = self.work(api, call, fields, chosen, None, place)
        finally:
            if alone and not later:
                self.busy.discard(subject)
        time.sleep(chosen.get("delay_after", 0) / 1000)
        return reply

    def begin(self, subject):
        """False where another such call runs."""
        with self.ledger.lock:
            if subject in self.busy:
                return False
            self.busy.add(subject)
        return True

    def work(self, api, call, fields, chosen, key, place):
        """Does it, whole; what it has done is in the ledger before it returns."""
        news = []
        with self.ledger.transaction():
            known = key and self.ledger.row("SELECT * FROM remembered WHERE key = ? AND place = ?", key, place)
            if known:
                return api.again(known)
            refusal = chosen.get("refuse")
            reply = api.refused(refusal) if refusal else getattr(api, call)(self, fields, chosen, news)
            if key:
                api.remember(self.ledger, key, place, reply)
        for body in news:
            webhooks.deliver(self.behaviour.get("webhook"), body)
        return reply

    def work_later(self, ms, api, call, subject, fields, chosen, key, place):
        def later():
            try:
                self.work(api, call, fields, chosen, key, place)
            finally:
                self.busy.discard(subject)
        timer = threading.Timer(ms / 1000, later)
        timer.daemon = True
        timer.start()

    # For the APIs

    def open_payment(self, api, **columns):
        """Writes a new payment; gives the address of its page."""
        page = secrets.token_urlsafe(24)
        now = self.now()
        self.ledger.insert("payment", api=api, page=page, status="READY", created_at=now,
                           expires_at=now + self.seconds[api], **columns)
        return f"{self.public_url}/pay/{page}", now

    def take(self, payment, **columns):
        """Takes the money of a payment."""
        now = self.now()
        aid = self.action(payment, "PAYMENT", payment["total"], payment["tax_free"], payment["vat"], now, None)
        self.ledger.update(payment["ref"], approved_at=now, **columns)
        return aid

    def give_back(self, payment, amount, tax_free, vat, note, **columns):
        now = self.now()
        aid = self.action(payment, "CANCEL", amount, tax_free, vat, now, note)
        self.ledger.update(payment["ref"], canceled_at=now, canceled=payment["canceled"] + amount,
                           canceled_tax_free=payment["canceled_tax_free"] + tax_free,
                           canceled_vat=payment["canceled_vat"] + vat, **columns)
        return aid

    def action(self, payment, kind, amount, tax_free, vat, at, note):
        aid = "A" + secrets.token_hex(10)[:19]
        self.ledger.insert("action", aid=aid, ref=payment["ref"], kind=kind, amount=amount, tax_free=tax_free, vat=vat,
                           at=at, note=note)
        return aid

