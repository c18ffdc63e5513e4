"""The API's words: what members and operators do, in one line each."""

import itertools
import json

from lib import tokens
from lib.client import Http, new_key
from lib.wait import until

_numbers = itertools.count(1)


def some_name(prefix):
    """A queue, product or member of this test alone."""
    return f"{prefix}-{next(_numbers)}"


class Member:
    """One member; remembers the latest ticket and entry token."""

    def __init__(self, api, name):
        self.api, self.name = api, name
        self.jwt = tokens.make(api.member_key, name)
        self.ticket = None
        self.token = None

    def headers(self, **more):
        return {"Authorization": f"Bearer {self.jwt}", **{k.replace("_", "-"): v for k, v in more.items()}}

    def _with_ticket(self):
        return self.headers(**({"X_Queue_Ticket": self.ticket} if self.ticket else {}))

    def enter_call(self, queue):
        return "POST", f"/v1/queues/{queue}/entries", self._with_ticket(), None

    def position_call(self, queue):
        return "GET", f"/v1/queues/{queue}/position", self._with_ticket(), None

    def order_call(self, queue, items, key=None, token=None):
        headers = self.headers(X_Entry_Token=token or self.token or "", Idempotency_Key=key or new_key())
        return "POST", "/v1/orders", headers, {"queue": queue, "items": items}

    def seat_order_call(self, queue, show, seats, key=None, token=None):
        headers = self.headers(X_Entry_Token=token or self.token or "", Idempotency_Key=key or new_key())
        return "POST", "/v1/orders", headers, {"queue": queue, "show": show, "seats": list(seats)}

    def order_seats(self, queue, show, seats, key=None, token=None):
        return self.api.call(*self.seat_order_call(queue, show, seats, key, token))

    def hold_call(self, show, *seats, token=None, **body):
        headers = self.headers(X_Entry_Token=token or self.token or "")
        return "POST", f"/v1/shows/{show}/holds", headers, {"seats": list(seats), **body}

    def hold(self, show, *seats, token=None, **body):
        return self.api.call(*self.hold_call(show, *seats, token=token, **body))

    def give_back(self, show, *seats):
        return self.api.call("DELETE", f"/v1/shows/{show}/holds", self.headers(),
                             {"seats": list(seats)} if seats else None)

    def my_holds(self, show):
        return self.api.call("GET", f"/v1/shows/{show}/holds/mine", self.headers())

    def coupon_call(self, event, token=None, **body):
        headers = self.headers(X_Entry_Token=token or self.token or "")
        return "POST", f"/v1/coupon-events/{event}/coupons", headers, body or None

    def coupon(self, event, token=None, **body):
        return self.api.call(*self.coupon_call(event, token, **body))

    def my_coupon(self, event):
        return self.api.call("GET", f"/v1/coupon-events/{event}/coupons/mine", self.headers())

    def enter(self, queue):
        answer = self.api.call(*self.enter_call(queue))
        if answer.status in (200, 201):
            self.ticket = answer["queueTicket"]
        return answer

    def position(self, queue):
        answer = self.api.call(*self.position_call(queue))
        if answer.status == 200 and answer["entryToken"]:
            self.token = answer["entryToken"]
        return answer

    def leave(self, queue):
        return self.api.call("DELETE", f"/v1/queues/{queue}/entries", self._with_ticket())

    def order(self, queue, items, key=None, token=None):
        return self.api.call(*self.order_call(queue, items, key, token))

    def orders(self):
        return self.api.call("GET", "/v1/orders", self.headers())

    def wait_ready(self, queue, seconds=15):
        """Polls until READY; returns that position."""
        def ready():
            answer = self.position(queue)
            return answer if answer.status == 200 and answer["status"] == "READY" else None
        return until(ready, seconds, f"{self.name} READY in {queue}", every=0.05)


class Api(Http):
    """A running system, by its port and its secrets folder."""

    def __init__(self, port, secrets):
        super().__init__(port)
        self.made = []  # queues
        self.admin_key = (secrets / "admin.key").read_text().strip()
        self.viewer_key = (secrets / "viewer.key").read_text().strip()
        self.member_key = tokens.Hs256((secrets / "member-jwt.key").read_text().strip())

    def member(self, name=None):
        return Member(self, name or some_name("m"))

    def call(self, method, path, headers=None, body=None, timeout=15):
        return self.together([(method, path, headers or {}, body)], timeout=timeout)[0]

    def operator_headers(self, **more):
        return {"Authorization": f"Bearer {self.admin_key}", **more}

    def admin(self, method, path, body=None):
        return self.call(method, f"/v1/admin{path}", self.operator_headers(), body, timeout=30)

    def queue(self, name=None, **settings):
        """Makes a queue that is quick unless told otherwise; returns its name."""
        name = name or some_name("q")
        answer = self.admin("PUT", f"/queues/{name}", {"ratePerSecond": 1000, "burst": 1000, "tickMs": 100,
                                                       **settings})
        assert answer.status in (200, 201), answer.body
        self.made.append(name)
        return name

    def delete_queues(self):
        """Those that a test has made: a scheduler that keeps hundreds of them ticking distorts every measurement."""
        calls = [("DELETE", f"/v1/admin/queues/{name}?force=true", self.operator_headers(), None) for name in self.made]
        for answer in self.together(calls, 4):
            assert answer.status in (204, 404), answer.body
        self.made = []

    def still_queue(self, name=None, **settings):
        """An open queue that admits nobody."""
        return self.queue(name, activation="hold", **settings)

    def product(self, queue, stock=100, amount=1000, sku=None):
        sku = sku or some_name("sku")
        answer = self.admin("PUT", f"/products/{sku}", {
            "name": f"Product {sku}", "price": {"amount": amount, "currency": "KRW"}, "stock": stock, "queue": queue})
        assert answer.status in (200, 201), answer.body
        return sku

    def concert(self, name=None, **fields):
        """Makes a concert; returns its name."""
        name = name or some_name("concert")
        answer = self.admin("PUT", f"/concerts/{name}", {"title": f"Concert {name}", "venue": "Hall", **fields})
        assert answer.status in (200, 201), answer.body
        return name

    def show(self, queue, seats=(), name=None, amount=1000, **fields):
        """Makes a show with these seats, or with a `plan`; returns its name."""
        name = name or some_name("show")
        body = {"concert": fields.pop("concert", None) or self.concert(), "startsAt": "2030-01-01T19:00:00Z",
                "queue": queue, **fields}
        if "plan" not in fields:
            price = {"amount": amount, "currency": "KRW"}
            body["seats"] = [{"id": seat, "section": seat.split("-")[0], "price": price} for seat in seats]
        answer = self.admin("PUT", f"/shows/{name}", body)
        assert answer.status in (200, 201), answer.body
        return name

    def seats(self, show, member=None, **headers):
        """The whole map as it was answered."""
        return self.call("GET", f"/v1/shows/{show}/seats", {**(member.headers() if member else {}), **headers})

    def seat_states(self, show, member=None):
        """Seat → what the map says of it, with a star where it is the member's."""
        answer = self.seats(show, member)
        assert answer.status == 200, answer.body
        return {seat["id"]: seat["status"] + ("*" if seat["mine"] else "") for seat in answer["seats"]}

    def coupon_event(self, queue, coupons=0, event=None, **fields):
        """Makes an event with so many fresh coupons; returns its name."""
        event = event or some_name("e")
        answer = self.admin("PUT", f"/coupon-events/{event}", {"name": f"Event {event}", "queue": queue, **fields})
        assert answer.status in (200, 201), answer.body
        if coupons:
            self.add_coupons(event, generate=coupons)
        return event

    def add_coupons(self, event, **body):
        answer = self.admin("POST", f"/coupon-events/{event}/codes", body)
        assert answer.status == 201, answer.body
        return answer.json

    def act(self, queue, action):
        answer = self.admin("POST", f"/queues/{queue}/actions/{action}")
        assert answer.status in (200, 204), answer.body
        return answer

    def stats(self, queue):
        answer = self.admin("GET", f"/queues/{queue}/stats")
        assert answer.status == 200, answer.body
        return answer.json

    def state(self, queue):
        return self.call("GET", f"/v1/queues/{queue}").json

    def ready_member(self, queue, name=None):
        """Someone who has entered and holds an entry token."""
        member = self.member(name)
        assert member.enter(queue).status == 201
        member.wait_ready(queue)
        return member

    def ready_members(self, queue, count, seconds=30):
        """The same for many, over few connections."""
        members = [self.member() for _ in range(count)]
        for answer, member in zip(self.together([m.enter_call(queue) for m in members], 16), members):
            assert answer.status == 201, answer.body
            member.ticket = answer["queueTicket"]

        def all_ready():
            waiting = [m for m in members if not m.token]
            for answer, member in zip(self.together([m.position_call(queue) for m in waiting], 16), waiting):
                member.token = answer["entryToken"]
            return all(m.token for m in members)
        until(all_ready, seconds, f"{count} members READY", every=0.1)
        return members


def ticket_payload(ticket):
    return tokens.payload_of(ticket)


def dump(value):
    return json.dumps(value).encode()
