"""Toss Payments: a payment is made, confirmed within its time, read, and canceled."""

import json
import secrets
from datetime import datetime

from basics import KST, Reply, kst, part_of_vat, vat_to_give_back

STATUS = {"UNAUTHORIZED_KEY": 401, "FORBIDDEN_REQUEST": 403, "NOT_FOUND_PAYMENT": 404, "NOT_FOUND_PAYMENT_SESSION": 404,
          "REJECT_CARD_COMPANY": 403, "REJECT_CARD_PAYMENT": 403, "NOT_CANCELABLE_AMOUNT": 403,
          "NOT_CANCELABLE_PAYMENT": 403, "IDEMPOTENT_REQUEST_PROCESSING": 409,
          "FAILED_PAYMENT_INTERNAL_SYSTEM_PROCESSING": 500}
KEY_MAX = 300
NUMBERS_MAX = 10**12
TAKEN = ("DONE", "PARTIAL_CANCELED", "CANCELED")


class Refusal(Exception):
    """A code of Toss's."""

    def __init__(self, code):
        super().__init__(code)
        self.code = code


def refused(code):
    return Reply(STATUS.get(code, 400), {"code": code, "message": f"{code}: 요청을 처리하지 못했습니다."}, code)


def under_way(key):
    return refused("IDEMPOTENT_REQUEST_PROCESSING" if key else "PROVIDER_ERROR")


def again(known):
    """The first answer to this Idempotency-Key, whatever it was."""
    body = json.loads(known["body"])
    return Reply(known["status"], body, body.get("code"))


def remember(ledger, key, place, reply):
    ledger.insert("remembered", key=key, place=place, status=reply.status, body=json.dumps(reply.body))


def answering(function):
    def call(sim, fields, chosen, news):
        try:
            return Reply(200, function(sim, fields, chosen, news))
        except Refusal as refusal:
            return refused(refusal.code)
    return call


def text(fields, name, most=100, needed=True):
    value = fields.get(name)
    if value is None and not needed:
        return None
    if not isinstance(value, str) or not 1 <= len(value) <= most:
        raise Refusal("INVALID_REQUEST")
    return value


def number(fields, name, least=0, otherwise=None):
    value = fields.get(name, otherwise)
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= NUMBERS_MAX:
        raise Refusal("INVALID_REQUEST")
    return value


def find(sim, ref):
    payment = sim.ledger.payment(ref)
    if not payment or payment["api"] != "toss":
        raise Refusal("NOT_FOUND_PAYMENT")
    return age(sim, payment)


def age(sim, payment):
    """Its time may have run out since somebody looked."""
    if payment["status"] in ("READY", "IN_PROGRESS") and payment["expires_at"] <= sim.now():
        sim.ledger.update(payment["ref"], status="EXPIRED")
        payment["status"] = "EXPIRED"
    return payment


def iso(moment):
    return None if moment is None else kst(moment) + "+09:00"


def shown(sim, payment, chosen=()):
    """A Payment object."""
    actions = sim.ledger.rows("SELECT * FROM action WHERE ref = ? AND kind = 'CANCEL' ORDER BY at, rowid",
                              payment["ref"])
    total = payment["total"] + (1 if "wrong_amount" in chosen else 0)
    taken = payment["approved_at"] is not None
    return {
        "mId": "tvivarepublica", "version": "2022-11-16", "lastTransactionKey": None, "type": "NORMAL",
        "paymentKey": payment["ref"], "orderId": payment["order_id"], "orderName": payment["item_name"],
        "currency": payment["currency"], "method": "카드" if payment["method"] == "CARD" else "간편결제",
        "status": payment["status"], "requestedAt": iso(payment["created_at"]),
        "approvedAt": iso(payment["approved_at"]), "totalAmount": total,
        "balanceAmount": payment["total"] - payment["canceled"],
        "suppliedAmount": payment["total"] - payment["canceled"] - payment["tax_free"] + payment["canceled_tax_free"] -
                          payment["vat"] + payment["canceled_vat"],
        "vat": payment["vat"] - payment["canceled_vat"],
        "taxFreeAmount": payment["tax_free"] - payment["canceled_tax_free"], "taxExemptionAmount": 0,
        "isPartialCancelable": True, "useEscrow": False, "cultureExpense": False, "country": "KR",
        "card": {"issuerCode": "61", "acquirerCode": "31", "number": "12345678****000*", "installmentPlanMonths": 0,
                 "isInterestFree": False, "approveNo": "00000000", "cardType": "신용", "ownerType": "개인",
                 "acquireStatus": "READY", "amount": total} if taken and payment["method"] == "CARD" else None,
        "cancels": [{"transactionKey": action["aid"], "cancelReason": action["note"], "canceledAt":
                     iso(action["at"]), "cancelAmount": action["amount"], "taxFreeAmount": action["tax_free"],
                     "taxExemptionAmount": 0, "refundableAmount": 0, "cancelStatus": "DONE"}
                    for action in actions] or None,
        "checkout": {"url": f"{sim.public_url}/pay/{payment['page']}"},
        "failure": {"code": payment["failure"], "message": "결제가 거절되었습니다."} if payment["failure"] else None}


def news_of(sim, payment, news):
    """What the webhook tells of a payment whose status has changed."""
    news.append({"eventType": "PAYMENT_STATUS_CHANGED",
                 "createdAt": datetime.now(KST).strftime("%Y-%m-%dT%H:%M:%S.%f"),
                 "data": shown(sim, payment)})


@answering
def ready(sim, fields, chosen, news):
    amount, tax_free = number(fields, "amount", 1), number(fields, "taxFreeAmount", otherwise=0)
    order_id = text(fields, "orderId", 64)
    if tax_free > amount or len(order_id) < 6 or text(fields, "currency", 3, False) not in (None, "KRW"):
        raise Refusal("INVALID_REQUEST")
    urls = [text(fields, name, 500) for name in ("successUrl", "failUrl")]
    if not all(url.startswith(("http://", "https://", "/")) and not url.startswith("//") for url in urls):
        raise Refusal("INVALID_REQUEST")
    # An order is paid once.
    if sim.ledger.rows("SELECT 1 FROM payment WHERE order_id = ? AND api = 'toss' AND approved_at IS NOT NULL",
                       order_id):
        raise Refusal("DUPLICATED_ORDER_ID")
    ref = "tviva" + secrets.token_hex(12)
    sim.open_payment("toss", ref=ref, cid="", order_id=order_id, user_id=text(fields, "customerKey", 300, False) or "",
                     item_name=text(fields, "orderName"), quantity=1, total=amount, tax_free=tax_free,
                     vat=part_of_vat(amount, tax_free), approve_url=urls[0], cancel_url=urls[1],
                     fail_url=urls[1])
    return shown(sim, sim.ledger.payment(ref))


@answering
def approve(sim, fields, chosen, news):
    """POST /v1/payments/confirm"""
    payment = find(sim, text(fields, "paymentKey", 200))
    if "expire" in chosen:
        payment["expires_at"] = 0
        sim.ledger.update(payment["ref"], expires_at=0)
        payment = age(sim, payment)
    if payment["status"] in TAKEN:
        raise Refusal("ALREADY_PROCESSED_PAYMENT")
    if payment["status"] != "IN_PROGRESS":
        raise Refusal("NOT_FOUND_PAYMENT_SESSION")
    if text(fields, "orderId", 64) != payment["order_id"] or number(fields, "amount") != payment["total"]:
        raise Refusal("INVALID_REQUEST")
    declines = chosen.get("decline") or payment["declines"]
    if declines:
        sim.ledger.update(payment["ref"], status="ABORTED", failure=declines)
        news_of(sim, sim.ledger.payment(payment["ref"]), news)
        raise Refusal(declines)
    sim.take(payment, status="DONE")
    payment = sim.ledger.payment(payment["ref"])
    news_of(sim, payment, news)
    return shown(sim, payment, chosen)


@answering
def cancel(sim, fields, chosen, news):
    payment = find(sim, fields["paymentKey"])
    text(fields, "cancelReason", 200)
    if payment["status"] == "CANCELED":
        raise Refusal("ALREADY_CANCELED_PAYMENT")
    if payment["status"] not in TAKEN:
        raise Refusal("NOT_CANCELABLE_PAYMENT")
    rest = payment["total"] - payment["canceled"]
    amount = number(fields, "cancelAmount", 1, otherwise=rest)
    rest_tax_free = payment["tax_free"] - payment["canceled_tax_free"]
    tax_free = number(fields, "taxFreeAmount", otherwise=rest_tax_free if amount == rest else 0)
    if amount > rest or tax_free > min(amount, rest_tax_free):
        raise Refusal("NOT_CANCELABLE_AMOUNT")
    sim.give_back(payment, amount, tax_free, vat_to_give_back(payment, amount, tax_free),
                  fields["cancelReason"], status="CANCELED" if amount == rest else "PARTIAL_CANCELED")
    payment = sim.ledger.payment(payment["ref"])
    news_of(sim, payment, news)
    return shown(sim, payment, chosen)


@answering
def order(sim, fields, chosen, news):
    """GET /v1/payments/KEY and /v1/payments/orders/ID"""
    ref = fields.get("paymentKey")
    if ref is None:
        found = sim.ledger.row("SELECT ref FROM payment WHERE order_id = ? AND api = 'toss' ORDER BY approved_at DESC, "
                               "created_at DESC LIMIT 1", fields["orderId"])
        ref = found["ref"] if found else ""
    return shown(sim, find(sim, ref))


# The page

def look(sim, payment):
    age(sim, payment)


def is_open(sim, payment):
    return age(sim, payment)["status"] in ("READY", "IN_PROGRESS")


def press(sim, payment, action, method):
    back = {"orderId": payment["order_id"]}
    if action in ("cancel", "fail"):
        code = "PAY_PROCESS_CANCELED" if action == "cancel" else "PAY_PROCESS_ABORTED"
        sim.ledger.update(payment["ref"], status="ABORTED", failure=code)
        return payment["fail_url"], {"code": code, "message": "결제가 취소되었습니다.", **back}
    sim.ledger.update(payment["ref"], status="IN_PROGRESS", method="EASY" if method == "money" else "CARD",
                      declines="REJECT_CARD_COMPANY" if method == "declined" else None)
    return payment["approve_url"], {"paymentType": "NORMAL", "paymentKey": payment["ref"], **back,
                                    "amount": payment["total"]}
