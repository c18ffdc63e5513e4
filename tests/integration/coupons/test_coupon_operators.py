"""Coupon events as operators make and read them."""

import csv
import io
import os
import subprocess

import pytest

from lib.client import assert_problem
from lib.coupons import CODE


def test_putting_and_getting_an_event(parts, api):
    queue = api.queue()
    path = "/coupon-events/" + api.coupon_event(queue, opensAt="2026-01-01T09:00:00.250+09:00", captcha="none")
    event = api.admin("GET", path)
    assert (event["opensAt"], event["endsAt"], event["captcha"]) == ("2026-01-01T00:00:00.250Z", None, "none")
    again = api.admin("PUT", path, event.json)
    assert again.status == 200
    assert {**again.json, "updatedAt": None} == {**event.json, "updatedAt": None}
    changed = api.admin("PUT", path, {"name": "Frühling 봄", "queue": queue})
    assert (changed["name"], changed["opensAt"]) == ("Frühling 봄", None)
    audit = api.admin("GET", f"/audit?target=coupon-event/{event['event']}").json
    assert [row["action"] for row in audit["entries"]] == ["change", "create"]
    assert_problem(api.admin("GET", "/coupon-events/no-such-event"), 404, "NOT_FOUND")
    viewer = {"Authorization": f"Bearer {api.viewer_key}"}
    assert api.call("GET", f"/v1/admin{path}", viewer).status == 200
    assert_problem(api.call("PUT", f"/v1/admin{path}", viewer, event.json), 403, "FORBIDDEN")
    assert_problem(api.call("GET", f"/v1/admin{path}/coupons", viewer), 403, "FORBIDDEN")
    assert_problem(api.call("POST", f"/v1/admin{path}/codes", {}, {"generate": 1}), 401, "UNAUTHENTICATED")


@pytest.mark.parametrize("field, value, pointer", [
    ("name", "", "/name"), ("name", 5, "/name"), ("name", "a\nb", "/name"), ("name", "x" * 201, "/name"),
    ("queue", "No", "/queue"), ("queue", "no-such-queue", "/queue"), ("opensAt", "soon", "/opensAt"),
    ("endsAt", 5, "/endsAt"), ("endsAt", "2019-01-01T00:00:00Z", "/endsAt"), ("captcha", "math", "/captcha"),
    ("captcha", 5, "/captcha"), ("coupon", 1, "/coupon")])
def test_what_an_event_cannot_be(api, field, value, pointer):
    queue = api.queue()
    body = {"name": "E", "queue": queue, "opensAt": "2020-01-01T00:00:00Z", field: value}
    answer = api.admin("PUT", "/coupon-events/never-made", body)
    assert_problem(answer, 400, "INVALID_REQUEST")
    assert answer["pointer"] == pointer
    assert_problem(api.admin("GET", "/coupon-events/never-made"), 404, "NOT_FOUND")


def test_moving_to_another_queue(parts, api):
    one, two = api.queue(), api.queue()
    event = api.coupon_event(one, 2)
    api.coupon_event(two, event=event)
    member = api.ready_member(two)
    move = {"name": "E", "queue": one}
    assert_problem(api.admin("PUT", f"/coupon-events/{event}", move), 409, "QUEUE_BUSY")
    assert member.coupon(event).status == 201
    refused = api.admin("PUT", f"/coupon-events/{event}", move)
    assert_problem(refused, 400, "INVALID_REQUEST")
    assert refused["pointer"] == "/queue"
    assert api.admin("GET", f"/coupon-events/{event}")["queue"] == two


@pytest.mark.parametrize("body, pointer", [
    ({}, ""), ({"codes": ["A"], "generate": 1}, ""), ({"codes": []}, "/codes"), ({"codes": "A"}, "/codes"),
    ({"codes": ["A", 5]}, "/codes/1"), ({"codes": ["A", ""]}, "/codes/1"), ({"codes": ["A B"]}, "/codes/0"),
    ({"codes": ["é"]}, "/codes/0"), ({"codes": ["x" * 65]}, "/codes/0"), ({"codes": ["A", "B", "A"]}, "/codes/2"),
    ({"generate": 0}, "/generate"), ({"generate": 100001}, "/generate"), ({"generate": "1"}, "/generate"),
    ({"generate": 1, "uses": 2}, "/uses")])
def test_what_codes_cannot_be(api, body, pointer):
    event = api.coupon_event(api.queue())
    answer = api.admin("POST", f"/coupon-events/{event}/codes", body)
    assert_problem(answer, 400, "INVALID_REQUEST")
    assert answer["pointer"] == pointer
    assert api.admin("GET", f"/coupon-events/{event}")["coupons"] == 0, "all or nothing"
    assert_problem(api.admin("POST", "/coupon-events/no-such-event/codes", {"generate": 1}), 404, "NOT_FOUND")


def test_codes_of_one_s_own_go_out_in_their_order(api):
    queue = api.queue()
    event = api.coupon_event(queue)
    codes = ['PLAIN', 'quo"te', "back\\slash", "{curly}", "a,b", "NULL", "~!@#$%^&*()"]
    added = api.add_coupons(event, codes=codes)
    assert (added["added"], added["known"], added["codes"]) == (7, 0, [])
    again = api.add_coupons(event, codes=["NEW", *codes[:2]])
    assert (again["added"], again["known"], again["knownCodes"]) == (1, 2, codes[:2])
    members = api.ready_members(queue, 8)
    assert [member.coupon(event)["code"] for member in members] == [*codes, "NEW"]


def test_generated_codes(api):
    event = api.coupon_event(api.queue())
    made = api.add_coupons(event, generate=5000)
    assert made["added"] == 5000 == len(set(made["codes"]))
    assert all(CODE.fullmatch(code) for code in made["codes"])
    letters = set("".join(made["codes"])) - {"-"}
    assert not letters & set("01IO") and len(letters) == 32


@pytest.mark.limit(150)
def test_a_body_of_16_megabytes(api):
    event = api.coupon_event(api.queue())
    codes = [f"{n:07d}-{'x' * 48}" for n in range(270000)]
    body = ('{"codes":["' + '","'.join(codes) + '"]}').encode()
    assert 15.5e6 < len(body) < 16 * 2**20
    answer = api.call("POST", f"/v1/admin/coupon-events/{event}/codes", api.operator_headers(), body, timeout=120)
    assert answer.status == 201 and answer["added"] == 270000, answer.body[:300]
    assert_problem(api.call("POST", f"/v1/admin/coupon-events/{event}/codes", api.operator_headers(),
                            body + b" " * 2**20), 413, "BODY_TOO_LARGE")


def test_export_by_pages_and_the_public_result(parts, api):
    queue = api.queue()
    event = api.coupon_event(queue)
    api.add_coupons(event, generate=1203)
    parts.postgres.query(
        "UPDATE coupon SET member = 'm' || lpad(id::text, 9, '0'), admission_id = 'a', epoch = 1 + (rank > 1200)::int, "
        "seq = CASE WHEN rank <= 1200 THEN rank + (rank > 500)::int ELSE rank - 1195 END, "
        "issued_at = timestamptz '2026-01-01T00:00:00Z' + rank * interval '1 s' FROM "
        "(SELECT id AS at, row_number() OVER (ORDER BY id) AS rank FROM coupon WHERE event = %s) AS ranked "
        "WHERE id = at AND rank <= 1202", event)
    first = api.admin("GET", f"/coupon-events/{event}/coupons").json
    assert len(first["coupons"]) == 1000 and first["next"] == first["coupons"][-1]["member"]
    rest = api.admin("GET", f"/coupon-events/{event}/coupons?after={first['next']}").json
    assert len(rest["coupons"]) == 202 and rest["next"] is None
    everyone = [row["member"] for row in first["coupons"] + rest["coupons"]]
    assert everyone == sorted(set(everyone)) and len(everyone) == 1202
    assert_problem(api.admin("GET", f"/coupon-events/{event}/coupons?after="), 400, "INVALID_REQUEST")
    result = api.call("GET", f"/v1/coupon-events/{event}/result")
    assert result.headers["cache-control"] == "public, max-age=10"
    assert (result["issued"], result["left"]) == (1202, 1)
    assert (result["firstIssuedAt"], result["lastIssuedAt"]) == ("2026-01-01T00:00:01.000Z", "2026-01-01T00:20:02.000Z")
    assert result["numbersServed"] == [{"epoch": 1, "numbers": "1-500,502-1201"}, {"epoch": 2, "numbers": "6-7"}]
    assert "m0" not in result.body.decode()
    assert_problem(api.call("GET", "/v1/coupon-events/no-such-event/result"), 404, "NOT_FOUND")


def test_sluicectl(parts, api):
    queue = api.queue()
    event = f"shell-{queue}"

    def sluicectl(*words, stdin="", code=0):
        done = subprocess.run([parts.build / "sluicectl" / "sluicectl", "--url", f"http://127.0.0.1:{parts.port}", *words],
                              env={**os.environ, "SLUICE_ADMIN_KEY_FILE": str(parts.secrets / "admin.key")},
                              input=stdin, capture_output=True, text=True, timeout=60)
        assert done.returncode == code, (done.stdout, done.stderr)
        return done.stdout
    sluicectl("coupons", "put", event, "name=Spring, and more", f"queue={queue}", "ends=2100-01-01T00:00:00Z")
    sluicectl("coupons", "put", event, "ends=", "opens=2020-01-01T00:00:00Z")
    stored = api.admin("GET", f"/coupon-events/{event}").json
    assert (stored["name"], stored["opensAt"], stored["endsAt"]) == (
        "Spring, and more", "2020-01-01T00:00:00.000Z", None)
    assert sluicectl("coupons", "upload", event, stdin='ONE\r\nTWO,"2"\n\n') == "2 added, 0 there before\n"
    assert sluicectl("coupons", "upload", event, stdin="ONE\nTHREE\n") == "1 added, 1 there before\n"
    fresh = sluicectl("coupons", "generate", event, "3").split()
    assert len(fresh) == 3 and all(CODE.fullmatch(code) for code in fresh)
    members = api.ready_members(queue, 2)
    for member in members:
        assert member.coupon(event).status == 201
    table = list(csv.reader(io.StringIO(sluicectl("coupons", "export", event), newline="")))
    assert table[0] == ["member", "code", "issuedAt", "epoch", "number"]
    assert {(row[0], row[1]) for row in table[1:]} == {(members[0].name, "ONE"), (members[1].name, 'TWO,"2"')}
    assert "4" in sluicectl("coupons", "get", event)
    sluicectl("coupons", "put", event, "colour=red", code=64)
    sluicectl("coupons", "generate", event, "none", code=64)
    sluicectl("coupons", "put", "unmade", "name=x", code=1)
