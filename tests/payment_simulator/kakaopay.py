"""KakaoPay's online API, version 1: ready, approve, cancel, order."""

import secrets

from basics import Reply, kst, part_of_vat, vat_to_give_back

CARDS = {"kakaopay_purchase_corp": "비씨카드", "kakaopay_purchase_corp_code": "104",
         "kakaopay_issuer_corp": "수협은행", "kakaopay_issuer_corp_code": "212", "bin": "621640", "card_type": "신용",
         "install_month": "00", "approved_id": "44543233", "card_mid": "111111111", "interest_free_install": "N",
         "installment_type": "CARD_INSTALLMENT", "card_item_code": "000000000"}
MESSAGES = {
    -2: "parameter is missing or malformed", -401: "invalid secret key", -701: "authentication is not finished!",
    -702: "payment is already done!", -704: "amount is different!", -706: "partner_order_id is different!",
    -707: "partner_user_id is different!", -708: "invalid pg_token!", -710: "cancel amount exceeds what is left!",
    -711: "cancel amount exceeds what was approved!", -721: "invalid tid!", -722: "invalid amount!",
    -723: "payment time is over!", -731: "invalid cid!", -780: "approval failure!",
    -783: "state does not allow approval!", -784: "state does not allow cancel!", -785: "duplicate request!"}
ENDED = ("SUCCESS_PAYMENT", "PART_CANCEL_PAYMENT", "CANCEL_PAYMENT")
OVER = ("FAIL_AUTH_PASSWORD", "QUIT_PAYMENT", "FAIL_PAYMENT")
NUMBERS_MAX = 10**12


class Refusal(Exception):
    """A code of KakaoPay's."""

    def __init__(self, code, **extras):
        super().__init__(code)
        self.code, self.extras = code, extras


def refused(code, **extras):
    code = int(code)
    body = {"error_code": code, "error_message": MESSAGES.get(code, "failure!")}
    if extras:
        body["extras"] = extras
    return Reply(401 if code == -401 else 400, body, str(code))


def under_way(_key):
    return refused(-785)


def answering(function):
    def call(sim, fields, chosen, news):
        try:
            return Reply(200, function(sim, fields, chosen))
        except Refusal as refusal:
            return refused(refusal.code, **refusal.extras)
    return call


def text(fields, name, most=100, needed=True):
    value = fields.get(name)
    if value is None and not needed:
        return None
    if not isinstance(value, str) or not 1 <= len(value) <= most:
        raise Refusal(-2)
    return value


def number(fields, name, least=0, needed=True):
    value = fields.get(name)
    if value is None and not needed:
        return None
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= NUMBERS_MAX:
        raise Refusal(-2)
    return value


def url(fields, name):
    value = text(fields, name, 255)
    # The real one wants an absolute address. A path is the simulator's own: the page is on the shop's site then.
    if not value.startswith(("http://", "https://", "/")) or value.startswith("//"):
        raise Refusal(-2)
    return value


def check_cid(sim, fields):
    if text(fields, "cid", 10) not in sim.cids:
        raise Refusal(-731)


def find(sim, fields):
    """The payment of a request: first the shop, then the payment."""
    check_cid(sim, fields)
    payment = sim.ledger.payment(text(fields, "tid", 20))
    if not payment or payment["api"] != "kakaopay" or payment["cid"] != fields["cid"]:
        raise Refusal(-721)
    return payment


@answering
def ready(sim, fields, chosen):
    check_cid(sim, fields)
    total, tax_free = number(fields, "total_amount", 1), number(fields, "tax_free_amount")
    vat = number(fields, "vat_amount", needed=False)
    if tax_free > total or (vat is not None and vat > total - tax_free):
        raise Refusal(-722)
    tid = "T" + secrets.token_hex(10)[:19]
    page, now = sim.open_payment(
        "kakaopay", ref=tid, cid=fields["cid"], order_id=text(fields, "partner_order_id"),
        user_id=text(fields, "partner_user_id"), item_name=text(fields, "item_name"),
        item_code=text(fields, "item_code", needed=False), quantity=number(fields, "quantity", 1), total=total,
        tax_free=tax_free, vat=part_of_vat(total, tax_free) if vat is None else vat,
        approve_url=url(fields, "approval_url"), cancel_url=url(fields, "cancel_url"), fail_url=url(fields, "fail_url"))
    return {"tid": tid, "tms_result": False, "next_redirect_app_url": page, "next_redirect_mobile_url": f"{page}?mobile",
            "next_redirect_pc_url": page, "android_app_scheme": f"kakaotalk://kakaopay/pg?url={page}",
            "ios_app_scheme": f"kakaotalk://kakaopay/pg?url={page}", "created_at": kst(now)}


def check_approval(sim, fields, payment):
    """In the order in which KakaoPay looks."""
    if payment["expires_at"] <= sim.now():
        raise Refusal(-723)
    if payment["status"] in ENDED:
        raise Refusal(-702)
    if payment["status"] in OVER:
        raise Refusal(-783)
    if payment["status"] != "AUTH_PASSWORD":
        raise Refusal(-701)
    if text(fields, "partner_order_id") != payment["order_id"]:
        raise Refusal(-706)
    if text(fields, "partner_user_id") != payment["user_id"]:
        raise Refusal(-707)
    if number(fields, "total_amount", needed=False) not in (None, payment["total"]):
        raise Refusal(-704)
    if text(fields, "pg_token", 200) != payment["pg_token"]:
        raise Refusal(-708)


@answering
def approve(sim, fields, chosen):
    payment = find(sim, fields)
    if "expire" in chosen:
        payment["expires_at"] = 0
        sim.ledger.update(payment["ref"], expires_at=0)
    check_approval(sim, fields, payment)
    declines = chosen.get("decline") or payment["declines"]
    if declines:
        sim.ledger.update(payment["ref"], status="FAIL_PAYMENT", failure=declines)
        raise Refusal(-780, method_result_code=declines, method_result_message="결제 수단에서 거절되었습니다.")
    aid = sim.take(payment, status="SUCCESS_PAYMENT", pg_token=None)
    return done(sim, sim.ledger.payment(payment["ref"]), aid, fields, chosen)


def done(sim, payment, aid, fields, chosen):
    """What an approval and a cancel say of a payment."""
    amount = money(payment["total"], payment["tax_free"], payment["vat"])
    if "wrong_amount" in chosen:
        amount["total"] += 1
    body = {"aid": aid, "tid": payment["ref"], "cid": payment["cid"], "partner_order_id": payment["order_id"],
            "partner_user_id": payment["user_id"], "payment_method_type": payment["method"],
            "item_name": payment["item_name"], "quantity": payment["quantity"], "amount": amount,
            "created_at": kst(payment["created_at"]), "approved_at": kst(payment["approved_at"])}
    if payment["item_code"]:
        body["item_code"] = payment["item_code"]
    if payment["method"] == "CARD":
        body["card_info"] = CARDS
    if fields.get("payload"):
        body["payload"] = text(fields, "payload", 200)
    return body


def money(total, tax_free, vat):
    return {"total": total, "tax_free": tax_free, "vat": vat, "point": 0, "discount": 0, "green_deposit": 0}


def canceled_so_far(payment):
    return money(payment["canceled"], payment["canceled_tax_free"], payment["canceled_vat"])


def left(payment):
    if payment["approved_at"] is None:
        return money(0, 0, 0)
    return money(payment["total"] - payment["canceled"], payment["tax_free"] - payment["canceled_tax_free"],
                 payment["vat"] - payment["canceled_vat"])


@answering
def cancel(sim, fields, chosen):
    payment = find(sim, fields)
    if payment["status"] not in ("SUCCESS_PAYMENT", "PART_CANCEL_PAYMENT"):
        raise Refusal(-784)
    rest = left(payment)
    amount, tax_free = number(fields, "cancel_amount", 1), number(fields, "cancel_tax_free_amount")
    vat = number(fields, "cancel_vat_amount", needed=False)
    if amount > payment["total"]:
        raise Refusal(-711)
    if amount > rest["total"] or number(fields, "cancel_available_amount", needed=False) not in (None, rest["total"]):
        raise Refusal(-710)
    if vat is None:
        vat = vat_to_give_back(payment, amount, tax_free)
    if tax_free > min(amount, rest["tax_free"]) or vat > min(amount - tax_free, rest["vat"]):
        raise Refusal(-722)
    aid = sim.give_back(payment, amount, tax_free, vat, fields.get("payload"),
                        status="CANCEL_PAYMENT" if amount == rest["total"] else "PART_CANCEL_PAYMENT")
    payment = sim.ledger.payment(payment["ref"])
    return {**done(sim, payment, aid, fields, chosen), "status": payment["status"],
            "approved_cancel_amount": money(amount, tax_free, vat), "canceled_amount": canceled_so_far(payment),
            "cancel_available_amount": left(payment), "canceled_at": kst(payment["canceled_at"])}


@answering
def order(sim, fields, chosen):
    payment = find(sim, fields)
    actions = sim.ledger.rows("SELECT * FROM action WHERE ref = ? ORDER BY at, kind DESC, rowid", payment["ref"])
    body = {"tid": payment["ref"], "cid": payment["cid"], "status": payment["status"],
            "partner_order_id": payment["order_id"], "partner_user_id": payment["user_id"],
            "payment_method_type": payment["method"], "item_name": payment["item_name"],
            "quantity": payment["quantity"], "amount": money(payment["total"], payment["tax_free"], payment["vat"]),
            "canceled_amount": canceled_so_far(payment), "cancel_available_amount": left(payment),
            "created_at": kst(payment["created_at"]), "approved_at": kst(payment["approved_at"]),
            "canceled_at": kst(payment["canceled_at"]),
            "payment_action_details": [
                {"aid": action["aid"], "approved_at": kst(action["at"]), "amount": action["amount"],
                 "point_amount": 0, "discount_amount": 0, "payment_action_type": action["kind"]}
                for action in actions]}
    if payment["method"] == "CARD":
        body["selected_card_info"] = {"card_bin": "621640", "install_month": 0, "interest_free_install": "N"}
    return {name: value for name, value in body.items() if value is not None}


# Its calls have no Idempotency-Key: the payment's state protects it.

def again(known):
    raise NotImplementedError


def remember(ledger, key, place, reply):
    raise NotImplementedError


# The page

def look(sim, payment):
    """Somebody opens the page."""
    if payment["status"] == "READY":
        sim.ledger.update(payment["ref"], status="OPEN_PAYMENT")


def is_open(sim, payment):
    return payment["status"] not in ENDED + OVER and payment["expires_at"] > sim.now()


def press(sim, payment, action, method):
    """What pressing a button does; gives the address and the query to go to."""
    if action == "cancel":
        sim.ledger.update(payment["ref"], status="QUIT_PAYMENT", pg_token=None)
        return payment["cancel_url"], {}
    if action == "fail":
        sim.ledger.update(payment["ref"], status="FAIL_AUTH_PASSWORD", pg_token=None)
        return payment["fail_url"], {}
    token = payment["pg_token"] or secrets.token_hex(10)
    sim.ledger.update(payment["ref"], status="AUTH_PASSWORD", pg_token=token,
                      method="MONEY" if method == "money" else "CARD",
                      declines="USER_LOCKED" if method == "declined" else None)
    return payment["approve_url"], {"pg_token": token}
