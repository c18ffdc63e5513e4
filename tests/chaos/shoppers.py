"""The members: each does what its plan says, as a patient client that repeats what nobody could answer."""

import asyncio
import random
import time
from urllib.parse import parse_qs, urlencode, urlsplit

import aiohttp
from yarl import URL

from chaos.journal import Journal, Seen, Turn
from lib import tokens
from lib.client import new_key

CALL_S = 5
PROGRESS_S = 25
# What may be answered while something is broken, and is tried again.
TRY_AGAIN = {"ADMISSION_UNAVAILABLE", "ORDERS_UNAVAILABLE", "PAYMENT_UNAVAILABLE", "CATALOG_UNAVAILABLE", "RATE_LIMITED",
             "ORDER_CAPACITY", "ORDER_IN_PROGRESS", "COUPON_BUSY", "PAYMENT_IN_PROGRESS"}


class GaveUp(Exception):
    """The run is over and this member has not got through."""


class Reply:
    def __init__(self, status, body, headers):
        self.status, self.body, self.headers = status, body, headers
        self.code = body.get("code") if isinstance(body, dict) and status >= 400 else None

    def __getitem__(self, name):
        return self.body[name]

    def get(self, name):
        return self.body.get(name) if isinstance(self.body, dict) else None


class Shopper:
    def __init__(self, crowd, number, plan):
        self.crowd, self.plan = crowd, plan
        self.name = f"c{crowd.plan.seed}-{number}"
        self.jwt = tokens.make(crowd.member_key, self.name)
        self.draw = random.Random(f"shopper {plan.seed}")
        self.record = crowd.journal.record(self.name)
        self.ticket, self.token = None, None
        self.out_is_right = False     # NOT_ENTERED would be no surprise
        self.old_number = None        # that of a turn that has ended in an order
        self.asides = []

    # Calls

    async def think(self, most=.4):
        await asyncio.sleep(self.draw.uniform(.02, most))

    async def once(self, method, path, body=None, **headers):
        """One request. None: no answer."""
        sent = {name.replace("_", "-"): value for name, value in headers.items() if value}
        sent["Authorization"] = f"Bearer {self.jwt}"
        try:
            async with self.crowd.session.request(
                    method, URL(f"http://127.0.0.1:{self.crowd.port}{path}", encoded=True), json=body, headers=sent,
                    allow_redirects=False) as answer:
                kind = answer.headers.get("Content-Type", "")
                text = await answer.read()
                reply = Reply(answer.status, await answer.json(content_type=None) if "json" in kind and text else {},
                              answer.headers)
        except (aiohttp.ClientError, asyncio.TimeoutError, OSError, ValueError):
            return None
        self.crowd.heard(self, method, path, reply)
        return reply

    async def call(self, method, path, body=None, **headers):
        """The same until there is an answer that says something."""
        while True:
            reply = await self.once(method, path, body, **headers)
            if reply is not None and reply.code not in TRY_AGAIN:
                return reply
            self.crowd.check_time()
            await asyncio.sleep(self.draw.uniform(.1, .5))

    def wrong(self, word, *details):
        self.crowd.journal.finding(word, self.name, *details)

    # In line

    async def enter(self):
        self.record.stage = "entering"
        queue, sent = self.crowd.queue, time.monotonic()
        while True:
            reply = await self.call("POST", f"/v1/queues/{queue}/entries", X_Queue_Ticket=self.ticket)
            if reply.status in (200, 201):
                break
            if reply.code == "SESSION_REVOKED":
                # A request of before has come through late: a newer session than the one we know.
                self.ticket = None
            elif reply.code == "ALREADY_ACTIVE":
                await self.think()     # an unpaid order of before still has the place
            else:
                self.wrong("UNEXPECTED_ANSWER", "enter", reply.status, reply.body)
                raise GaveUp
            self.crowd.check_time()
        before = self.record.number
        self.ticket = reply["queueTicket"]
        number = tokens.payload_of(self.ticket)["seq"]
        if before is not None and number != before:
            if not self.crowd.lost_lately(self.record):
                self.wrong("NUMBER_CHANGED", before, "to", number)
            before = None
        if before is None:
            self.record.turns.append(Turn(number, sent, time.monotonic()))
        self.record.number = number
        self.out_is_right = False

    async def poll(self):
        sent = time.monotonic()
        reply = await self.call("GET", f"/v1/queues/{self.crowd.queue}/position", X_Queue_Ticket=self.ticket)
        if reply.code == "SESSION_REVOKED":
            await self.enter()
            return None
        if reply.status != 200:
            self.wrong("UNEXPECTED_ANSWER", "position", reply.status, reply.body)
            raise GaveUp
        # A repeat makes the time before too early, which only makes what follows from it weaker.
        self.record.seen.append(Seen(self.record.number, sent, time.monotonic(), reply["status"], reply["rank"], reply["entryToken"]))
        return reply

    async def wait(self):
        """Until the entry token is there: True; False: out of line, rightly."""
        self.record.stage = "waiting"
        while True:
            reply = await self.poll()
            if reply is None:
                continue
            if reply["status"] == "READY":
                self.token = reply["entryToken"]
                return True
            if reply["status"] == "NOT_ENTERED":
                if self.out_is_right:
                    return False
                if not await self.has_got_something():
                    self.wrong("LOST", "number", self.record.number, "has no place any more; turns:", self.record.turns)
                    raise GaveUp
                return False
            if self.plan.vanishes == "waiting" and self.draw.random() < .3:
                self.record.stage = "vanished"
                raise GaveUp
            if self.plan.leaves and self.draw.random() < .3:
                await self.leave()
                return False
            if self.plan.takes_over and self.draw.random() < .3:
                self.plan.takes_over = False
                self.ticket, number = None, self.record.number
                await self.enter()
                if self.record.number != number and not self.crowd.lost_lately(self.record):
                    self.wrong("NUMBER_CHANGED", number, self.record.number, "on a second screen")
            self.crowd.check_time()
            await asyncio.sleep(self.draw.uniform(.15, .5))

    async def leave(self):
        self.out_is_right, self.record.left = True, True
        reply = await self.call("DELETE", f"/v1/queues/{self.crowd.queue}/entries", X_Queue_Ticket=self.ticket)
        if reply.status not in (204, 409):
            self.wrong("UNEXPECTED_ANSWER", "leave", reply.status, reply.body)

    # What an entry token is good for

    async def has_got_something(self):
        """Whether an attempt whose answer was lost has come to something, by what the shop itself says."""
        reply = await self.call("GET", "/v1/orders")
        if reply.status == 200:
            for order in reply["orders"]:
                if order["queue"] == self.crowd.queue and order["id"] not in self.record.orders:
                    self.note_order(order, None)
                    return order
        if self.plan.wants == "coupon" and self.record.coupon is None:
            reply = await self.call("GET", f"/v1/coupon-events/{self.crowd.event}/coupons/mine")
            if reply.status == 200:
                self.note_coupon(reply["code"])
                return reply.body
        return None

    def note_order(self, order, key):
        known = self.record.keys.get(key)
        if key is not None and known not in (None, order["id"]):
            self.wrong("TWO_ORDERS_ONE_KEY", known, order["id"])
        if key is not None:
            self.record.keys[key] = order["id"]
        self.record.orders[order["id"]] = key or self.record.orders.get(order["id"])
        for seat in order.get("seats") or []:
            self.record.seats[seat if isinstance(seat, str) else seat["id"]] = order["id"]

    def note_coupon(self, code):
        if self.record.coupon not in (None, code):
            self.wrong("TWO_COUPONS", self.record.coupon, code)
        self.record.coupon = code

    def body_of(self, wants):
        if wants == "free":
            return {"queue": self.crowd.queue, "items": [{"sku": self.crowd.free, "quantity": 1}]}
        if wants == "plenty":
            return {"queue": self.crowd.queue, "items": [{"sku": self.crowd.plenty, "quantity": 1}]}
        return {"queue": self.crowd.queue, "items": [{"sku": self.crowd.scarce, "quantity": 1}]}

    async def send_order(self, body, key):
        """Once, or as twins, or with the token spent under two keys at once."""
        calls = [self.once("POST", "/v1/orders", body, X_Entry_Token=self.token, Idempotency_Key=key)]
        if self.plan.twins:
            calls.append(self.once("POST", "/v1/orders", body, X_Entry_Token=self.token, Idempotency_Key=key))
        other = f"{key}-other" if self.plan.spends_twice else None
        if other:
            calls.append(self.once("POST", "/v1/orders", body, X_Entry_Token=self.token, Idempotency_Key=other))
        replies = await asyncio.gather(*calls)
        for index, reply in enumerate(replies):
            if reply is not None and reply.status in (200, 201):
                self.note_order(reply.body, other if other and index == len(replies) - 1 else key)
                return reply
        return next((reply for reply in replies if reply is not None), None)

    async def order(self):
        """With the token, to the end. The order, or None where the token is gone without one."""
        wants, key = self.plan.wants, new_key()
        self.record.stage = f"ordering {wants}"
        while True:
            self.crowd.check_time()
            seats = await self.hold_seats() if wants == "seats" else ()
            if seats is None:
                wants, key = "plenty", new_key()
                continue
            body = self.body_of(wants) if wants != "seats" else {
                "queue": self.crowd.queue, "show": self.crowd.show, "seats": list(seats)}
            made = await self.spend(body, key)
            if made == "else":
                wants, key = ("plenty" if wants != "seats" else wants), new_key()
            elif made == "seats":
                continue
            else:
                return made

    async def spend(self, body, key):
        """The order, "else": something else is to be bought, "seats": they are to be held again, None: no token any more."""
        while True:
            self.crowd.check_time()
            reply = await self.send_order(body, key)
            if reply is not None and reply.status in (200, 201):
                self.crowd.bodies[reply["id"]] = body
                return reply.body
            if reply is None or reply.code in TRY_AGAIN:
                await asyncio.sleep(self.draw.uniform(.1, .4))
            elif reply.code == "OUT_OF_STOCK":
                return "else"
            elif reply.code in ("SEAT_NOT_HELD", "SEATS_TAKEN"):
                return "seats"
            elif reply.code == "ENTRY_TOKEN_INVALID":
                return await self.has_got_something()
            elif reply.code == "IDEMPOTENCY_KEY_REUSED" and "seats" in body:
                return await self.has_got_something()
            else:
                self.wrong("UNEXPECTED_ANSWER", "order", reply.status, reply.body)
                raise GaveUp

    async def hold_seats(self):
        for _ in range(4):
            count = self.draw.choice([1, 1, 2])
            chosen = self.draw.sample(self.crowd.all_seats, count)
            reply = await self.call("POST", f"/v1/shows/{self.crowd.show}/holds", {"seats": chosen, "replace": True},
                                    X_Entry_Token=self.token)
            if reply.status in (200, 201):
                return sorted(chosen)
            if reply.code == "ENTRY_TOKEN_INVALID":
                return sorted(chosen)    # the order will say what has become of it
            if reply.code not in ("SEATS_TAKEN", "TOO_MANY_SEATS"):
                self.wrong("UNEXPECTED_ANSWER", "hold", reply.status, reply.body)
                raise GaveUp
        return None

    async def take_coupon(self):
        self.record.stage = "taking a coupon"
        while True:
            reply = await self.call("POST", f"/v1/coupon-events/{self.crowd.event}/coupons", X_Entry_Token=self.token)
            if reply.status in (200, 201):
                self.note_coupon(reply["code"])
                return True
            if reply.code == "SOLD_OUT":
                return False
            if reply.code == "ENTRY_TOKEN_INVALID":
                return await self.has_got_something() is not None
            self.wrong("UNEXPECTED_ANSWER", "coupon", reply.status, reply.body)
            raise GaveUp

    # Money

    async def pay(self, order):
        self.record.stage = "paying"
        if order["status"] != "PENDING_PAYMENT" or not self.plan.pays:
            return
        reply = await self.call("POST", f"/v1/orders/{order['id']}/payment")
        if reply.status not in (200, 201):
            return
        back = await self.press(reply["redirectUrl"])
        if back is None:
            return
        parts = urlsplit(back)
        for _ in range(self.draw.choice([1, 1, 2])):
            reply = await self.call("GET", f"{parts.path}?{parts.query}")
            if reply.status == 303:
                word = parse_qs(urlsplit(reply.headers["Location"]).query)["payment"][0]
                self.record.results.append((word, order["id"]))

    async def press(self, url):
        data = urlencode({"action": self.plan.pays, "method": "money"}).encode()
        parts = urlsplit(url)
        for _ in range(20):
            try:
                async with self.crowd.session.post(
                        URL(f"http://127.0.0.1:{self.crowd.provider_port}{parts.path}?{parts.query}", encoded=True),
                        data=data, headers={"Content-Type": "application/x-www-form-urlencoded"},
                        allow_redirects=False) as answer:
                    return answer.headers.get("Location")
            except (aiohttp.ClientError, asyncio.TimeoutError, OSError):
                await asyncio.sleep(.2)
        return None

    async def afterwards(self, order):
        key = self.record.orders.get(order["id"])
        if self.plan.replays and key is not None:
            body = self.crowd.bodies.get(order["id"])
            if body is not None:
                reply = await self.call("POST", "/v1/orders", body, X_Entry_Token=self.token, Idempotency_Key=key)
                if reply.status in (200, 201):
                    self.note_order(reply.body, key)
                elif reply.code != "ENTRY_TOKEN_INVALID":
                    self.wrong("UNEXPECTED_ANSWER", "replay", reply.status, reply.body)
        await self.pay(order)
        if self.plan.cancels:
            self.record.stage = "canceling"
            self.record.canceled.add(order["id"])
            reply = await self.call("POST", f"/v1/orders/{order['id']}/cancel")
            if reply.status not in (200, 409):
                self.wrong("UNEXPECTED_ANSWER", "cancel", reply.status, reply.body)

    # A life

    async def turn(self):
        """Once through the line. Returns whether something was got."""
        await self.enter()
        if self.record.number == self.old_number:
            return  # nobody could tell Redis of the order yet: this is the place of before, which goes when somebody does
        while True:
            if not await self.wait():
                return
            if self.plan.vanishes == "ready":
                self.record.stage = "vanished"
                raise GaveUp
            if self.plan.wants == "coupon":
                if await self.take_coupon():
                    return
                self.plan.wants = "thing"
            order = await self.order()
            if order is not None:
                # The turn is over; a coupon found instead of an order has no id.
                if "id" in order:
                    await self.afterwards(order)
                return
            # The token is void. Whoever had it stands in line again, after a loss.

    async def live(self):
        await asyncio.sleep(self.plan.arrives_ms / 1000)
        try:
            await self.turn()
            if self.plan.returns and not self.record.left:
                self.old_number, self.record.number, self.ticket, self.plan.wants = self.record.number, None, None, "free"
                await self.turn()
            self.record.stage = "done"
            self.crowd.progress_at = time.monotonic()
        except GaveUp:
            if self.record.stage != "vanished":
                self.record.stage = "gave up while " + self.record.stage
        except Exception as error:  # pylint: disable=broad-except
            self.wrong("HARNESS", repr(error))
        self.record.over = True


class Crowd:
    """All the members of a run, in a thread of their own."""

    def __init__(self, plan, parts, shop):
        self.plan, self.parts = plan, parts
        self.queue, self.scarce, self.plenty, self.free, self.show, self.event = (
            shop.queue, shop.scarce, shop.plenty, shop.free, shop.show, shop.event)
        self.all_seats = shop.seats
        self.journal = Journal()
        self.member_key, self.port, self.provider_port = parts.api.member_key, parts.port, parts.simulator.port
        self.bodies = {}
        self.session = None
        self.ends_at = None
        self.progress_at = 0.0    # when the last member was done
        self.losses = []      # filled by whoever does the faults
        self.shoppers = [Shopper(self, number, member) for number, member in enumerate(plan.members)]

    def check_time(self):
        """Patience ends when nobody has got through for long, not when a busy machine is slow."""
        if self.ends_at is not None and time.monotonic() > max(self.ends_at, self.progress_at + PROGRESS_S):
            raise GaveUp

    def lost_lately(self, record):
        """Whether Redis has lost its memory since the member's turn began."""
        since = record.turns[-1].sent if record.turns else 0
        return any(moment >= since - 6 for moment in self.losses)

    def heard(self, shopper, method, path, reply):
        """What no answer may ever be."""
        journal = self.journal
        journal.answers += 1
        if reply.status >= 400:
            journal.count(reply.code or reply.status)
        if reply.status >= 500 and (reply.status != 503 or reply.code is None):
            shopper.wrong("UNEXPECTED_ANSWER", method, path, reply.status, reply.body)
        elif reply.status in (429, 503) and "Retry-After" not in reply.headers:
            shopper.wrong("NO_RETRY_AFTER", method, path, reply.status, reply.body)

    async def _run(self):
        connector = aiohttp.TCPConnector(limit=0)
        async with aiohttp.ClientSession(connector=connector, cookie_jar=aiohttp.DummyCookieJar(),
                                         timeout=aiohttp.ClientTimeout(total=CALL_S)) as self.session:
            await asyncio.gather(*(shopper.live() for shopper in self.shoppers))

    def run(self):
        asyncio.run(self._run())
