"""A coupon drop as the browser tests see it: the event, its queue, and visitors of the page in the sample shop."""

import json
import time

from lib.api import some_name
from lib.project import ROOT
from lib.wait import until

TEXTS = {language: json.loads((ROOT / "web" / "shop" / "assets" / "texts" / f"{language}.json").read_text())
         for language in ("en", "ko")}
EN = TEXTS["en"]
FACE = "document.body.dataset.state === argument"
PROOF_S = 40  # two workers on a machine that has much else to do

# Runs before the page: a function of (number, options, send) gives the answers to its requests for a coupon.
MEDDLING = """
window.asked = 0;
const send = window.fetch.bind(window);
window.fetch = (path, options) => path.endsWith('/coupons') && options.method === 'POST' ?
    (%s)(++window.asked, options, () => send(path, options)) : send(path, options);
"""
SPOILED = """(number, options, send) => {
    if (number <= %d)
        options.body = JSON.stringify({captcha: btoa('{}')});
    return send();
}"""
LOST = """async (number, options, send) => {
    const answer = await send();
    if (number === 1)
        throw new TypeError('the answer is lost');
    return answer;
}"""


def refusing(codes):
    """Meddles so that the page is refused with these codes, one after the other, and then served."""
    return """async (number, options, send) => {
        const [code, status] = %s[number - 1] || [];
        const body = JSON.stringify({code, instance: `request-${number}`});
        return code ? new Response(body, {status, headers: {'Retry-After': '1'}}) : send();
    }""" % json.dumps(list(codes.items()))


class CouponDrop:
    """A coupon event with a queue of its own; `still` ones let nobody in yet."""

    def __init__(self, running, api, coupons, still, **fields):
        self.api, self.port = api, running.port
        self.queue = api.queue(some_name("drop"), identity="visitor", **({"ratePerSecond": 0} if still else {}))
        self.event = api.coupon_event(self.queue, coupons, some_name("coupons"), **{"captcha": "altcha", **fields})
        self.path = f"/v1/coupon-events/{self.event}/coupons"

    def change(self, **fields):
        event = self.api.admin("GET", f"/coupon-events/{self.event}").json
        assert self.api.admin("PUT", f"/coupon-events/{self.event}", {**event, **fields}).status == 200

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}/shop/coupon.html?event={self.event}"

    def let_in(self):
        assert self.api.admin("PATCH", f"/queues/{self.queue}", {"ratePerSecond": 1000, "burst": 1000}).status == 200

    def issued(self):
        return self.api.admin("GET", f"/coupon-events/{self.event}")["issued"]

    def visit(self, browser, **options):
        page = browser.page(**options)
        page.goto(self.url)
        return page

    def line_up(self, browser, **options):
        page = self.visit(browser, **options)
        page.until(FACE, "INVITE")
        page.click("[data-face=INVITE] button")
        return page


def after(seconds):
    moment = time.time() + seconds
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(moment)) + f".{int(moment % 1 * 1000):03}Z"


def look_again(page, expression, argument=None):
    """The person comes back to the tab, until the page has seen what is new."""
    def seen():
        page.hide()
        page.show()
        return page.evaluate(expression, argument)
    until(seen, 15, f"{expression} in {page.id}", every=0.5)


def asked(page, path):
    return [request.status for request in page.requests(path)]
