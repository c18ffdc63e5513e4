"""People who stand in line while operators work on the system: they poll without rest, order when it is their turn, and
nothing that they are told may be wrong."""

import asyncio
import itertools
import threading
import time

import aiohttp

from lib import tokens
from lib.client import new_key
from lib.wait import until

PAUSE_S = 0.1


class Person:
    """One of them: where they stood at last, and what they have ordered."""

    def __init__(self, name, is_member):
        self.name, self.is_member = name, is_member
        self.cookies = {}
        self.ticket = None
        self.seq = None
        self.rank = None
        self.status = None
        self.token = None
        self.orders = []
        self.polls = 0

    def headers(self, key, **more):
        sent = {name.replace("_", "-"): value for name, value in more.items() if value}
        if self.ticket:
            sent["X-Queue-Ticket"] = self.ticket
        if self.is_member:
            # As a login does it: by the key that signs now.
            sent["Authorization"] = f"Bearer {tokens.make(key(), self.name)}"
        if self.cookies:
            sent["Cookie"] = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        return sent


class WaitingCrowd:
    """A crowd in `queue`. `ports` are the hosts that they reach, in turn; more can come and go. `key` gives what signs
    members' JWTs; without it they are visitors. With `sku` they order."""

    def __init__(self, queue, count, ports, key=None, sku=None):
        self.queue, self.ports, self.key, self.sku = queue, list(ports), key, sku
        self.people = [Person(f"s-{queue}-{number}", key is not None) for number in range(count)]
        self.wrong = []
        self._turns = itertools.count()
        self._end = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._run()), daemon=True)

    # What a test asks

    def start(self):
        self._thread.start()
        until(lambda: self.wrong or all(person.polls for person in self.people), 30, "all of them stand in line")
        self.assert_right()
        return self

    def stop(self):
        self._end.set()
        self._thread.join(90)
        assert not self._thread.is_alive()

    def assert_right(self):
        assert not self.wrong, self.wrong[:10]

    def polled_again(self, times=3, seconds=20):
        """Everybody has had so many more answers, and they were right."""
        before = {person: person.polls for person in self.people}
        until(lambda: self.wrong or all(person.orders or person.polls >= before[person] + times for person in self.people),
              seconds, "answers for everybody")
        self.assert_right()

    def ordered(self):
        return [person for person in self.people if person.orders]

    # What they do

    async def _run(self):
        connector = aiohttp.TCPConnector(limit=0, force_close=True)
        async with aiohttp.ClientSession(connector=connector, cookie_jar=aiohttp.DummyCookieJar(),
                                         timeout=aiohttp.ClientTimeout(total=60)) as self._session:
            await asyncio.gather(*(self._stand(person) for person in self.people))

    async def _stand(self, person):
        try:
            # One after another, so that who comes first is known.
            await asyncio.sleep(0.002 * self.people.index(person))
            answer = await self._call(person, "POST", f"/v1/queues/{self.queue}/entries", (200, 201))
            person.ticket = answer["queueTicket"]
            person.seq = tokens.payload_of(person.ticket)["seq"]
            while not self._end.is_set() and not person.orders:
                await self._poll(person)
                await asyncio.sleep(PAUSE_S)
        except Exception as error:  # pylint: disable=broad-except
            self.wrong.append((person.name, repr(error)))

    async def _poll(self, person):
        answer = await self._call(person, "GET", f"/v1/queues/{self.queue}/position", (200,))
        if answer["status"] not in ("WAITING", "READY"):
            self.wrong.append((person.name, "has lost the place", answer))
            return
        if answer["status"] == "WAITING":
            if person.status == "READY" or (person.rank is not None and answer["rank"] > person.rank):
                self.wrong.append((person.name, "moved backwards", person.rank, answer))
            person.rank = answer["rank"]
        person.status, person.token = answer["status"], answer.get("entryToken")
        if person.status == "READY" and self.sku:
            body = {"queue": self.queue, "items": [{"sku": self.sku, "quantity": 1}]}
            order = await self._call(person, "POST", "/v1/orders", (201,), body, X_Entry_Token=person.token,
                                     Idempotency_Key=new_key())
            person.orders.append(order["id"])
        person.polls += 1

    async def _call(self, person, method, path, good, body=None, **headers):
        port = self.ports[next(self._turns) % len(self.ports)]
        async with self._session.request(method, f"http://127.0.0.1:{port}{path}", json=body,
                                         headers=person.headers(self.key, **headers)) as answer:
            text = await answer.text()
            for line in answer.headers.getall("Set-Cookie", []):
                name, _, value = line.split(";")[0].partition("=")
                person.cookies[name] = value
            if answer.status not in good:
                raise AssertionError(f"{method} {path} at {port}: {answer.status} {text[:300]}")
            return await answer.json(content_type=None)


class PatientCrowd(WaitingCrowd):
    """They do as the API's contract says: whoever is told 503 asks again, in the same words."""

    def __init__(self, *arguments, **more):
        super().__init__(*arguments, **more)
        self.unavailable = 0
        self.longest = 0  # until somebody had an answer, in seconds

    async def _call(self, person, method, path, good, body=None, **headers):
        begin = time.monotonic()
        while True:
            try:
                answer = await super()._call(person, method, path, (*good, 200, 409, 503), body, **headers)
            except aiohttp.ClientConnectionError:
                answer = {"status": 503, "code": "none"}  # nginx is not there
            if answer.get("status") != 503 and answer.get("code") != "ORDER_IN_PROGRESS":
                break
            self.unavailable += 1
            await asyncio.sleep(0.5)
        self.longest = max(self.longest, time.monotonic() - begin)
        if "code" in answer:
            raise AssertionError(f"{method} {path}: {answer}")
        return answer
