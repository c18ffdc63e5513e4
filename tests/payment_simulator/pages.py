"""The page on which somebody pays, or does not. It needs no script, and says in both languages what it is."""

import html
from urllib.parse import urlencode

import simulator

HEADERS = [("Cache-Control", "no-store"), ("Referrer-Policy", "no-referrer"), ("X-Content-Type-Options", "nosniff"),
           ("X-Frame-Options", "DENY"), ("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'")]
TEXTS = {
    "ko": {
        "title": "결제 시뮬레이터", "banner": "결제 시뮬레이터입니다. 실제 돈은 오가지 않습니다.", "item": "상품",
        "amount": "결제 금액", "shop_order": "결제 번호", "method": "결제 수단", "money": "페이머니", "card": "카드",
        "declined": "승인이 거절되는 카드", "pay": "결제하기", "cancel": "취소하고 돌아가기", "fail": "인증 실패시키기",
        "over": "이 결제는 이미 끝났습니다.", "expired": "결제 시간이 지났습니다.",
        "none": "이런 결제가 없습니다.", "other": "English", "other_code": "en", "until": "까지 유효"},
    "en": {
        "title": "Payment simulator", "banner": "This is a payment simulator. No money moves.", "item": "Item",
        "amount": "To pay", "shop_order": "Payment", "method": "Pay with", "money": "Pay money", "card": "Card",
        "declined": "A card that will be declined", "pay": "Pay", "cancel": "Cancel and go back",
        "fail": "Fail to identify", "over": "This payment is over.", "expired": "The time to pay has run out.",
        "none": "There is no such payment.", "other": "한국어", "other_code": "ko", "until": "good until"}}
STYLE = """
body { margin: 0; font: 16px/1.5 system-ui, sans-serif; color: #1c1c1c; background: #f4f4f5; }
.banner { padding: .75rem 1rem; color: #1c1c1c; background: repeating-linear-gradient(135deg, #ffd43b 0 18px,
  #ffe278 18px 36px); font-weight: 700; text-align: center; }
main { box-sizing: border-box; max-width: 26rem; margin: 1.5rem auto; padding: 1.5rem; background: #fff;
  border: 2px dashed #b08900; border-radius: .75rem; }
h1 { margin: 0 0 1rem; font-size: 1.25rem; }
dl { display: grid; grid-template-columns: auto 1fr; gap: .25rem 1rem; margin: 0 0 1.25rem; }
dt { color: #52525b; } dd { margin: 0; text-align: right; overflow-wrap: anywhere; }
fieldset { margin: 0 0 1rem; border: 1px solid #d4d4d8; border-radius: .5rem; } label { display: block; padding: .25rem; }
button { display: block; width: 100%; margin-top: .5rem; padding: .75rem; font: inherit; border: 1px solid #71717a;
  border-radius: .5rem; background: #fff; color: inherit; cursor: pointer; }
button[value=pay] { border-color: #1c1c1c; background: #ffd43b; font-weight: 700; }
.lang { margin: 1rem 0 0; text-align: center; font-size: .875rem; } a { color: #1d4ed8; }
@media (prefers-color-scheme: dark) { body { color: #f4f4f5; background: #18181b; } main { background: #27272a; }
  dt { color: #a1a1aa; } button { background: #3f3f46; } button[value=pay] { color: #1c1c1c; } a { color: #93c5fd; } }
"""


def language(asked, accepted):
    """ko where it is asked for or accepted before en; else en."""
    if asked in TEXTS:
        return asked
    words = [word.split(";")[0].strip()[:2].lower() for word in accepted.split(",")]
    known = [word for word in words if word in TEXTS]
    return known[0] if known else "en"


def show(sim, token, lang, opened):
    """Status and text of the page. `opened`: by a person, not just looked for."""
    words = TEXTS[lang]
    with sim.ledger.transaction():
        payment = sim.ledger.row("SELECT * FROM payment WHERE page = ?", token)
        if not payment:
            return 404, frame(words, lang, f"<p>{words['none']}</p>")
        api = simulator.APIS[payment["api"]]
        if not api.is_open(sim, payment):
            late = payment["approved_at"] is None and payment["expires_at"] <= sim.now()
            return 410, frame(words, lang, facts(words, payment) + f"<p>{words['expired' if late else 'over']}</p>")
        if opened:
            api.look(sim, payment)
    return 200, frame(words, lang, facts(words, payment) + form(words))


def facts(words, payment):
    rows = [(words["item"], payment["item_name"]), (words["amount"], f"{payment['total']:,} {payment['currency']}"),
            (words["shop_order"], payment["order_id"])]
    return "<dl>" + "".join(f"<dt>{html.escape(name)}</dt><dd>{html.escape(value)}</dd>" for name, value in rows) + \
        "</dl>"


def form(words):
    methods = "".join(
        f'<label><input type="radio" name="method" value="{name}"{" checked" if name == "money" else ""}> '
        f"{words[name]}</label>" for name in ("money", "card", "declined"))
    buttons = "".join(f'<button name="action" value="{name}">{words[name]}</button>'
                      for name in ("pay", "cancel", "fail"))
    return f'<form method="post"><fieldset><legend>{words["method"]}</legend>{methods}</fieldset>{buttons}</form>'


def frame(words, lang, inside):
    return (f'<!DOCTYPE html>\n<html lang="{lang}"><head><meta charset="utf-8">'
            f'<meta name="viewport" content="width=device-width, initial-scale=1"><meta name="robots" content="noindex">'
            f"<title>{words['title']}</title><style>{STYLE}</style></head>\n"
            f'<body><div class="banner" role="note">{words["banner"]}</div><main><h1>{words["title"]}</h1>{inside}'
            f'<p class="lang"><a href="?lang={words["other_code"]}" lang="{words["other_code"]}">{words["other"]}</a></p>'
            "</main></body></html>\n")


def press(sim, token, action, method):
    """Where to go after a button was pressed; None where that does nothing."""
    with sim.ledger.transaction():
        payment = sim.ledger.row("SELECT * FROM payment WHERE page = ?", token)
        if not payment or action not in ("pay", "cancel", "fail"):
            return None
        api = simulator.APIS[payment["api"]]
        if not api.is_open(sim, payment):
            return None
        address, query = api.press(sim, payment, action, method)
    if not query:
        return address
    return address + ("&" if "?" in address else "?") + urlencode(query)
