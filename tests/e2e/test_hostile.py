"""Hostile input at every route: a clear problem+json, never a 5xx, never a crash."""

import json
import re

import pytest

from lib import tokens
from lib.client import assert_problem
from lib.project import ROOT


def routes(inside):
    """Method and path of every route, from the table that the programs are built from: those that only nginx may
    call, or all others."""
    lines = [line for line in (ROOT / "fcgi-app" / "routes.tbl").read_text().splitlines()
             if ("For nginx alone" in line) == inside]
    found = re.findall(r'^(?:LINE|TRANSACTION)_ROUTE\((\w+), "([^"]+)"|^ROUTE\(\w+, (\w+), "([^"]+)"', "\n".join(lines), re.M)
    return [(a or c, b or d) for a, b, c, d in found]


ROUTES = routes(inside=False)
OPEN = {"/livez", "/healthz", "/readyz", "/v1/queues/{queue}", "/v1/queues/{queue}/challenge",
        "/v1/queues/{queue}/result", "/v1/queues/{queue}/lottery",
        "/_sluice/continue/{queue}", "/_sluice/language/{lang}", "/v1/coupon-events/{event}",
        "/v1/coupon-events/{event}/result", "/v1/concerts", "/v1/concerts/{concert}", "/v1/shows/{show}",
        "/v1/shows/{show}/seats", "/metrics"}
# What the provider sends: an unguessable address is the credential, or there is nothing to gain.
PROVIDER = {"/v1/orders/{id}/payment/approve", "/v1/orders/{id}/payment/cancel", "/v1/orders/{id}/payment/fail",
            "/v1/payments/webhooks/{provider}"}
GOOD = {"{queue}": "hostile", "{lang}": "en", "{event}": "hostile-event",
        "{concert}": "hostile-concert", "{show}": "hostile-show", "{sku}": "hostile-sku", "{id}": "o_" + "A" * 22, "{action}": "resume"}
BODIES = {("POST", "/v1/orders"), ("PUT", "/v1/admin/queues/{queue}"), ("PATCH", "/v1/admin/queues/{queue}"),
          ("PUT", "/v1/admin/products/{sku}"), ("PUT", "/v1/admin/coupon-events/{event}"),
          ("POST", "/v1/admin/coupon-events/{event}/codes"), ("PUT", "/v1/admin/concerts/{concert}"),
          ("PUT", "/v1/admin/shows/{show}"), ("POST", "/v1/shows/{show}/holds"), ("DELETE", "/v1/shows/{show}/holds")}


def fill(path, **values):
    for name, value in GOOD.items():
        path = path.replace(name, values.get(name.strip("{}"), value))
    return path


@pytest.fixture(scope="module")
def ready(stack):
    api = stack.api
    api.queue("hostile", pickupSeconds=3600, entryTtlSeconds=3600)
    api.product("hostile", sku="hostile-sku", stock=1000)
    api.coupon_event("hostile", 10, event="hostile-event")
    api.show("hostile", ["A-1"], name="hostile-show", concert=api.concert("hostile-concert"))
    return api.ready_member("hostile")


def headers_for(api, member, method, path):
    if path.startswith("/v1/admin"):
        return api.operator_headers()
    headers = member.headers()
    if (method, path) in (("POST", "/v1/orders"), ("POST", "/v1/shows/{show}/holds")):
        headers.update({"X-Entry-Token": member.token, "Idempotency-Key": "hostile"})
    return headers


def assert_refused(answer, what):
    """Some refusal with the contract's fields."""
    assert answer is not None, what
    assert 400 <= answer.status < 500, (what, answer.status, answer.body[:300])
    assert_problem(answer)


BAD_IDS = ["A", "UPPER", "-first", "a" * 64, "a_b", "a.b", "%00", "a%00b", "%0d%0aX-Evil:1", "%2e%2e", "..%2f", "%ff%fe",
           "%", "%zz", "%c0%af", "a%20b", "{q}", "%7bq%7d", "a;b", "é".encode().hex(), "%E2%80%AE", "'--", "*", "$(id)"]


@pytest.mark.parametrize("method, path", [route for route in ROUTES if "{" in route[1]])
def test_bad_ids(api, ready, method, path):
    for bad in BAD_IDS:
        for name in re.findall(r"\{(\w+)\}", path):
            address = fill(path, **{name: bad})
            if bad.isalnum() and bad.islower() and len(bad) < 64:
                continue
            answer = api.raw(request(method, address, headers_for(api, ready, method, path),
                                     b"{}" if (method, path) in BODIES else b""))
            assert_refused(answer, (method, address))


def request(method, path, headers, body=b"", version="HTTP/1.1"):
    lines = [f"{method} {path} {version}", "Host: 127.0.0.1", "Connection: close"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    if body or method in ("POST", "PUT", "PATCH"):
        lines.append(f"Content-Length: {len(body)}")
    return "\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + body


@pytest.mark.parametrize("method, path", [route for route in ROUTES if route[1] not in OPEN])
def test_without_credentials(api, ready, method, path):
    for headers in ({}, {"Authorization": "Bearer " + "x" * 3000}, {"Authorization": "\x01\x02"},
                    {"Authorization": "Bearer a.b.c"}, {"Authorization": "Bearer " + "." * 500}):
        answer = api.raw(request(method, fill(path), headers, b"{}" if method not in ("GET", "DELETE") else b""))
        assert_refused(answer, (method, path, headers))
        assert answer.status in ((403, 404) if path in PROVIDER else (400, 401)), (method, path, answer.status)


@pytest.mark.parametrize("path", sorted({path for _, path in ROUTES}))
def test_unknown_methods(api, ready, path):
    known = {method for method, other in ROUTES if other == path}
    for method in ("PUT", "DELETE", "POST", "PATCH", "OPTIONS", "TRACE", "CONNECT", "FOO", "get", "GET\x00", "X" * 300):
        if method in known:
            continue
        answer = api.raw(request(method, fill(path), headers_for(api, ready, method, path)))
        assert_refused(answer, (method, path))
        if method in ("PUT", "DELETE", "POST", "PATCH", "FOO"):
            assert answer.status == 405, (method, path, answer.status)
            allowed = {name.strip() for name in answer.headers["allow"].split(",")}
            assert known <= allowed, (path, allowed)


@pytest.mark.parametrize("path", [path for _, path in routes(inside=True)])
def test_what_only_nginx_may_call(api, path):
    for method in ("GET", "HEAD", "POST", "PUT", "OPTIONS", "TRACE"):
        for address in (path, path + "?x=1", path.replace("_", "%5f"), "/_sluice/." + path.removeprefix("/_sluice")):
            answer = api.raw(request(method, address, {"SLUICE_QUEUE": "hostile", "SLUICE-METHOD": "GET"}))
            assert answer.status in (404, 405), (method, address, answer.status)
            if method != "HEAD":
                assert_problem(answer)


DEEP = b"[" * 20000
BAD_BODIES = {
    "empty": b"", "no JSON": b"hello", "half": b'{"queue":', "array": b"[]", "text": b'"x"', "number": b"7", "null": b"null",
    "behind": b"{} {}", "deep arrays": DEEP, "deep objects": b'{"a":' * 5000, "not UTF-8": b'{"queue":"\xff\xfe"}',
    "NUL": b'{"queue":"a\x00b"}', "escaped NUL": b'{"queue":"a\\u0000b","items":[]}', "lone surrogate": b'{"queue":"\\ud800"}',
    "BOM": b"\xef\xbb\xbf{}", "huge number": b'{"queue":' + b"9" * 5000 + b"}", "nan": b'{"queue":NaN}', "comment": b"{/*x*/}",
    "single quotes": b"{'queue':'x'}", "trailing comma": b'{"queue":"x",}', "control": b'{"queue":"\x01"}',
}


@pytest.mark.parametrize("method, path", sorted(BODIES))
@pytest.mark.parametrize("name", sorted(BAD_BODIES))
def test_bad_bodies(api, ready, method, path, name):
    if name == "empty" and (method == "DELETE" or method in ("PUT", "PATCH") and "queues" in path):
        return  # settings may all take their defaults; without a body everything is given back
    field = (b"message" if "queues" in path else b"name" if "products" in path or "coupon" in path
             else b"title" if "concerts" in path else b"seats" if "holds" in path else b"queue")
    body = BAD_BODIES[name].replace(b"queue", field)
    answer = api.raw(request(method, fill(path), headers_for(api, ready, method, path), body))
    assert_refused(answer, (method, path, name))
    assert answer.code == "INVALID_REQUEST", answer.body
    assert "pointer" in answer.json


ITEM = {"sku": "hostile-sku", "quantity": 1}
BAD_ORDERS = [
    {}, {"queue": "hostile"}, {"items": [ITEM]}, {"queue": 1, "items": [ITEM]}, {"queue": "hostile", "items": ITEM},
    {"queue": "hostile", "items": []}, {"queue": "hostile", "items": [ITEM, ITEM]}, {"queue": "hostile", "items": [7]},
    {"queue": "hostile", "items": [{}]}, {"queue": "hostile", "items": [{**ITEM, "quantity": 0}]},
    {"queue": "hostile", "items": [{**ITEM, "quantity": -1}]}, {"queue": "hostile", "items": [{**ITEM, "quantity": 10001}]},
    {"queue": "hostile", "items": [{**ITEM, "quantity": 1.5}]}, {"queue": "hostile", "items": [{**ITEM, "quantity": "1"}]},
    {"queue": "hostile", "items": [{**ITEM, "quantity": 2**63}]}, {"queue": "hostile", "items": [{**ITEM, "quantity": True}]},
    {"queue": "hostile", "items": [{**ITEM, "quantity": None}]}, {"queue": "hostile", "items": [{**ITEM, "sku": ""}]},
    {"queue": "hostile", "items": [{**ITEM, "sku": "'; DROP TABLE product; --"}]},
    {"queue": "hostile", "items": [{**ITEM, "sku": "a" * 64}]}, {"queue": "hostile", "items": [{**ITEM, "sku": "a,b}"}]},
    {"queue": "hostile", "items": [{**ITEM, "sku": "no-such-sku"}]}, {"queue": "hostile", "items": [{**ITEM, "extra": 1}]},
    {"queue": "hostile", "items": [ITEM], "price": 0}, {"queue": "Hostile", "items": [ITEM]},
    {"queue": "hostile}", "items": [ITEM]}, {"queue": "hostile", "items": [dict(ITEM, sku=f"s{i}") for i in range(5000)]},
]


@pytest.mark.parametrize("number", range(len(BAD_ORDERS)))
def test_bad_orders(api, ready, number):
    """Nothing of it spends the token."""
    call = ready.order_call("hostile", [])
    answer = api.call(call[0], call[1], call[2], json.dumps(BAD_ORDERS[number]).encode())
    assert_refused(answer, BAD_ORDERS[number])
    assert answer.code in ("INVALID_REQUEST", "BODY_TOO_LARGE"), answer.body
    assert ready.position("hostile")["status"] == "READY"


def test_order_in_an_unknown_queue(api, ready):
    answer = ready.order("never-made", [ITEM])
    assert_refused(answer, "unknown queue")
    assert answer.status in (401, 404)


BAD_PRODUCTS = [
    {"name": "x"}, {"name": "", "price": {"amount": 1, "currency": "KRW"}, "stock": 1, "queue": "hostile"},
    {"name": "x", "price": 1, "stock": 1, "queue": "hostile"},
    {"name": "x", "price": {"amount": -1, "currency": "KRW"}, "stock": 1, "queue": "hostile"},
    {"name": "x", "price": {"amount": 1.5, "currency": "KRW"}, "stock": 1, "queue": "hostile"},
    {"name": "x", "price": {"amount": 1, "currency": "won"}, "stock": 1, "queue": "hostile"},
    {"name": "x", "price": {"amount": 1, "currency": "KRW"}, "stock": -1, "queue": "hostile"},
    {"name": "x", "price": {"amount": 1, "currency": "KRW"}, "stock": 2**62, "queue": "hostile"},
    {"name": "x", "price": {"amount": 1, "currency": "KRW"}, "stock": 1, "queue": "no-such-queue"},
    {"name": "x" * 2000, "price": {"amount": 1, "currency": "KRW"}, "stock": 1, "queue": "hostile"},
    {"name": "a\0b", "price": {"amount": 1, "currency": "KRW"}, "stock": 1, "queue": "hostile"},
]


@pytest.mark.parametrize("number", range(len(BAD_PRODUCTS)))
def test_bad_products(api, ready, number):
    assert_refused(api.admin("PUT", "/products/hostile-other", BAD_PRODUCTS[number]), BAD_PRODUCTS[number])


@pytest.mark.parametrize("name", ["X-Queue-Ticket", "X-Entry-Token", "Idempotency-Key", "Cookie", "traceparent", "Authorization"])
@pytest.mark.parametrize("value", ["", "\x01", "\xff" * 20, "a" * 3000, "a" * 15000, "=;=;=", "sluice_ticket=%00; sluice_ticket=x",
                                   "..", "é", "00-" + "0" * 32 + "-" + "0" * 16 + "-01", '"', "{q}", "%s%n"])
def test_bad_headers(api, ready, name, value):
    """The queue and the order routes, each with one header that nobody sends. Never a 5xx."""
    before = ready.position("hostile")["entryToken"]
    for method, path in (("GET", "/v1/queues/{queue}/position"), ("GET", "/v1/orders"), ("POST", "/v1/orders")):
        headers = {**headers_for(api, ready, method, path), name: value}
        body = b'{"queue":"hostile","items":[{"sku":"never-made","quantity":1}]}' if method == "POST" else b""
        answer = api.raw(request(method, fill(path), headers, body))
        assert answer is not None and answer.status < 500, (name, value[:20], answer)
        if answer.status >= 400:
            assert_problem(answer)
        assert "x-evil" not in answer.headers
    assert ready.position("hostile")["entryToken"] == before


def test_large_bodies(api, ready):
    call = ready.order_call("hostile", [ITEM])
    for size in (64 * 1024 + 1, 1024 * 1024):
        answer = api.call(call[0], call[1], call[2], b" " * size)
        assert_problem(answer, 413, "BODY_TOO_LARGE")
    fits = json.dumps({"queue": "hostile", "items": []}).encode()
    assert_problem(api.call(call[0], call[1], call[2], fits + b" " * (64 * 1024 - len(fits))), 400, "INVALID_REQUEST")
    answer = api.call("PUT", "/v1/admin/queues/hostile", api.operator_headers(), b" " * (16 * 1024 * 1024 + 1), timeout=30)
    assert_problem(answer, 413, "BODY_TOO_LARGE")


RAW = {
    "no request": b"\r\n\r\n", "garbage": b"\x00\x01\x02\x03\r\n\r\n",
    "bad version": b"GET /livez HTTP/9.9\r\nHost: x\r\n\r\n", "no host": b"GET /v1/queues/hostile HTTP/1.1\r\n\r\n",
    "two hosts": b"GET /livez HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
    "space before colon": b"GET /livez HTTP/1.1\r\nHost: x\r\nA : b\r\nConnection: close\r\n\r\n",
    "NUL in a header": b"GET /livez HTTP/1.1\r\nHost: x\r\nA: b\x00c\r\n\r\n",
    "bad length": b"POST /v1/orders HTTP/1.1\r\nHost: x\r\nContent-Length: -5\r\n\r\n",
    "length a text": b"POST /v1/orders HTTP/1.1\r\nHost: x\r\nContent-Length: abc\r\n\r\n",
    "two lengths": b"POST /v1/orders HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}",
    "length and chunked": b"POST /v1/orders HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "bad chunk": b"POST /v1/orders HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n\r\n",
    "unknown coding": b"POST /v1/orders HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: nonsense\r\n\r\n",
    "long path": b"GET /" + b"a" * 20000 + b" HTTP/1.1\r\nHost: x\r\n\r\n",
    "long header": b"GET /livez HTTP/1.1\r\nHost: x\r\nA: " + b"a" * 40000 + b"\r\n\r\n",
    "many headers": b"GET /livez HTTP/1.1\r\nHost: x\r\n" + b"".join(b"A%d: b\r\n" % i for i in range(2000)) + b"\r\n",
    "dots": b"GET /../../etc/passwd HTTP/1.1\r\nHost: x\r\n\r\n", "encoded dots": b"GET /%2e%2e/%2e%2e/etc/passwd HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
    "NUL in the path": b"GET /livez%00 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
    "absolute": b"GET http://evil.example/v1/orders HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
}


@pytest.mark.parametrize("name", sorted(RAW))
def test_raw_bytes(api, ready, name):
    """Bytes that no library sends. Either a refusal as in the contract, or the connection is closed."""
    answer = api.raw(RAW[name])
    if answer is not None:
        assert answer.status < 500, (name, answer.status, answer.body[:200])
        if answer.status >= 400:
            assert_problem(answer)
    assert api.call("GET", "/livez").status == 200


# nginx answers the name of a prefix location without its slash with a redirect, unless another location has that name.
PREFIXES = sorted({path.rstrip("/") for source in (ROOT / "nginx").rglob("*.in")
                   for path in re.findall(r"^ *location (?:\^~ )?(/[^ ]+/) \{", source.read_text(), re.MULTILINE)
                   if not path.startswith("/shop/")} - {"/v1/concerts", "/_sluice/console", "/_sluice/payment-simulator/_sim"})

UNKNOWN = ["/", "/v1", "/v1/", "/v2/orders", "/v1/queues", "/v1/queues/", "/v1/queues/hostile/", "/v1/queues/hostile/other",
           "/v1/queues//position", "/v1//queues/hostile", "/v1/orders/", "/v1/orders/a/b/c", "/v1/admin", "/v1/admin/",
           "/v1/admin/queues/hostile/actions/explode", "/v1/admin/queues/hostile/actions", "/favicon.ico", "/.git/config",
           "/problems/", "/problems/nope", "/nginx.conf", "/v1/orders/o_" + "A" * 22]


@pytest.mark.parametrize("path", sorted({*UNKNOWN, *PREFIXES}))
def test_unknown_paths(api, ready, path):
    headers = api.operator_headers() if path.startswith("/v1/admin") else ready.headers()
    answer = api.call("POST" if "/actions" in path else "GET", path, headers)
    assert answer.status == 404, (path, answer.status)
    assert_problem(answer, 404, "NOT_FOUND")


@pytest.mark.parametrize("query", ["?limit=0", "?limit=-1", "?limit=x", "?limit=99999999999999999999", "?cursor=%00", "?cursor=a%zz",
                                   "?limit=1&limit=2&x=%", "?" + "a" * 3000, "?%", "?=", "?limit=%31", "?cursor='"])
def test_bad_queries(api, ready, query):
    for path, headers in (("/v1/orders", ready.headers()), ("/v1/admin/audit", api.operator_headers()),
                          ("/v1/admin/queues/hostile/stats", api.operator_headers()),
                          ("/v1/queues/hostile/position", ready.headers())):
        answer = api.raw(request("GET", path + query, headers))
        assert answer.status < 500, (path, query, answer.body)
        if answer.status >= 400:
            assert_problem(answer)


def test_hostile_tokens_at_every_route_that_wants_a_member(api, ready):
    bad = tokens.hostile(api.member_key)
    calls = [(method, fill(path), {"Authorization": f"Bearer {token}"}, None)
             for method, path in ROUTES if path not in OPEN | PROVIDER and not path.startswith("/v1/admin")
             for name, token in bad.items() if name not in ("huge",)]
    for call, answer in zip(calls, api.together(calls, 8, timeout=60)):
        assert_refused(answer, call)
        assert answer.code == "UNAUTHENTICATED", (call, answer.body)


def test_a_slow_client_holds_up_nobody(api, ready):
    import socket
    links = []
    try:
        for _ in range(50):
            link = socket.create_connection(("127.0.0.1", api.port), timeout=5)
            link.sendall(b"POST /v1/queues/hostile/entries HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nhalf")
            links.append(link)
        took = []
        for _ in range(20):
            answer = ready.position("hostile")
            assert answer.status == 200
            took.append(answer.received - answer.sent)
        assert sorted(took)[15] < 2, took
    finally:
        for link in links:
            link.close()
