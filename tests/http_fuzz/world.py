"""What the fuzzer's requests are about: things of a round, made anew now and then, and a victim whose things must stay."""

import threading

from lib import tokens
from lib.client import new_key
from lib.gate import Visitor

MEMBERS = 8
SEATS = [f"A-{number}" for number in range(1, 40)]


def queues_of(number):
    """Names of a round's queues: for members, for visitors, for what operators do to one, and a lottery."""
    return tuple(f"fz-{kind}{number}" for kind in ("", "v-", "x-", "l-"))


class Caller:
    """One who calls: headers of the login, and what they have of a queue's."""

    def __init__(self, login, role, ticket=None, token=None):
        self.login, self.role, self.ticket, self.token = login, role, ticket, token


class World:
    """Names and callers of the present round."""

    def __init__(self, api):
        self.api = api
        self.lock = threading.Lock()
        self.round = 0
        self.secret_of_members = api.member_key
        self.victim = Victim(api)
        self.orders = []
        self.begin_round()

    def begin_round(self):
        """Throws away what the round before has made of its queues, and makes new ones."""
        api = self.api
        with self.lock:
            before, number = self.round, self.round + 1
            queue, visitors, steered, lottery = queues_of(number)
            api.queue(queue)
            api.queue(steered)
            api.queue(lottery, mode="lottery", opensAt="2100-01-01T00:00:00Z")
            api.queue(visitors, identity="visitor")
            sku, event, show, concert = f"fz-sku-{number}", f"fz-event-{number}", f"fz-show-{number}", f"fz-concert-{number}"
            api.product(queue, sku=sku, stock=1000)
            api.coupon_event(queue, 50, event=event)
            api.show(queue, SEATS, name=show, concert=api.concert(concert))
            members = api.ready_members(queue, MEMBERS)
            browsers = [Visitor(api.port, headers={}) for _ in range(2)]
            for browser in browsers:
                browser.ask(f"/v1/queues/{visitors}/entries", "POST")
            # One for whoever has ordered, with a payment that was begun.
            order = members[0].order(queue, [{"sku": sku, "quantity": 1}])
            payment = api.call("POST", f"/v1/orders/{order['id']}/payment", members[0].headers()) if order.status == 201 else None
            listed = api.admin("GET", f"/payments?order={order['id']}").json["payments"] if payment is not None else []
            self.orders = [order["id"]] if order.status == 201 else []
            self.names = {
                "queue": [*[queue] * 6, visitors, lottery, "shop"], "steered": [steered], "generate": [1, 5, 50], "quantity": [1],
                "sku": [sku], "event": [event], "show": [show], "concert": [concert],
                "seats": SEATS, "order": self.orders or ["o_" + "A" * 22], "payment": [one["id"] for one in listed] or ["p_" + "A" * 22],
                "member": [member.name for member in members], "lang": ["ko", "en"], "page": ["", "index.html", "mug.html", "none", "assets/shop.css"], "action": ["pause", "resume", "drain", "sold-out", "reset"],
                "provider": ["kakaopay", "toss"], "currency": ["KRW"], "opensAt": [None], "closesAt": [None], "endsAt": [None], "url": ["/", "/sale/?x=1"],
                "captcha": ["none"], "code": ["AAAA-BBBB"], "state": ["A" * 43], "target": [f"queue/{queue}"]}
            self.names["id"] = self.names["order"]
            jwts = [Caller({"Authorization": f"Bearer {member.jwt}"}, "member", member.ticket, member.token) for member in members]
            cookies = [Caller({"Cookie": "; ".join(f"{name}={value}" for name, value in browser.cookies.items())}, "visitor") for browser in browsers]
            at_gate = [Visitor(api.port) for _ in range(3)]
            for browser in at_gate:
                browser.ask("/shop/")
            passes = [Caller({"Cookie": "; ".join(f"{name}={value}" for name, value in browser.cookies.items())}, "visitor") for browser in at_gate]
            forged = [Caller({"Authorization": f"Bearer {token}"}, "forged")
                      for name, token in tokens.hostile(self.secret_of_members).items() if name != "huge" and token.isprintable()]
            self.callers = {"member": jwts, "visitor": cookies, "gate": passes, "forged": forged, "none": [Caller({}, "none")],
                            "operator": [Caller(api.operator_headers(), "operator")],
                            "viewer": [Caller({"Authorization": f"Bearer {api.viewer_key}"}, "viewer")]}
            self.round = number
        for old in queues_of(before) if before else ():
            api.admin("DELETE", f"/queues/{old}?force=true")
            api.made.remove(old)

    def names_of(self, field):
        return self.names.get(field, [])


class Victim:
    """Somebody whom the fuzzer does not know, in queues of whose names it has never heard."""

    def __init__(self, api):
        self.api = api
        still, queue = api.still_queue("zz-victim-still-7q2"), api.queue("zz-victim-7q2")
        self.waiting, self.ready, self.buyer = api.member("zz-waiting"), api.ready_member(queue, "zz-ready"), api.ready_member(queue, "zz-buyer")
        assert self.waiting.enter(still).status in (200, 201)
        self.still, self.queue = still, queue
        sku = api.product(queue, sku="zz-victim-sku-7q2", amount=0)  # paid at once, so that it does not end
        self.show = api.show(queue, ["A-1"], name="zz-victim-show-7q2", concert=api.concert("zz-victim-concert-7q2"),
                             holdTtlSeconds=3600)
        self.ready.hold(self.show, "A-1")
        order = self.buyer.order(queue, [{"sku": sku, "quantity": 1}], key=new_key())
        assert order.status == 201, order.body
        self.order = order["id"]
        self.secrets = [self.order, *(secret for one in (self.waiting, self.ready, self.buyer) for secret in (one.jwt, one.ticket, one.token) if secret)]
        self.before = self.state()

    def state(self):
        place = self.waiting.position(self.still)
        order = self.api.call("GET", f"/v1/orders/{self.order}", self.buyer.headers())
        return (place["status"], place["rank"], self.ready.my_holds(self.show)["seats"], order["status"], order["total"])
