"""What tests of coupon events share: the rows, what Redis has heard of them, and a crowd that wants one."""

import asyncio
import collections
import re
import time

import aiohttp

from lib.api import ticket_payload
from lib.wait import until

CODE = re.compile(r"[2-9A-HJ-NP-Z]{4}(-[2-9A-HJ-NP-Z]{4}){3}")
RETRY = {"COUPON_BUSY", "ORDER_IN_PROGRESS", "ORDER_CAPACITY", "RATE_LIMITED", "ORDERS_UNAVAILABLE",
         "ADMISSION_UNAVAILABLE"}
TAKE_IN_SQL = "SELECT outcome, code, few_left FROM issue_coupon(%s, %s, %s, 1, %s, %s, %s, %s, 'key')"


def issued(parts, event):
    return parts.postgres.value("SELECT count(*) FROM coupon WHERE event = %s AND member IS NOT NULL", event)


def next_second():
    """Each worker has a budget of look-ups of unknown events for each second of the host's clock: that of this second may be
    spent already."""
    second = int(time.monotonic())
    until(lambda: int(time.monotonic()) > second, 2, "the next second")


def in_sql(parts, event, queue, member, number, connection=None):
    """What a worker does in PostgreSQL, by itself or in a transaction of the caller's."""
    incarnation = parts.postgres.value("SELECT incarnation FROM queue WHERE id = %s", queue)
    words = (event, queue, incarnation, number, member, f"claim-{event}-{member}", f"admission-{event}-{member}")
    if connection is None:
        return parts.postgres.query(TAKE_IN_SQL, *words)[0]
    with connection.cursor() as cursor:
        cursor.execute(TAKE_IN_SQL, words)
        return cursor.fetchone()


def take_back(parts, event):
    """What the product never does: every coupon of the event is unissued again, and nobody is told."""
    parts.postgres.query("UPDATE coupon SET member = NULL, admission_id = NULL, epoch = NULL, seq = NULL, "
                         "issued_at = NULL WHERE event = %s", event)


def public(api, event, **expected):
    """The public state, once it is as expected: nginx and the workers remember it for a second each."""
    def seen():
        answer = api.call("GET", f"/v1/coupon-events/{event}")
        assert answer.status == 200, answer.body
        return answer.json if expected.items() <= answer.json.items() else None
    return until(seen, 6, f"the public state {expected}", every=0.1)


def key(queue, name):
    return f"sluice:{{{queue}}}:{name}"


def known(parts, queue, event):
    """What Redis has heard of an event: its record, and who has one."""
    owners = parts.redis.zrangebylex(key(queue, "couponOwners"), f"[{event}/", f"({event}0")
    return parts.redis.hget(key(queue, "coupons"), event), {name.split("/", 1)[1] for name in owners}


def stored(parts, event):
    """The same by PostgreSQL's rows."""
    record, = parts.postgres.query(
        "SELECT concat_ws('/', count(*), CASE WHEN bool_or(c.member IS NULL) THEN 0 ELSE 1 END, "
        "COALESCE(max(epoch_ms(e.opens_at)), 0), COALESCE(max(epoch_ms(e.ends_at)), 0)) "
        "FROM coupon c JOIN coupon_event e ON e.id = c.event WHERE c.event = %s", event)[0]
    rows = parts.postgres.query("SELECT member FROM coupon WHERE event = %s AND member IS NOT NULL", event)
    return record, {member for member, in rows}


class Crowd:
    """Members with several tabs each, which all do what the page does: enter, poll, ask, and ask again."""

    def __init__(self, api, queue, event, connections):
        self.api, self.queue, self.event, self.connections = api, queue, event, connections
        self.seqs, self.outcomes, self.unexpected = {}, {}, []
        self.asked, self.sold_out_at, self.tabs_ended, self.retries = set(), [], 0, collections.Counter()

    def run(self, members, tabs, seconds):
        asyncio.run(asyncio.wait_for(self._run(members, tabs), seconds))

    async def _run(self, members, tabs):
        connector = aiohttp.TCPConnector(limit=self.connections)
        async with aiohttp.ClientSession(connector=connector, cookie_jar=aiohttp.DummyCookieJar(),
                                         timeout=aiohttp.ClientTimeout(total=60)) as session:
            self.session = session
            await asyncio.gather(*(self._tab(member) for member in members for _ in range(tabs)))

    async def _send(self, call):
        try:
            return await self.api.send(self.session, *call)
        except aiohttp.ClientError:
            return None

    async def _patiently(self, call):
        """Until the answer invites no retry."""
        while True:
            answer = await self._send(call)
            if answer is not None and answer.code not in RETRY:
                return answer
            self.retries[answer.code if answer is not None else "no answer"] += 1
            await asyncio.sleep(0.3)

    async def _tab(self, member):
        await self._stand_in_line(member)
        self.tabs_ended += 1

    async def _stand_in_line(self, member):
        enter = ("POST", f"/v1/queues/{self.queue}/entries", member.headers(), None)
        answer = await self._patiently(enter)
        if answer.code == "SOLD_OUT":
            await self._look_for_mine(member)
            return
        if answer.status not in (200, 201):
            self.unexpected.append(answer.body)
            return
        self.seqs[member.name] = ticket_payload(answer["queueTicket"])["seq"]
        while True:
            answer = await self._patiently(("GET", f"/v1/queues/{self.queue}/position", member.headers(), None))
            if answer.status == 200 and answer["status"] == "READY":
                await self._click(member, answer["entryToken"])
                return
            if answer.status == 200 and (answer["status"] == "NOT_ENTERED" or answer["queueState"] == "SOLD_OUT"):
                await self._look_for_mine(member)
                return
            if answer.status != 200:
                self.unexpected.append(answer.body)
                return
            await asyncio.sleep(0.5)

    async def _look_for_mine(self, member):
        """The queue is over, or another tab has spent the token."""
        mine = await self._patiently(
            ("GET", f"/v1/coupon-events/{self.event}/coupons/mine", member.headers(), None))
        if mine.status not in (200, 404):
            self.unexpected.append(mine.body)
        self._end(member, mine["code"] if mine.status == 200 else "SOLD_OUT")

    async def _click(self, member, token):
        """A double click: each of the two asks until it has its answer."""
        call = member.coupon_call(self.event, token=token)
        self.asked.add(member.name)
        for answer in await asyncio.gather(self._patiently(call), self._patiently(call)):
            if answer.status in (200, 201):
                self._end(member, answer["code"])
            elif answer.code == "SOLD_OUT":
                self.sold_out_at.append(time.time())
                self._end(member, "SOLD_OUT")
            else:
                self.unexpected.append((member.name, answer.status, answer.body))

    def _end(self, member, outcome):
        self.outcomes.setdefault(member.name, set()).add(outcome)
