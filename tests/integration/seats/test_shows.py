"""Concerts and shows as operators put them, and plans by the command line."""

import csv
import io
import os
import subprocess

import pytest

from lib.api import some_name
from lib.client import assert_problem
from lib.wait import until

KRW = {"amount": 1000, "currency": "KRW"}


def seat(name, amount=1000, **fields):
    return {"id": name, "price": {"amount": amount, "currency": "KRW"}, **fields}


def audited(parts, target):
    return parts.postgres.value("SELECT count(*) FROM audit WHERE target = %s", target)


def read_show(api, show):
    answer = api.admin("GET", f"/shows/{show}")
    assert answer.status == 200, answer.body
    return answer.json


def in_redis(parts, queue, show):
    return parts.redis.hgetall(f"sluice:{{{queue}}}:show:{show}:info")


@pytest.fixture
def ctl(parts):
    def run(*words, expect=0, stdin=None):
        done = subprocess.run([parts.build / "sluicectl" / "sluicectl", "--url", f"http://127.0.0.1:{parts.port}", *words],
                              capture_output=True, input=stdin, timeout=100,
                              env={**os.environ, "SLUICE_ADMIN_KEY_FILE": str(parts.secrets / "admin.key")})
        assert done.returncode == expect, done.stdout + done.stderr
        return (done.stdout if expect == 0 else done.stderr).decode()
    return run


def test_a_concert_is_put_twice_and_written_once(parts, api):
    concert = some_name("concert")
    body = {"title": "Winterreise, D 911", "venue": "Kleiner Saal", "description": "Zwei Teile.\nKeine Pause."}
    made = api.admin("PUT", f"/concerts/{concert}", body)
    assert made.status == 201, made.body
    assert {name: made[name] for name in body} == body and (made["concert"], made["version"]) == (concert, 1)
    again = api.admin("PUT", f"/concerts/{concert}", made.json)
    assert (again.status, again.json) == (200, made.json)
    assert audited(parts, f"concert/{concert}") == 1
    changed = api.admin("PUT", f"/concerts/{concert}", {"title": "Winterreise", "venue": "Großer Saal"})
    assert (changed.status, changed["version"], changed["description"]) == (200, 2, "")
    assert api.admin("GET", f"/concerts/{concert}").json == changed.json
    assert_problem(api.admin("GET", "/concerts/never-made"), 404, "NOT_FOUND")
    viewer = {"Authorization": f"Bearer {api.viewer_key}"}
    assert api.call("GET", f"/v1/admin/concerts/{concert}", viewer).status == 200
    assert_problem(api.call("PUT", f"/v1/admin/concerts/{concert}", viewer, body), 403, "FORBIDDEN")


def test_a_show_is_put_twice_and_written_once(parts, api):
    queue, show = api.queue(), some_name("show")
    seats = [seat("P-1", section="Parkett", row=1, number=1), seat("P-2", 900, section="Parkett", row="1", number="2"),
             seat("NULL", 0), seat('x.Y_z-9', 5, section='Loge "A", \\ links')]
    body = {"concert": api.concert(), "startsAt": "2030-05-01T19:30:00+02:00", "queue": queue, "seats": seats}
    made = api.admin("PUT", f"/shows/{show}", body)
    assert made.status == 201 and "seats" not in made.json, made.body
    assert {name: made[name] for name in ("startsAt", "maxSeatsPerMember", "holdTtlSeconds", "currency", "seatCount",
                                          "taken", "version")} == {
        "startsAt": "2030-05-01T17:30:00.000Z", "maxSeatsPerMember": 4, "holdTtlSeconds": 300, "currency": "KRW",
        "seatCount": 4, "taken": 0, "version": 1}
    shown = read_show(api, show)
    assert shown["seats"] == [{"section": "", "row": "", "number": "", **each,
                               **{k: str(each[k]) for k in ("row", "number") if k in each}} for each in seats]
    assert in_redis(parts, queue, show)["version"] == "1"
    again = api.admin("PUT", f"/shows/{show}", shown)
    assert (again.status, again.json) == (200, made.json)
    assert read_show(api, show) == shown
    assert audited(parts, f"show/{show}") == 1
    # Without seats they stay; with fewer, other prices and another order they follow.
    kept = {name: shown[name] for name in ("concert", "startsAt", "queue")}
    assert api.admin("PUT", f"/shows/{show}", {**kept, "maxSeatsPerMember": 2})["seatCount"] == 4
    changed = api.admin("PUT", f"/shows/{show}", {**kept, "seats": [seat("P-2", 950), seat("P-3"), seat("P-1")]})
    assert (changed["version"], changed["maxSeatsPerMember"], changed["seatCount"]) == (3, 4, 3)
    assert [(each["id"], each["price"]["amount"], each["section"]) for each in read_show(api, show)["seats"]] == [
        ("P-2", 950, ""), ("P-3", 1000, ""), ("P-1", 1000, "")]
    assert in_redis(parts, queue, show)["version"] == "3"
    assert "seats" not in api.admin("GET", f"/shows/{show}?seats=false").json
    rows = api.admin("GET", f"/audit?target=show/{show}").json["entries"]
    assert [row["after"]["seats"] for row in rows] == [{"added": 1, "changed": 2, "removed": 2},
                                                        {"added": 0, "changed": 0, "removed": 0},
                                                        {"added": 4, "changed": 0, "removed": 0}]


def test_a_plan_is_made_from_sections(api):
    queue = api.queue()
    plan = {"sections": [{"name": "A", "rows": 2, "seatsPerRow": 2, "price": KRW},
                         {"name": "Box.1", "rows": 1, "seatsPerRow": 3, "price": {"amount": 7000, "currency": "KRW"}}]}
    show = api.show(queue, plan=plan)
    assert [(each["id"], each["section"], each["row"], each["number"], each["price"]["amount"])
            for each in read_show(api, show)["seats"]] == [
        ("A-1-1", "A", "1", "1", 1000), ("A-1-2", "A", "1", "2", 1000), ("A-2-1", "A", "2", "1", 1000),
        ("A-2-2", "A", "2", "2", 1000), ("Box.1-1", "Box.1", "", "1", 7000), ("Box.1-2", "Box.1", "", "2", 7000),
        ("Box.1-3", "Box.1", "", "3", 7000)]


@pytest.mark.parametrize("change, pointer", [
    ({"concert": "never-made"}, "/concert"), ({"concert": 7}, "/concert"), ({"queue": "never-made"}, "/queue"),
    ({"startsAt": "tomorrow"}, "/startsAt"), ({"maxSeatsPerMember": 101}, "/maxSeatsPerMember"),
    ({"holdTtlSeconds": 0}, "/holdTtlSeconds"), ({"colour": "red"}, "/colour"), ({"seats": {}}, "/seats"),
    ({"seats": [seat("a b")]}, "/seats/0/id"), ({"seats": [seat("A"), seat("B"), seat("A")]}, "/seats/2"),
    ({"seats": [seat("A"), seat("B", -1)]}, "/seats/1/price/amount"), ({"seats": [seat("A", row=1.5)]}, "/seats/0/row"),
    ({"seats": [seat("A", section="\t")]}, "/seats/0/section"), ({"seats": [{"id": "A"}]}, "/seats/0/price"),
    ({"seats": [seat("A", section="x" * 65)]}, "/seats/0/section"), ({"seats": [seat("A", taken=True)]}, "/seats/0/taken"),
    ({"seats": [seat("A"), {"id": "B", "price": {"amount": 1, "currency": "USD"}}]}, "/seats/1/price/currency"),
    ({"seats": [seat("A")], "plan": {"sections": []}}, "/plan"), ({"plan": []}, "/plan"),
    ({"plan": {"sections": [{"name": "A", "rows": 251, "seatsPerRow": 200, "price": KRW}]}}, "/plan/sections/0"),
    ({"plan": {"sections": [{"name": "ä", "rows": 1, "seatsPerRow": 1, "price": KRW}]}}, "/plan/sections/0/name"),
    ({"plan": {"sections": [{"name": "A", "rows": 2, "seatsPerRow": 2, "price": KRW},
                            {"name": "A-1", "rows": 1, "seatsPerRow": 1, "price": KRW}]}}, "/plan/sections/1/name"),
])
def test_what_is_no_show_is_refused_by_its_pointer(api, change, pointer):
    body = {"concert": api.concert(), "startsAt": "2030-01-01T00:00:00Z", "queue": api.queue(), **change}
    show = some_name("show")
    answer = api.admin("PUT", f"/shows/{show}", body)
    assert_problem(answer, 400, "INVALID_REQUEST")
    assert answer["pointer"] == pointer, answer.json
    assert_problem(api.admin("GET", f"/shows/{show}"), 404, "NOT_FOUND")


def test_seats_that_are_ordered_stay_as_they_are(api):
    queue = api.queue()
    show = api.show(queue, ["A-1", "A-2", "A-3"])
    before = read_show(api, show)
    member = api.ready_member(queue)
    assert member.hold(show, "A-1", "A-2").status == 201
    order = member.order_seats(queue, show, ["A-1", "A-2"])
    assert order.status == 201, order.body
    assert order["items"] == [] and order["seats"] == [
        {"show": show, "id": name, "section": "A", "row": "", "number": "", "price": KRW} for name in ("A-1", "A-2")]

    def put(**seats):
        wanted = [seat(name.replace("_", "-"), amount) for name, amount in seats.items()]
        return api.admin("PUT", f"/shows/{show}", {**before, "seats": wanted})

    answer = put(A_1=1000, A_3=1000)
    assert_problem(answer, 409, "SEATS_FIXED")
    assert answer["seats"] == ["A-2"]
    answer = put(A_1=900, A_2=1100, A_3=1000)
    assert_problem(answer, 409, "SEATS_FIXED")
    assert answer["seats"] == ["A-1", "A-2"]
    assert read_show(api, show)["seats"] == before["seats"], "nothing was changed"
    answer = api.admin("PUT", f"/shows/{show}", {**before, "seats": [
        {"id": each, "price": {"amount": 1000, "currency": "USD"}} for each in ("A-1", "A-2", "A-3")]})
    assert_problem(answer, 409, "SEATS_FIXED")
    assert put(A_1=1000, A_2=1000, A_4=5).status == 200, "others come and go"
    assert api.call("POST", f"/v1/orders/{order['id']}/cancel", member.headers()).status == 200
    assert put(A_1=900, A_2=1100).status == 200, "free again: another price"
    answer = put(A_1=900)
    assert_problem(answer, 409, "SEATS_FIXED")
    assert answer["seats"] == ["A-2"], "the canceled order still names it"
    assert [each["price"]["amount"] for each in member.orders()["orders"][0]["seats"]] == [1000, 1000]


def test_a_show_leaves_its_queue_only_while_nobody_is_there_for_it(parts, api):
    queue, other = api.queue(), api.queue()
    show = api.show(queue, ["A-1", "A-2"])
    body = read_show(api, show)
    member = api.ready_member(queue)
    assert_problem(api.admin("PUT", f"/shows/{show}", {**body, "queue": other}), 409, "QUEUE_BUSY")
    assert member.hold(show, "A-1").status == 201
    assert member.leave(queue).status == 204
    answer = api.admin("PUT", f"/shows/{show}", {**body, "queue": other})
    assert_problem(answer, 409, "QUEUE_BUSY")
    assert "1 seats are held" in answer["detail"]
    assert member.enter(queue).status == 201
    member.wait_ready(queue)
    order = member.order_seats(queue, show, ["A-1"])
    assert order.status == 201, order.body
    answer = api.admin("PUT", f"/shows/{show}", {**body, "queue": other})
    assert_problem(answer, 409, "QUEUE_BUSY")
    assert api.call("POST", f"/v1/orders/{order['id']}/cancel", member.headers()).status == 200
    answer = api.admin("PUT", f"/shows/{show}", {**body, "queue": other})
    assert answer.status == 200, answer.body
    assert in_redis(parts, queue, show) == {} and in_redis(parts, other, show)["version"] == "2"
    member = api.ready_member(other)
    assert member.hold(show, "A-1").status == 201
    assert member.order_seats(other, show, ["A-1"]).status == 201


def test_a_stored_show_reaches_redis_when_it_is_back(parts, api):
    queue = api.queue()
    show = api.show(queue, ["A-1"])
    body = read_show(api, show)
    assert api.call("GET", f"/v1/shows/{show}")["version"] == 1
    parts.redis_server.stop()
    answer = api.admin("PUT", f"/shows/{show}", {**body, "seats": [seat("A-1"), seat("A-2")]})
    assert (answer.status, answer["version"]) == (200, 2), answer.body
    parts.start_redis()
    assert in_redis(parts, queue, show)["version"] == "1"
    parts.reconcile_until(lambda: in_redis(parts, queue, show)["version"] == "2")
    until(lambda: api.call("GET", f"/v1/shows/{show}")["version"] == 2, 3, "the catalogue has heard of it too")


@pytest.mark.limit(180)
def test_fifty_thousand_seats_from_csv(parts, api, ctl):
    queue = api.queue()
    ctl("concerts", "put", "big", "title=Big, bigger", "venue=Arena")
    ctl("shows", "put", "big-1", "concert=big", "starts=2030-01-01T19:00:00Z", f"queue={queue}", "max=6", "hold=60")
    head, ends = "price,id,section,row,number,currency\r\n", "\r\n"
    rows = [f'{1000 + n % 7},S{n},"Block ""{n // 1000}"", links",{n // 50},{n % 50},KRW' for n in range(50000)]
    text = ("\ufeff" + head + ends.join(rows) + ends).encode()
    assert "50000" in ctl("shows", "import", "big-1", stdin=text)
    assert api.admin("GET", "/shows/big-1?seats=false")["version"] == 2
    assert in_redis(parts, queue, "big-1")["version"] == "2"
    exported = ctl("shows", "export", "big-1")
    lines = list(csv.reader(io.StringIO(exported, newline="")))
    assert len(lines) == 50001 and lines[0] == ["id", "section", "row", "number", "price", "currency"]
    assert lines[12346] == ["S12345", 'Block "12", links', "246", "45", str(1000 + 12345 % 7), "KRW"]
    ctl("shows", "import", "big-1", stdin=exported.encode())
    assert api.admin("GET", "/shows/big-1?seats=false")["version"] == 2, "the same again changes nothing"


def test_a_plan_from_the_command_line(api, ctl):
    show = api.show(api.queue(), ["A-1"])
    shown = ctl("shows", "generate", show, "A:2:3:15000:USD", "B:1:4:9000:USD")
    assert shown.split()[-4:] == ["10", "0", "USD", "2"], shown
    assert [each["id"] for each in read_show(api, show)["seats"]][5:7] == ["A-2-3", "B-1"]
    assert "does not have the form NAME:ROWS" in ctl("shows", "generate", show, "A:2:3:15000", expect=64)
    assert "SEATS" in ctl("shows", "get", show)
    assert "no field 'colour'" in ctl("shows", "put", show, "colour=red", expect=64)
    assert "/maxSeatsPerMember" in ctl("shows", "put", show, "max=0", expect=1)
    assert ctl("--json", "shows", "put", show, "max=7").count('"maxSeatsPerMember":7') == 1


@pytest.mark.parametrize("text, why", [
    ("id,price\nA,1\n", "the first line must name"), ("id,price,currency\nA,1,KRW\nB,one,KRW\n", "line 3: price"),
    ("id,price,currency\nA,1\n", "line 2: there are 2 fields"), ('id,price,currency\n"A,1,KRW\n', "line 2: a quote"),
    ("id,price,currency\n", "no seats"), ("id,price,currency\nA B,1,KRW\n", "/seats/0/id"),
])
def test_csv_that_is_no_plan(api, ctl, text, why):
    show = api.show(api.queue(), ["A-1"])
    assert why in ctl("shows", "import", show, stdin=text.encode(), expect=1)
    assert api.admin("GET", f"/shows/{show}")["seatCount"] == 1


def test_a_stored_concert_reaches_the_catalogue_when_redis_is_back(parts, api):
    concert = api.concert(title="Before")
    title = lambda: api.call("GET", f"/v1/concerts/{concert}")["title"]
    assert title() == "Before"
    parts.redis_server.stop()
    answer = api.admin("PUT", f"/concerts/{concert}", {"title": "After", "venue": "Hall"})
    assert (answer.status, answer["version"]) == (200, 2), answer.body
    parts.start_redis()
    until(lambda: title() == "Before", 10, "what Redis still has")
    assert parts.postgres.value("SELECT count(*) FROM outbox WHERE concert = %s", concert) == 1
    parts.reconcile()
    until(lambda: title() == "After", 3, "delivered by reconcile")
    assert parts.postgres.value("SELECT count(*) FROM outbox WHERE concert = %s", concert) == 0
    api.concert(concert, title="Again")
    assert parts.postgres.value("SELECT count(*) FROM outbox WHERE concert = %s", concert) == 0, "delivered at once"
