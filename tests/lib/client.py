"""HTTP as a client sees it: single calls, many calls at once, and bytes that no client library would send."""

import asyncio
import json
import socket
import uuid
from dataclasses import dataclass, field
from datetime import datetime

import aiohttp

from lib.wait import PATIENCE

PROBLEM_FIELDS = {"type", "title", "status", "detail", "instance", "code"}
RETRYABLE = {"RATE_LIMITED", "ORDER_CAPACITY", "ADMISSION_UNAVAILABLE", "ORDERS_UNAVAILABLE", "QUEUE_FULL",
             "ORDER_IN_PROGRESS", "COUPON_BUSY", "CAPTCHA_UNAVAILABLE", "CATALOG_UNAVAILABLE"}


def seconds_between(earlier, later):
    """From one time of an answer to another."""
    one, two = (datetime.fromisoformat(text.replace("Z", "+00:00")) for text in (earlier, later))
    return (two - one).total_seconds()


@dataclass
class Answer:
    status: int
    headers: dict          # names in lower case
    body: bytes
    sent: float = 0.0
    received: float = 0.0
    _json: object = field(default=None, repr=False)

    @property
    def json(self):
        if self._json is None and self.body:
            self._json = json.loads(self.body)
        return self._json

    @property
    def code(self):
        """The problem's code, None for an answer that is no problem."""
        if self.headers.get("content-type", "").startswith("application/problem+json"):
            return self.json["code"]
        return None

    def __getitem__(self, name):
        return self.json[name]


def assert_problem(answer, status=None, code=None):
    """Holds an error against the contract."""
    kind = answer.headers.get("content-type", "")
    assert kind.split(";")[0] == "application/problem+json", (answer.status, kind, answer.body[:200])
    problem = answer.json
    assert PROBLEM_FIELDS <= set(problem), problem
    assert problem["status"] == answer.status
    assert problem["type"] == "/problems/" + problem["code"].lower().replace("_", "-")
    assert problem["title"] and problem["detail"]
    assert answer.headers.get("x-request-id") and problem["instance"] == answer.headers["x-request-id"], (
        answer.headers, problem)
    assert answer.headers.get("cache-control") == "no-store"
    if problem["code"] in RETRYABLE:
        assert int(answer.headers["retry-after"]) >= 1
    if answer.status == 405:
        assert answer.headers.get("allow")
    if status is not None:
        assert answer.status == status, (answer.status, answer.body)
    if code is not None:
        assert problem["code"] == code, problem
    return problem


class Http:
    """Calls one server. `json` is sent as a body; `headers` as they are."""

    def __init__(self, port):
        self.port = port

    def call(self, method, path, headers=None, json=None, data=None, timeout=15):
        return self.together([(method, path, headers or {}, json if data is None else data)], timeout=timeout)[0]

    def together(self, calls, connections=0, timeout=30):
        """Sends all calls at once (or over so many connections), returns the answers in the calls' order.
        A call is (method, path, headers, body); a body that is no bytes is sent as JSON."""
        return asyncio.run(self._together(calls, connections, timeout))

    async def _together(self, calls, connections, timeout):
        connector = aiohttp.TCPConnector(limit=connections)
        async with aiohttp.ClientSession(connector=connector, cookie_jar=aiohttp.DummyCookieJar(),
                                         timeout=aiohttp.ClientTimeout(total=timeout * PATIENCE)) as session:
            return await asyncio.gather(*(self.send(session, *call) for call in calls))

    async def send(self, session, method, path, headers=None, body=None):
        options = {"headers": headers or {}}
        if isinstance(body, bytes):
            options["data"] = body
        elif body is not None:
            options["json"] = body
        loop = asyncio.get_running_loop()
        sent = loop.time()
        # The path is sent as it is, not tidied up.
        from yarl import URL
        url = URL(f"http://127.0.0.1:{self.port}{path}", encoded=True)
        async with session.request(method, url, allow_redirects=False, **options) as answer:
            text = await answer.read()
            return Answer(answer.status, {name.lower(): value for name, value in answer.headers.items()}, text,
                          sent, loop.time())

    def raw(self, data, timeout=15):
        """Sends bytes as they are, reads until the server is done; returns the Answer, or None where the
        connection was closed without one."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=timeout) as link:
            link.settimeout(timeout)
            received = b""
            try:
                link.sendall(data)
            except (BrokenPipeError, ConnectionResetError):
                pass
            try:
                while not _complete(received):
                    piece = link.recv(65536)
                    if not piece:
                        break
                    received += piece
            except ConnectionResetError:
                pass
        return _parse(received) if received else None


def _head(received):
    head, found, rest = received.partition(b"\r\n\r\n")
    if not found:
        return None, None, None
    lines = head.decode("latin-1").split("\r\n")
    headers = {}
    for line in lines[1:]:
        name, _, value = line.partition(":")
        headers[name.strip().lower()] = value.strip()
    return int(lines[0].split(" ")[1]), headers, rest


def _complete(received):
    status, headers, rest = _head(received)
    if status is None:
        return False
    if "content-length" in headers:
        return len(rest) >= int(headers["content-length"])
    if headers.get("transfer-encoding") == "chunked":
        return rest.endswith(b"0\r\n\r\n")
    return status in (204, 304)


def _parse(received):
    status, headers, rest = _head(received)
    if status is None:
        raise AssertionError(f"no HTTP answer: {received[:200]!r}")
    if headers.get("transfer-encoding") == "chunked":
        whole, left = b"", rest
        while left:
            size, _, left = left.partition(b"\r\n")
            count = int(size, 16)
            whole, left = whole + left[:count], left[count + 2:]
            if count == 0:
                break
        rest = whole
    return Answer(status, headers, rest)


def new_key():
    """A fresh Idempotency-Key."""
    return uuid.uuid4().hex
