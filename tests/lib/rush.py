"""A rush: many members at once who enter, poll and order, each by their own records, whatever happens meanwhile."""

import asyncio
import time
from datetime import datetime

import aiohttp

from lib.api import ticket_payload


class Shopper:
    """One member of the rush: what was answered, and when."""

    def __init__(self, api, name=None):
        self.member = api.member(name)
        self.entered = self.ready = self.ordered = None  # when the answer came, monotonic
        self.seqs, self.tokens, self.orders = set(), {}, set()
        self.refused = {}

    def note_refusal(self, answer):
        self.refused[answer.code] = self.refused.get(answer.code, 0) + 1

    def note_ticket(self, ticket):
        if ticket:
            self.member.ticket = ticket
            self.seqs.add(ticket_payload(ticket)["seq"])


class Rush:
    """`run()` in a thread or by itself; the records are in `shoppers`."""

    def __init__(self, api, queue, items, count, arrive_s=2.0, poll_s=0.25, give_up_s=150, order=True):
        self.api, self.queue, self.items = api, queue, items
        self.shoppers = [Shopper(api) for _ in range(count)]
        self.arrive_s, self.poll_s, self.give_up_s = arrive_s, poll_s, give_up_s
        self.order = order
        self.events = []  # (when, what): answers that went well

    def run(self):
        asyncio.run(self._run())

    async def _run(self):
        timeout = aiohttp.ClientTimeout(total=30)
        async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=64), timeout=timeout,
                                         cookie_jar=aiohttp.DummyCookieJar()) as session:
            self.begin = time.monotonic()
            pause = self.arrive_s / len(self.shoppers)
            await asyncio.gather(*(self._shop(session, shopper, i * pause) for i, shopper in enumerate(self.shoppers)))

    async def _call(self, session, shopper, call):
        try:
            answer = await self.api.send(session, *call)
        except (aiohttp.ClientError, asyncio.TimeoutError):
            return None
        if answer.status >= 400:
            shopper.note_refusal(answer)
        return answer

    async def _shop(self, session, shopper, after):
        await asyncio.sleep(after)
        member, key = shopper.member, None
        deadline = time.monotonic() + self.give_up_s
        while time.monotonic() < deadline and not shopper.ordered:
            if not member.ticket:
                answer = await self._call(session, shopper, member.enter_call(self.queue))
                if answer and answer.status in (200, 201):
                    shopper.entered = time.monotonic()
                    self.events.append((shopper.entered, "entered"))
                    shopper.note_ticket(answer["queueTicket"])
                    continue
            else:
                answer = await self._call(session, shopper, member.position_call(self.queue))
                if answer and answer.status == 200:
                    self._note_position(shopper, answer)
                    if answer["status"] == "READY":
                        if not self.order:
                            return
                        key = key or f"key-{member.name}"
                        order = await self._call(session, shopper, member.order_call(
                            self.queue, self.items, key=key, token=answer["entryToken"]))
                        if order and order.status in (200, 201):
                            shopper.ordered = time.monotonic()
                            shopper.orders.add(order["id"])
                            self.events.append((shopper.ordered, "ordered"))
                            return
            await asyncio.sleep(self.poll_s)

    def _note_position(self, shopper, answer):
        now = time.monotonic()
        self.events.append((now, "polled"))
        shopper.note_ticket(answer.json.get("queueTicket"))
        if answer["status"] == "READY" and answer["entryToken"] not in shopper.tokens:
            shopper.ready = shopper.ready or now
            shopper.tokens[answer["entryToken"]] = (_ms(answer["entryTokenExpiresAt"]), now)
            self.events.append((now, "ready"))

    def first(self, what, after):
        """When something went well for the first time after a moment."""
        return min(moment for moment, kind in self.events if kind == what and moment > after)

    def longest_gap(self, what):
        """The longest time in which nothing of it went well."""
        moments = sorted(moment for moment, kind in self.events if kind == what)
        return max((b - a for a, b in zip(moments, moments[1:])), default=0)

    def admissions(self):
        """(when the token ends in ms, number, when it was first seen), of each token that anybody was shown, in order. The
        end tells when it was given out, for those seen before an outage moved it."""
        return sorted((ends, min(shopper.seqs), seen) for shopper in self.shoppers
                      for ends, seen in shopper.tokens.values())

    def refusals(self):
        total = {}
        for shopper in self.shoppers:
            for code, count in shopper.refused.items():
                total[code] = total.get(code, 0) + count
        return total


def _ms(text):
    return datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp() * 1000
