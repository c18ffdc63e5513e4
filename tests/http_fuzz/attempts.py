"""Requests made from the document: each by its number and the seed alone, but for the names and keys of the round."""

import json
import random
import re
import urllib.parse
from dataclasses import dataclass

from lib.document import Operation, operations
from http_fuzz.values import BODIES, HEADERS, TEXTS, Values

# A site behind the gate, the sample shop: no route of the document's, and judged by less.
GATED = Operation("GET", "/shop/{page}", [], None, {}, [{}])
OPERATIONS = [*operations(), GATED, GATED]
KINDS = {  # what tells the gate who asks, and what it reads besides
    "Accept": ["text/html,*/*;q=0.8", "application/json", "*/*", "image/webp,*/*", "text/html;q=0", ",;,;=="],
    "Sec-Fetch-Mode": ["navigate", "cors", "no-cors", "websocket", "x"], "Sec-Fetch-Dest": ["document", "empty", "image", "iframe"],
    "X-Requested-With": ["XMLHttpRequest"], "Sec-Purpose": ["prefetch;prerender"], "Purpose": ["prefetch"], "Origin": ["https://evil.example", "null"],
    "User-Agent": ["Mozilla/5.0 Chrome/126", "curl/8", "Googlebot/2.1"], "X-Sluice-Bypass": ["secret"], "Accept-Language": ["ko", "en-GB, ko;q=0.5", "*;q=x", "a-" * 900],
    "Access-Control-Request-Method": ["POST"], "Cookie": ["sluice_language=ko", "sluice_language=xx", "sluice_visitor=v1.k1.v~" + "A" * 22 + ".1.x", "sluice_pass-shop=v1.k1.a.shop.1.x",
                                                          "sluice_ticket-shop=eyJhbGciOiJIUzI1NiJ9.e30.x", "=; ;;;sluice_pass-shop", "a=" + "b" * 7000]}
OTHER_METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "CONNECT", "PROPFIND", "get", "X" * 40]
OPEN = ("member", "visitor", "none")


@dataclass
class Attempt:
    """One request, and what is known of it."""
    number: int
    operation: object
    method: str
    address: str
    headers: list
    body: bytes
    role: str
    fits: bool  # it is as the document wants it, whatever the state of things and the rights of the role

    def data(self):
        lines = [f"{self.method} {self.address} HTTP/1.1", "Host: 127.0.0.1"]
        lines += [f"{name}: {value}" for name, value in self.headers]
        lines += [f"Content-Length: {len(self.body)}"] if self.body or self.method in ("POST", "PUT", "PATCH") else []
        return "\r\n".join([*lines, "Connection: close", "", ""]).encode("utf-8", "surrogatepass") + self.body


class Maker:
    """Makes attempt number `number` of this seed in the world as it is."""

    def __init__(self, world, seed, number):
        self.world, self.number = world, number
        self.random = random.Random(f"{seed}:{number}")
        self.values = Values(self.random, world.names_of)
        # How wild it is: half of all requests are as the document wants them.
        self.wild = self.random.random() < 0.5
        self.fits = True

    def attempt(self):
        operation = OPERATIONS[self.number % len(OPERATIONS)]
        caller = self._caller(operation)
        headers = self._headers(operation, caller)
        method, address, body = operation.method, self._address(operation), self._body(operation, headers)
        if self._now_and_then(0.08):
            method = self.random.choice(OTHER_METHODS)
        return Attempt(self.number, operation, method, address, headers, body, caller.role, self.fits)

    def _now_and_then(self, share):
        """True for so many of the wild ones, which do not fit then."""
        chosen = self.wild and self.random.random() < share
        self.fits = self.fits and not chosen
        return chosen

    def _caller(self, operation):
        by_right = [role for one in operation.security for role in self._roles_of(one)] or ["none"]
        if not self.wild or self.random.random() < 0.7:
            roles = by_right
        else:
            roles = list(self.world.callers)
        return self.random.choice(self.world.callers[self.random.choice(roles)])

    @staticmethod
    def _roles_of(requirement):
        words = {"memberJwt": ["member"], "visitorCookie": ["visitor"], "queueTicket": ["member"], "operatorKey": ["operator"], "viewerKey": ["viewer"]}
        return words[next(iter(requirement))] if requirement else ["none"]

    def _headers(self, operation, caller):
        headers = list(caller.login.items()) if operation is not GATED else [
            (name, self.random.choice(HEADERS) if self._now_and_then(0.2) else self.random.choice(values))
            for name, values in KINDS.items() if self.random.random() < 0.35]
        if operation is GATED and self.random.random() < 0.4:
            headers += self.random.choice(self.world.callers["gate"]).login.items()
        for parameter in operation.parameters:
            if parameter["in"] != "header" or not (parameter.get("required") or self.random.random() < 0.3):
                continue
            name = parameter["name"]
            good = {"X-Entry-Token": caller.token, "X-Queue-Ticket": caller.ticket, "Idempotency-Key": f"k{self.random.randrange(10**9)}",
                    "If-None-Match": '"x"'}.get(name)
            headers.append((name, self.random.choice(HEADERS) if self._now_and_then(0.3) else good or "A" * 43))
        if self._now_and_then(0.25):
            name = self.random.choice(["Authorization", "Cookie", "X-Queue-Ticket", "X-Entry-Token", "Idempotency-Key", "traceparent", "Accept-Language", "Accept",
                                       "Content-Type", "Content-Encoding", "If-None-Match", "If-Match", "Range", "Origin", "Referer", "Sec-Purpose", "Expect",
                                       "X-Request-Id", "Sec-Fetch-Site", "Upgrade", "TE", "Sec-Ch-Ua-Mobile"])
            headers.append((name, self.random.choice(HEADERS + ["cross-site", "prefetch", "bytes=0-1", "100-continue", "h2c", "?1"])))
        return headers

    def _address(self, operation):
        def part(match):
            name = match.group(1)
            if self._now_and_then(0.15):
                text = self.random.choice(TEXTS)
                return self.random.choice([urllib.parse.quote(text, safe=""), re.sub(r"[^!-~]", "~", text) or "~"])
            # What operators do to a queue, they do to one that nobody needs.
            steers = name == "queue" and operation.method != "GET" and operation.path.startswith("/v1/admin/")
            return self.random.choice(self.world.names_of("steered" if steers else name) or [name])
        address = re.sub(r"\{(\w+)\}", part, operation.path)
        fields = []
        for parameter in operation.parameters:
            if parameter["in"] == "query" and (parameter.get("required") or self.random.random() < 0.3):
                value = self.values.strange() if self._now_and_then(0.4) else self.values.fitting(parameter["schema"], parameter["name"])
                text = value if isinstance(value, str) else json.dumps(value)
                fields.append(f"{parameter['name']}={urllib.parse.quote(text, safe='')}")
        if self._now_and_then(0.1):
            fields.append(self.random.choice(["%", "%zz", "=", "&&", "a", "limit=%00", "x" * 3000, "limit=1&limit=2", "seats[]=1", "\xe9"]))
        return address + ("?" + "&".join(fields) if fields else "")

    def _body(self, operation, headers):
        if operation.body is None:
            return self.random.choice(BODIES) if self._now_and_then(0.1) else b""
        if self.random.random() < 0.9:
            headers.append(("Content-Type", "application/json"))
        if self._now_and_then(0.2):
            return self.random.choice(BODIES)
        value = self.values.fitting(operation.body)
        if self._now_and_then(0.5):
            value = self.values.nearly(value)
        return json.dumps(value, ensure_ascii=self.random.random() < 0.5).encode("utf-8", "surrogatepass")
