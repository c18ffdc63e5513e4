"""Whether an answer is one that the document and the contract allow."""

import json
import re

import jsonschema

from http_fuzz.attempts import GATED, OPERATIONS
from lib.client import RETRYABLE
from lib.document import closed, resolve, schema_of

PROBLEM = {"type", "title", "status", "detail", "instance", "code"}
# What any route may answer, besides what the document says of it.
ALWAYS = {404: {"NOT_FOUND"}, 405: {"METHOD_NOT_ALLOWED"}, 413: {"BODY_TOO_LARGE"}, 429: {"RATE_LIMITED"}, 403: {"FORBIDDEN"}}
# And to what is no request as the document wants it.
TO_NONSENSE = {400: {"INVALID_REQUEST"}, 401: {"UNAUTHENTICATED", "TICKET_INVALID"}, 431: {"INVALID_REQUEST"}}
# Of the 503s those that need no outage.
STATES = {"QUEUE_FULL"}
MAY_SEE_MEMBERS = {"operator", "viewer"}

_validators = {}


class Reply:
    """An answer as bytes, taken apart."""

    def __init__(self, received):
        head, found, self.body = received.partition(b"\r\n\r\n")
        if not found:
            raise ValueError(f"no whole head: {received[:200]!r}")
        lines = head.decode("latin-1").split("\r\n")
        match = re.fullmatch(r"HTTP/1\.1 (\d{3})(?: [ -~]*)?", lines[0])
        if not match:
            raise ValueError(f"no status line: {lines[0]!r}")
        self.status = int(match[1])
        self.headers = {}
        for line in lines[1:]:
            name, colon, value = line.partition(": ")
            if not colon or not re.fullmatch(r"[A-Za-z0-9-]+", name):
                raise ValueError(f"no header: {line!r}")
            self.headers.setdefault(name.lower(), []).append(value)
        if self.headers.get("transfer-encoding") == ["chunked"]:
            self.body = self._unchunked(self.body)

    @staticmethod
    def _unchunked(left):
        whole = b""
        while left:
            size, _, left = left.partition(b"\r\n")
            count = int(size, 16)
            whole, left = whole + left[:count], left[count + 2:]
        return whole

    def one(self, name):
        return self.headers.get(name, [None])[0]


def _fits(method, path, status, value):
    key = (method, path, status)
    if key not in _validators:
        schema = schema_of(method, path, status)
        _validators[key] = jsonschema.Draft202012Validator(closed(schema)) if schema else None
    if _validators[key] is not None:
        _validators[key].validate(value)


def faults(attempt, received, secrets, keys):
    """Sentences about what is wrong with the answer. `secrets` are nobody's to see but an operator's, `keys` nobody's at all."""
    if not received:
        return ["the connection was closed without an answer"]
    if received.startswith(b"HTTP/1.1 100 Continue\r\n\r\n"):
        received = received.partition(b"\r\n\r\n")[2]
    try:
        reply = Reply(received)
    except ValueError as error:
        return [str(error)]
    found = list(_head_faults(attempt, reply))
    text = received.decode("latin-1")
    found += [f"shows a key: {key[:6]}…" for key in keys if key in text and key not in _sent(attempt)]
    if attempt.role not in MAY_SEE_MEMBERS:
        found += [f"shows something of the victim's: {secret[:12]}…" for secret in secrets if secret in text]
    if attempt.operation is GATED:
        return found + _gate_faults(reply)
    if attempt.method == "HEAD" or reply.status in (204, 304):
        return found + (["a body where there is none"] if reply.body else [])
    try:
        found += _problem_faults(attempt, reply) if reply.status >= 400 else _success_faults(attempt, reply)
    except jsonschema.ValidationError as error:
        found.append(f"does not fit the document: {error.json_path}: {error.message[:300]}")
    except (ValueError, AssertionError) as error:
        found.append(f"{type(error).__name__}: {error}")
    return found


def _sent(attempt):
    return attempt.data().decode("latin-1")


def _head_faults(attempt, reply):
    for name in ("x-request-id", "x-content-type-options", "content-type"):
        if len(reply.headers.get(name, [])) > 1:
            yield f"{name} {len(reply.headers[name])} times"
    if reply.one("x-request-id") is None:
        yield "no X-Request-Id"
    if reply.one("x-content-type-options") != "nosniff":
        yield "no X-Content-Type-Options"
    security = attempt.operation.security
    if security and {} not in security and attempt.fits and reply.status < 300 and "no-store" not in (reply.one("cache-control") or ""):
        yield f"Cache-Control {reply.one('cache-control')} for what is one person's"
    if "x-evil" in reply.headers:
        yield "a header of the client's came back"
    if reply.one("server") not in (None, "nginx"):
        yield f"tells {reply.one('server')}"
    if reply.status >= 500 and reply.status != 503:
        yield f"status {reply.status}"
    if reply.one("location") is not None and not re.match(r"/(?![/\\])", reply.one("location")):
        yield f"leads to {reply.one('location')}"


def _gate_faults(reply):
    """What stands behind the gate is the site's; what the gate itself says is a page or a problem."""
    kind = (reply.one("content-type") or "").split(";")[0]
    found = [] if len(reply.headers.get("set-cookie", [])) <= 3 else ["more than three cookies"]
    if reply.status == 503 and reply.one("retry-after") is None:
        found.append("503 without Retry-After")
    if reply.status == 503 and kind not in ("text/html", "application/problem+json"):
        found.append(f"503 as {kind}")
    if reply.status == 503 and b"unavailable" in reply.body and b'"WAITING"' not in reply.body and b'id="state"' not in reply.body:
        found.append("the gate is out of order")
    return found


def _problem_faults(attempt, reply):
    if (reply.one("content-type") or "").split(";")[0] != "application/problem+json":
        return [f"{reply.status} is {reply.one('content-type')}: {reply.body[:80]!r}"]
    problem = json.loads(reply.body)
    found = [f"the problem lacks {name}" for name in PROBLEM - set(problem)]
    if found:
        return found
    code = problem["code"]
    if problem["status"] != reply.status:
        found.append(f"status {problem['status']} in the body of a {reply.status}")
    if problem["instance"] != reply.one("x-request-id"):
        found.append("instance is not the request's id")
    if (code in RETRYABLE) and not re.fullmatch(r"[1-9]\d*", reply.one("retry-after") or ""):
        found.append(f"{code} without Retry-After")
    if reply.status == 405 and not reply.one("allow"):
        found.append("405 without Allow")
    if reply.status == 503 and code not in STATES:
        found.append(f"{code} while everything is there")
    if not _is_allowed(attempt, reply.status, code):
        found.append(f"{reply.status} {code} is not documented: {problem['detail']}")
    return found


def _asked_of(attempt):
    """The operation that was really asked for: another method of the path may be another one."""
    method = "GET" if attempt.method == "HEAD" else attempt.method
    return next((one for one in OPERATIONS if (one.method, one.path) == (method, attempt.operation.path)), attempt.operation)


def _is_allowed(attempt, status, code):
    operation = _asked_of(attempt)
    if code in ALWAYS.get(status, ()):
        return True
    if (not attempt.fits or attempt.method not in (operation.method, "HEAD")) and code in TO_NONSENSE.get(status, ()):
        return True
    response = operation.responses.get(str(status))
    if response is None:
        return False
    codes = resolve(response).get("x-codes")
    return codes is None or code in codes


def _success_faults(attempt, reply):
    operation = attempt.operation
    if attempt.method != operation.method:
        return []
    if str(reply.status) not in operation.responses:
        # Another route of the same path, or of a path that a name has made.
        return [] if not attempt.fits else [f"{reply.status} is not documented"]
    kind = (reply.one("content-type") or "").split(";")[0]
    if attempt.fits and kind == "application/json":
        _fits(operation.method, operation.path, reply.status, json.loads(reply.body))
    return []
