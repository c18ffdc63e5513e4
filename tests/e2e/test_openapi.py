"""The API document is served, names every route and error, and every answer of the running system fits it."""

import json
import re
import time

import jsonschema
import pytest
import yaml

from lib import altcha, metrics
from lib.client import new_key
from lib.document import DOCUMENT, closed, operations, schema_of
from lib.payments import path_of
from lib.project import ROOT
from lib.wait import until


def routes_of_the_document():
    return {(operation.method, operation.path) for operation in operations()}


def routes_of_the_table():
    text = (ROOT / "fcgi-app" / "routes.tbl").read_text()
    rows = re.findall(r'^(?:(?:LINE|TRANSACTION)_ROUTE\(|ROUTE\(\w+, )(\w+), "([^"]+)", \w+, "([^"]+)"', text, re.MULTILINE)
    return {(method, path) for method, path, summary in rows if not summary.endswith("For nginx alone")}


def test_the_server_sends_the_openapi_document(api):
    answer = api.call("GET", "/openapi.yaml")
    assert answer.status == 200 and answer.headers["content-type"].startswith("application/yaml")
    assert yaml.safe_load(answer.body) == DOCUMENT


def test_names_every_route():
    documented = {route for route in routes_of_the_document() if route[1].startswith("/v1/")}
    assert documented == {route for route in routes_of_the_table() if route[1].startswith("/v1/")}
    assert routes_of_the_table() <= routes_of_the_document()


def test_names_every_error():
    table = set(re.findall(r"^ERROR\((\w+),", (ROOT / "fcgi-app" / "http" / "errors.tbl").read_text(), re.MULTILINE))
    document = (ROOT / "docs" / "openapi.yaml").read_text()
    assert [code for code in table if not re.search(rf"\b{code}\b", document)] == []


def test_gives_each_setting_its_range():
    rows = re.findall(r'^SETTING\((\w+), (?:INTEGER|NUMBER), (\d+), (\d+), "([^"]+)",',
                      (ROOT / "lib" / "admission" / "queues" / "queue_settings.tbl").read_text(), re.MULTILINE)
    properties = DOCUMENT["components"]["schemas"]["QueueSettings"]["properties"]
    said = {name: [properties[name][word] for word in ("minimum", "maximum", "default")] for name, *_ in rows}
    assert rows and said == {name: [int(least), int(most), json.loads(usual)] for name, least, most, usual in rows}


def check(answer, method, path, status):
    assert answer.status == status, answer.body
    schema = schema_of(method, path, status)
    if schema is None:
        assert answer.body == b""
        return answer
    jsonschema.Draft202012Validator(closed(schema)).validate(answer.json)
    return answer


@pytest.fixture
def call(api):
    """Calls a path of the document and holds the answer against it."""
    def call(method, path, status, headers=None, body=None, query="", **names):
        at = re.sub(r"\{(\w+)\}", lambda match: names[match.group(1)], path)
        return check(api.call(method, at + query, headers, body), method, path, status)
    return call


def test_every_operator_answer_fits(api, call):
    key = api.operator_headers()
    one = "/v1/admin/queues/{queue}"
    settings = {"ratePerSecond": 1000, "burst": 1000, "tickMs": 100}
    call("PUT", one, 201, key, settings, queue="document")
    call("PUT", one, 200, key, settings, queue="document")
    call("PUT", one, 400, key, {"burst": -1}, queue="document")
    call("PATCH", one, 200, key, {"message": "Hello"}, queue="document")
    call("GET", one, 200, key, queue="document")
    call("GET", one, 404, key, queue="nowhere")
    call("GET", one, 401, {}, queue="document")
    call("PUT", one, 403, {"Authorization": f"Bearer {api.viewer_key}"}, {}, queue="document")
    call("GET", "/v1/admin/queues", 200, key)
    for action in ("pause", "resume", "drain", "sold-out", "reset", "resume"):
        call("POST", one + "/actions/{action}", 200, key, queue="document", action=action)
    call("GET", one + "/stats", 200, key, queue="document", query="?samples=5")
    product = {"name": "Mug", "price": {"amount": 100, "currency": "KRW"}, "stock": 1, "queue": "document"}
    call("PUT", "/v1/admin/products/{sku}", 201, key, product, sku="document-mug")
    call("PUT", "/v1/admin/products/{sku}", 200, key, product, sku="document-mug")
    call("GET", "/v1/admin/products/{sku}", 200, key, sku="document-mug")
    for kind in ("products", "coupon-events", "concerts", "shows"):
        call("GET", f"/v1/admin/{kind}", 200, key)
        call("GET", f"/v1/admin/{kind}", 400, key, query="?after=No")
        call("GET", f"/v1/admin/{kind}", 401)
    call("GET", "/v1/admin/audit", 200, key, query="?limit=5")
    call("DELETE", one, 204, key, queue="document")


def test_answers_for_the_console_fit(api, call):
    queue = api.queue("document-console")
    api.product(queue)
    key, viewer = api.operator_headers(), {"Authorization": f"Bearer {api.viewer_key}"}
    one = "/v1/admin/queues/{queue}"
    member = api.ready_member(queue)
    for query in ("", "?samples=3"):
        call("GET", "/v1/admin/overview", 200, viewer, query=query)
    call("GET", "/v1/admin/overview", 400, key, query="?samples=x")
    call("GET", "/v1/admin/overview", 401)
    call("GET", one + "/history", 200, viewer, queue=queue)
    call("GET", one + "/history", 200, viewer, queue="shop", query="?from=2026-01-01T00:00:00Z")
    call("GET", one + "/history", 400, key, queue=queue, query="?step=1")
    call("GET", one + "/history", 404, key, queue="nowhere")
    call("GET", one + "/goods", 200, viewer, queue=queue)
    call("GET", one + "/goods", 404, key, queue="nowhere")
    call("GET", "/v1/admin/checklist", 200, viewer)
    call("GET", "/v1/admin/checklist", 200, viewer, query=f"?queue={queue}")
    call("GET", "/v1/admin/checklist", 400, key, query="?queue=No")
    call("GET", "/v1/admin/checklist", 404, key, query="?queue=nowhere")
    call("GET", one + "/members/{member}", 200, viewer, queue=queue, member=member.name)
    asked = {"queue": queue, "url": "/sale/", "client": "page"}
    call("POST", "/v1/admin/gate/dry-run", 200, viewer, asked)
    call("POST", "/v1/admin/gate/dry-run", 400, key, {**asked, "url": "sale"})
    call("POST", "/v1/admin/gate/dry-run", 401, {}, asked)
    call("POST", "/v1/admin/gate/dry-run", 404, key, {**asked, "queue": "nowhere"})


def test_every_answer_to_members_fits(api, call):
    queue = api.queue("document-line")
    sku = api.product(queue, stock=2)
    member = api.member()
    entries, position = "/v1/queues/{queue}/entries", "/v1/queues/{queue}/position"
    call("GET", "/v1/queues/{queue}", 200, queue=queue)
    call("GET", position, 200, member.headers(), queue=queue)
    call("POST", entries, 401, {}, queue=queue)
    call("POST", entries, 201, member.headers(), queue=queue)
    call("POST", entries, 200, member.headers(), queue=queue)
    member.wait_ready(queue)
    call("GET", position, 200, member.headers(), queue=queue)
    spend = member.headers(X_Entry_Token=member.token, Idempotency_Key=new_key())
    call("POST", "/v1/orders", 409, spend, {"queue": queue, "items": [{"sku": sku, "quantity": 3}]})
    body = {"queue": queue, "items": [{"sku": sku, "quantity": 1}]}
    order = call("POST", "/v1/orders", 201, spend, body)
    call("POST", "/v1/orders", 200, spend, body)
    call("POST", "/v1/orders", 422, spend, {"queue": queue, "items": [{"sku": sku, "quantity": 2}]})
    call("POST", "/v1/orders", 401, {**spend, "Idempotency-Key": new_key()}, body)
    call("POST", "/v1/orders", 400, member.headers(), body)
    call("GET", "/v1/captcha/challenge", 200, member.headers(), query="?event=document")
    call("GET", "/v1/captcha/challenge", 200, member.headers())
    call("GET", "/v1/captcha/challenge", 400, member.headers(), query="?event=")
    call("GET", "/v1/captcha/challenge", 401, query="?event=document")
    call("GET", "/v1/orders", 200, member.headers())
    call("GET", "/v1/orders/{id}", 200, member.headers(), id=order["id"])
    call("GET", "/v1/orders/{id}", 404, api.member().headers(), id=order["id"])
    call("POST", "/v1/orders/{id}/cancel", 200, member.headers(), id=order["id"])
    leaver = api.member()
    leaver.enter(queue)
    call("DELETE", entries, 204, leaver.headers(), queue=queue)
    api.act(queue, "drain")
    call("POST", entries, 410, api.member().headers(), queue=queue)


def test_answers_about_payments_fit(api, call):
    queue = api.queue("document-payment")
    sku = api.product(queue, stock=10)
    start, cancel = "/v1/orders/{id}/payment", "/v1/orders/{id}/cancel"
    form = {"Content-Type": "application/x-www-form-urlencoded"}

    def ordered():
        member = api.ready_member(queue)
        return member, member.order(queue, [{"sku": sku, "quantity": 1}], key=new_key())["id"]

    def back(url, action):
        """What the provider's page sends the browser to: path and query."""
        answer = api.call("POST", path_of(url), form, f"action={action}&method=money".encode())
        assert answer.status == 302, answer.body
        return "?" + answer.headers["location"].partition("?")[2]

    member, order = ordered()
    call("POST", start, 401, id=order)
    call("POST", start, 404, api.member().headers(), id=order)
    url = call("POST", start, 201, member.headers(), id=order)["redirectUrl"]
    call("POST", start, 200, member.headers(), id=order)
    for way in ("approve", "cancel", "fail"):
        call("GET", f"{start}/{way}", 403, id=order, query="?state=x")
        call("GET", f"{start}/{way}", 204, {"Sec-Purpose": "prefetch"}, id=order, query="?state=x")
    call("GET", start + "/approve", 303, id=order, query=back(url, "pay"))
    call("POST", start, 409, member.headers(), id=order)
    call("GET", "/v1/orders/{id}", 200, member.headers(), id=order)
    assert call("POST", cancel, 200, member.headers(), id=order)["status"] == "CANCELED"
    call("POST", cancel, 404, api.member().headers(), id=order)
    call("POST", cancel, 401, id=order)
    for way, action in (("cancel", "cancel"), ("fail", "fail")):
        member, order = ordered()
        url = call("POST", start, 201, member.headers(), id=order)["redirectUrl"]
        call("GET", f"{start}/{way}", 303, id=order, query=back(url, action))
    call("POST", cancel, 409, member.headers(), id=order)
    call("POST", "/v1/payments/webhooks/{provider}", 404, {}, {}, provider="nobody")
    key, viewer = api.operator_headers(), {"Authorization": f"Bearer {api.viewer_key}"}
    many, one = "/v1/admin/payments", "/v1/admin/payments/{payment}"
    page = call("GET", many, 200, viewer, query=f"?order={order}&stuck=false&limit=1")
    call("GET", many, 400, key, query="?state=GONE")
    call("GET", many, 401)
    names = {"payment": page["payments"][0]["id"]}
    call("GET", one, 200, viewer, **names)
    call("GET", one, 401, **names)
    call("GET", one, 404, key, payment="nothing")
    call("POST", one + "/look", 202, key, **names)
    call("POST", one + "/look", 401, **names)
    call("POST", one + "/look", 403, viewer, **names)
    call("POST", one + "/look", 404, key, payment="nothing")


def test_answers_about_proofs_of_work_fit(api, call):
    queue, member = api.queue("document-proof", entryCaptcha="altcha"), api.member()
    challenge = call("GET", "/v1/queues/{queue}/challenge", 200, member.headers(), queue=queue).json
    call("GET", "/v1/queues/{queue}/challenge", 401, {"Authorization": "Bearer x"}, queue=queue)
    call("POST", "/v1/queues/{queue}/entries", 403, member.headers(), queue=queue)
    call("POST", "/v1/queues/{queue}/entries", 400, member.headers(), {"captcha": 1}, queue=queue)
    call("POST", "/v1/queues/{queue}/entries", 201, member.headers(), {"captcha": altcha.answer(challenge)}, queue=queue)


def test_answers_about_lotteries_and_codes_fit(api, call):
    key = api.operator_headers()
    queue = api.queue("document-lottery", mode="lottery", opensAt="2100-01-01T00:00:00Z")
    one, codes = "/v1/admin/queues/{queue}", "/v1/admin/queues/{queue}/codes"
    member = api.member()
    call("GET", "/v1/queues/{queue}/lottery", 200, queue=queue)
    call("GET", "/v1/queues/{queue}/lottery", 404, queue="nowhere")
    call("POST", "/v1/queues/{queue}/entries", 400, member.headers(), {"code": 1}, queue=queue)
    call("POST", "/v1/queues/{queue}/entries", 403, member.headers(), {"code": "nonsense"}, queue=queue)
    call("POST", "/v1/queues/{queue}/entries", 201, member.headers(), queue=queue)
    call("GET", "/v1/queues/{queue}/position", 200, member.headers(), queue=queue)
    call("PATCH", one, 409, key, {"mode": "fifo"}, queue=queue)
    call("GET", one + "/lottery/entrants", 200, key, queue=queue)
    made = call("POST", codes, 201, key, {"kind": "priority", "generate": 2}, queue=queue).json
    call("POST", codes, 400, key, {"kind": "vip", "generate": 2}, queue=queue)
    call("POST", codes, 404, key, {"kind": "invite", "generate": 2}, queue="nowhere")
    call("POST", "/v1/queues/{queue}/entries", 200, member.headers(), {"code": made["codes"][0]}, queue=queue)
    call("GET", codes, 200, key, queue=queue)
    call("GET", codes + "/uses", 200, key, queue=queue)
    call("GET", codes + "/uses", 400, key, queue=queue, query="?after=x")


def test_answers_about_coupons_fit(api, call):
    key = api.operator_headers()
    queue, event = api.queue("document-coupon"), "document-coupon"
    one, codes = "/v1/admin/coupon-events/{event}", "/v1/admin/coupon-events/{event}/codes"
    made = {"name": "Spring", "queue": queue}
    call("PUT", one, 201, key, {**made, "opensAt": "2100-01-01T00:00:00Z"}, event=event)
    call("PUT", one, 400, key, {**made, "captcha": "riddle"}, event=event)
    call("GET", one, 200, key, event=event)
    call("GET", one, 404, key, event="nowhere")
    call("POST", codes, 201, key, {"codes": ["ONE"]}, event=event)
    call("POST", codes, 201, key, {"generate": 1}, event=event)
    call("POST", codes, 400, key, {"codes": ["A", "A"]}, event=event)
    call("POST", codes, 404, key, {"generate": 1}, event="nowhere")
    public, mine = "/v1/coupon-events/{event}", "/v1/coupon-events/{event}/coupons/mine"
    issue = "/v1/coupon-events/{event}/coupons"
    call("GET", public, 200, event=event)
    call("GET", public, 404, event="nowhere")
    members = [api.ready_member(queue) for _ in range(3)]
    tokens = [member.headers(X_Entry_Token=member.token) for member in members]
    call("POST", issue, 403, tokens[0], event=event)
    call("PUT", one, 200, key, made, event=event)
    call("POST", issue, 401, {}, event=event)
    call("POST", issue, 400, tokens[0], {"captcha": 1}, event=event)
    call("POST", issue, 404, tokens[0], event="nowhere")
    call("GET", mine, 404, members[0].headers(), event=event)
    call("POST", issue, 201, tokens[0], event=event)
    call("POST", issue, 200, tokens[0], event=event)
    call("GET", mine, 200, members[0].headers(), event=event)
    call("POST", issue, 201, tokens[1], event=event)
    call("POST", issue, 410, tokens[2], event=event)
    call("GET", public + "/result", 200, event=event)
    call("GET", public + "/result", 404, event="nowhere")
    call("GET", one + "/coupons", 200, key, event=event)
    call("GET", one + "/coupons", 403, {"Authorization": f"Bearer {api.viewer_key}"}, event=event)
    call("GET", one + "/coupons", 400, key, event=event, query="?after=")


def test_answers_about_seats_fit(api, call):
    queue = api.queue("document-seats")
    show = api.show(queue, [f"A-{i}" for i in range(1, 8)])
    holds, mine, seats = "/v1/shows/{show}/holds", "/v1/shows/{show}/holds/mine", "/v1/shows/{show}/seats"
    member, other = api.ready_member(queue), api.ready_member(queue)
    by, against = member.headers(X_Entry_Token=member.token), other.headers(X_Entry_Token=other.token)
    call("POST", holds, 401, {}, {"seats": ["A-1"]}, show=show)
    call("POST", holds, 400, by, {"seats": []}, show=show)
    call("POST", holds, 404, by, {"seats": ["A-1"]}, show="nowhere")
    call("POST", holds, 422, by, {"seats": ["B-1"]}, show=show)
    call("POST", holds, 422, by, {"seats": [f"A-{i}" for i in range(1, 6)]}, show=show)
    call("GET", mine, 200, member.headers(), show=show)
    call("POST", holds, 201, by, {"seats": ["A-1", "A-2"]}, show=show)
    call("POST", holds, 409, against, {"seats": ["A-1"]}, show=show)
    call("GET", mine, 200, member.headers(), show=show)
    call("GET", mine, 404, member.headers(), show="nowhere")
    call("GET", mine, 401, show=show)
    answer = call("GET", seats, 200, member.headers(), show=show)
    call("GET", seats, 304, {**member.headers(), "If-None-Match": answer.headers["etag"]}, show=show)
    call("GET", seats, 200, show=show)
    call("GET", seats, 404, show="nowhere")
    call("DELETE", holds, 400, member.headers(), {"seats": 1}, show=show)
    call("DELETE", holds, 401, show=show)
    call("DELETE", holds, 204, member.headers(), {"seats": ["A-2"]}, show=show)
    spend = {**by, "Idempotency-Key": new_key()}
    call("POST", "/v1/orders", 409, spend, {"queue": queue, "show": show, "seats": ["A-2"]})
    call("POST", "/v1/orders", 400, spend, {"queue": queue, "show": show, "seats": []})
    order = call("POST", "/v1/orders", 201, spend, {"queue": queue, "show": show, "seats": ["A-1"]})
    call("POST", "/v1/orders", 200, spend, {"queue": queue, "show": show, "seats": ["A-1"]})
    call("GET", "/v1/orders/{id}", 200, member.headers(), id=order["id"])
    call("GET", "/v1/orders", 200, member.headers())


def test_answers_of_the_catalogue_fit(api, call):
    concert, show = "document-concert", "document-show"
    key, queue = api.operator_headers(), api.queue("document-catalogue")
    assert api.admin("PUT", f"/concerts/{concert}", {"title": "One", "venue": "Hall"}).status == 201
    times = {"concert": concert, "queue": queue, "startsAt": "2030-05-01T19:00:00Z"}
    assert api.call("PUT", f"/v1/admin/shows/{show}", key, times).status == 201
    listed, one, its_show = "/v1/concerts", "/v1/concerts/{concert}", "/v1/shows/{show}"
    call("GET", its_show, 200, show=show)  # no seats yet
    plan = {"sections": [{"name": "A", "rows": 2, "seatsPerRow": 5, "price": {"amount": 100, "currency": "KRW"}}]}
    assert api.call("PUT", f"/v1/admin/shows/{show}", key, {**times, "plan": plan}).status == 200
    call("GET", its_show, 404, show="nothing")
    call("GET", one, 404, concert="nothing")
    for path, names in ((listed, {}), (one, {"concert": concert}), (its_show, {"show": show})):
        answer = call("GET", path, 200, **names)
        call("GET", path, 304, {"If-None-Match": answer.headers["etag"]}, **names)


def test_counters_are_prometheus_text(api):
    answer = api.call("GET", "/metrics")
    assert answer.status == 200 and answer.headers["content-type"].startswith("text/plain")
    for line in answer.body.decode().splitlines():
        assert line.startswith("#") or metrics.LINE.fullmatch(line), line
        assert not line.startswith("#") or re.fullmatch(r"# (HELP|TYPE) sluice_\w+ .+", line), line


def test_every_part_of_the_host_counts_in_the_same_file(api):
    def all_seen():
        numbers = metrics.read(api.call("GET", "/metrics").body)
        seen = {name: number for name, number in numbers.items() if name.startswith("sluice_program_seen_timestamp")}
        assert len(seen) == 7 and min(seen.values()) > time.time() - 10, seen
        assert numbers["sluice_reconcile_last_pass_timestamp_seconds"] > time.time() - 60
        assert numbers['sluice_queue_leader{queue="shop"}'] == 1
        return True
    until(all_seen, 30, "every part", every=0.2)


def test_answers_about_putting_concerts_and_shows_fit(api, call):
    key = api.operator_headers()
    queue, other = api.queue("document-show"), api.queue("document-show-other")
    concerts, shows = "/v1/admin/concerts/{concert}", "/v1/admin/shows/{show}"
    said = {"title": "Winterreise", "venue": "Small Hall"}
    call("PUT", concerts, 201, key, said, concert="document")
    call("PUT", concerts, 200, key, said, concert="document")
    call("PUT", concerts, 400, key, {}, concert="document")
    call("GET", concerts, 200, key, concert="document")
    call("GET", concerts, 404, key, concert="nowhere")
    show = {"concert": "document", "startsAt": "2100-01-01T00:00:00Z", "queue": queue}
    price = {"amount": 0, "currency": "KRW"}
    call("PUT", shows, 201, key, show, show="document")
    call("GET", shows, 200, key, show="document")
    call("PUT", shows, 200, key, {**show, "seats": [{"id": "A-1", "row": 1, "price": price}]}, show="document")
    call("PUT", shows, 400, key, {**show, "seats": [{"id": "A 1", "price": price}]}, show="document")
    call("GET", shows, 200, key, show="document", query="?seats=false")
    call("GET", shows, 400, key, show="document", query="?seats=few")
    call("GET", shows, 404, key, show="nowhere")
    member = api.ready_member(queue)
    call("PUT", shows, 409, key, {**show, "queue": other}, show="document")
    assert member.hold("document", "A-1").status == 201
    order = member.order_seats(queue, "document", ["A-1"])
    check(order, "POST", "/v1/orders", 201)
    call("PUT", shows, 409, key, {**show, "seats": []}, show="document")


@pytest.mark.parametrize("path", ["/livez", "/healthz", "/readyz"])
def test_machine_answers_fit(call, path):
    call("GET", path, 200)
