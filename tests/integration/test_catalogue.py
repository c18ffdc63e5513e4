"""The catalogue: concerts and shows, read through the memory of each host, Redis and PostgreSQL."""

import contextlib
import re
import threading
import time

import pytest

from lib import fastcgi, metrics, processes
from lib.api import some_name
from lib.parts import SETTINGS
from lib.wait import holds_for, until, within

OTHER = "catalog-b"
L1_MS = 2000
READERS = 500
LOCK_TIMEOUT_MS = 700  # longer than others of a busy machine keep us from letting go of a lock


@pytest.fixture(scope="module", autouse=True)
def long_life(all_parts):
    """In memory things live longer than a second: what is seen earlier was told, and did not just run out."""
    all_parts.add_host(OTHER)
    all_parts.reconfigure("catalog", OTHER, catalog_l1_ttl_ms=L1_MS, lock_timeout_ms=LOCK_TIMEOUT_MS)
    yield
    all_parts.reconfigure("catalog", OTHER, catalog_l1_ttl_ms=1000, lock_timeout_ms=SETTINGS["lock_timeout_ms"])


@pytest.fixture
def hosts(parts):
    """The sockets of two hosts, each with a memory of its own."""
    for name in ("catalog", OTHER):
        parts.all_workers(name)
    return parts.socket("catalog"), parts.socket(OTHER)


@pytest.fixture
def short_life(parts):
    """At one host things live for so short that tests see their end, and the dice fall early."""
    parts.reconfigure(OTHER, catalog_l2_ttl_ms=500, catalog_l1_ttl_ms=200, catalog_beta_percent=10000)
    yield parts.socket(OTHER)
    parts.reconfigure(OTHER, catalog_l2_ttl_ms=30000, catalog_l1_ttl_ms=L1_MS, catalog_beta_percent=100)


@pytest.fixture
def show(api):
    """A concert with one show of twelve seats; returns their ids."""
    return make_show(api)


def make_show(api, seats=12):
    concert, name = some_name("concert"), some_name("show")
    queue = api.queue()
    put_concert(api, concert, "First")
    sections = [{"name": "A", "rows": 1, "seatsPerRow": min(seats, 100), "price": {"amount": 5000, "currency": "KRW"}}]
    if seats > 100:
        sections[0]["rows"] = seats // 100
    plan = {"plan": {"sections": sections}} if seats else {}
    answer = api.admin("PUT", f"/shows/{name}", {
        "concert": concert, "startsAt": "2030-05-01T19:00:00Z", "queue": queue, **plan})
    assert answer.status == 201, answer.body
    return concert, name


def put_concert(api, concert, title):
    answer = api.admin("PUT", f"/concerts/{concert}", {"title": title, "venue": "Hall"})
    assert answer.status in (200, 201), answer.body


@contextlib.contextmanager
def counted(parts):
    """Every statement is written down meanwhile; gives a function that counts those of one name."""
    def switch(word):
        parts.postgres.superuser(f"ALTER SYSTEM SET log_statement = '{word}'")
        parts.postgres.superuser("SELECT pg_reload_conf()")
        until(lambda: parts.postgres.value("SHOW log_statement") == word, 10, "PostgreSQL's log")

    log = parts.logs / "postgres.log"
    switch("all")
    begin = log.stat().st_size
    try:
        yield lambda name: len(re.findall(rf"execute {name}\b", log.read_bytes()[begin:].decode(errors="replace")))
    finally:
        switch("none")


def counters(socket):
    """What /metrics says, by name and labels."""
    return metrics.read(fastcgi.get(socket, "/metrics").body)


def key(name):
    return f"sluice:{{{name}}}:catalog"


def titles(hosts, concert):
    return [fastcgi.get(socket, f"/v1/concerts/{concert}")["title"] for socket in hosts]


def run_out(parts, name):
    """Its time is up in Redis; in memory it was up before."""
    parts.redis.hset(key(name), "until", 1)


def run_out_of_memory(parts, hosts):
    """Waits until the hosts' memory is over for all that they have read so far: it is for something that they read now."""
    concert, _ = make_show(parts.api)
    until(lambda: titles(hosts, concert) == ["First"] * 2, 3, "the title; made-up ids were too many a moment ago")
    parts.postgres.query("UPDATE concert SET title = 'Unheard', version = version + 1 WHERE id = %s", concert)
    parts.redis.hset(key(f"concert:{concert}"), mapping={"until": 0, "generation": 2 ** 52})
    until(lambda: titles(hosts, concert) == ["Unheard"] * 2, L1_MS / 1000 + 1, "the end of its time in memory")


def read_beyond_memory(hosts, concert):
    """Reads until both hosts have looked further than their memory; the title is the first one all the while."""
    def beyond():
        return [sum(count for name, count in counters(socket).items()
                    if name.startswith("sluice_catalog_reads_total") and "l1" not in name) for socket in hosts]
    before = beyond()

    def looked_further():
        assert titles(hosts, concert) == ["First"] * 2
        return all(now > old for now, old in zip(beyond(), before))
    until(looked_further, L1_MS / 1000 + 1, "a read beyond memory on both hosts")


def read_by_500(parts, hosts, path, query):
    """Half of them at each host, while PostgreSQL is held up a little; returns answers and what it was asked."""
    answers = []
    holder = parts.postgres.connection()
    with counted(parts) as asked:
        holder.cursor().execute("LOCK TABLE show, concert IN ACCESS EXCLUSIVE MODE")
        reading = threading.Thread(target=lambda: answers.extend(
            fastcgi.together([(hosts[i % 2], path) for i in range(READERS)], 60)))
        reading.start()
        held = lambda: parts.postgres.value("SELECT count(*) FROM pg_locks WHERE NOT granted") > 0
        until(held, 10, "a query that is held up")
        # Less than LOCK_TIMEOUT_MS, and long enough for most readers to be there.
        holds_for(0.1, held, "a query that is held up")
        holder.close()
        reading.join()
        count = asked(query)
    return answers, count


def test_concerts_and_shows_are_read_with_an_etag(api, show):
    concert, name = show
    listed = api.call("GET", "/v1/concerts")
    assert listed.status == 200
    mine = [entry for entry in listed["concerts"] if entry["id"] == concert]
    assert mine == [{"id": concert, "title": "First", "venue": "Hall", "shows": 1,
                     "firstShowAt": "2030-05-01T19:00:00.000Z", "lastShowAt": "2030-05-01T19:00:00.000Z"}]
    one = api.call("GET", f"/v1/concerts/{concert}")
    assert (one.status, one["title"], [entry["id"] for entry in one["shows"]]) == (200, "First", [name])
    found = api.call("GET", f"/v1/shows/{name}")
    assert found.status == 200
    assert (found["seats"], found["priceFrom"], found["maxSeatsPerMember"]) == (
        12, {"amount": 5000, "currency": "KRW"}, 4)
    again = api.call("GET", f"/v1/shows/{name}", {"If-None-Match": f'"x", W/{found.headers["etag"]}'})
    assert (again.status, len(again.body or b"")) == (304, 0)
    assert again.headers["etag"] == found.headers["etag"]
    assert api.call("GET", "/v1/shows/no-such-show").status == 404
    assert api.call("GET", "/v1/shows/No_Such").status == 404


def test_500_readers_of_something_that_nobody_has_cost_one_query(parts, api, hosts):
    _, name = make_show(api)
    answers, count = read_by_500(parts, hosts, f"/v1/shows/{name}", "catalog_show")
    assert {answer.status for answer in answers} == {200} and len(answers) == READERS
    assert {answer.headers["etag"] for answer in answers} == {answers[0].headers["etag"]}
    assert count == 1


def test_500_readers_of_something_that_has_run_out_cost_one_query_and_do_not_wait(parts, hosts, show):
    concert, _ = show
    titles(hosts, concert)
    run_out_of_memory(parts, hosts)
    run_out(parts, f"concert:{concert}")
    before = [counters(socket) for socket in hosts]
    answers, count = read_by_500(parts, hosts, f"/v1/concerts/{concert}", "catalog_concert")
    assert {answer.status for answer in answers} == {200} and len(answers) == READERS
    assert count == 1
    waits = "sluice_catalog_waits_total"
    assert [counters(socket)[waits] - old[waits] for socket, old in zip(hosts, before)] == [0, 0]


def test_a_change_is_seen_on_every_host_within_a_second(api, hosts, show):
    concert, name = show
    for number in range(10):
        titles(hosts, concert)
        put_concert(api, concert, f"Title {number}")
        within(1, lambda n=number: titles(hosts, concert) == [f"Title {n}"] * 2, "the new title")
    listed = fastcgi.get(hosts[1], "/v1/concerts")["concerts"]
    assert [entry["title"] for entry in listed if entry["id"] == concert] == ["Title 9"]
    before = fastcgi.get(hosts[0], f"/v1/shows/{name}")
    record = {field: before[field] for field in ("concert", "startsAt", "queue")}
    assert api.admin("PUT", f"/shows/{name}", {**record, "maxSeatsPerMember": 7}).status == 200
    within(1, lambda: [fastcgi.get(socket, f"/v1/shows/{name}")["maxSeatsPerMember"] for socket in hosts] == [7, 7], "the show")


def test_a_lost_message_is_made_good_when_the_time_in_memory_is_up(parts, hosts, show):
    concert, _ = show
    begin = time.monotonic()
    assert titles(hosts, concert) == ["First"] * 2
    parts.postgres.query("UPDATE concert SET title = 'Unheard', version = version + 1 WHERE id = %s", concert)
    parts.redis.hset(key(f"concert:{concert}"), mapping={"until": 0, "generation": 2 ** 52})
    assert titles(hosts, concert) == ["First"] * 2 or time.monotonic() - begin > L1_MS / 1000
    until(lambda: titles(hosts, concert) == ["Unheard"] * 2, L1_MS / 1000 + 1, "the title that nobody invalidated")


def test_what_was_not_heard_while_the_connection_was_gone_is_looked_up(parts, hosts, show):
    concert, _ = show
    assert titles(hosts, concert) == ["First"] * 2
    parts.redis.execute_command("CLIENT", "KILL", "TYPE", "pubsub")
    parts.postgres.query("UPDATE concert SET title = 'Unheard', version = version + 1 WHERE id = %s", concert)
    parts.redis.hset(key(f"concert:{concert}"), mapping={"until": 0, "generation": 2 ** 52})
    within(L1_MS / 1000 - 0.5, lambda: titles(hosts, concert) == ["Unheard"] * 2, "the title, before its time was up")


def test_a_late_computation_does_not_bring_the_old_back(parts, api, hosts, show):
    concert, _ = show
    assert titles(hosts, concert) == ["First"] * 2
    run_out_of_memory(parts, hosts)
    run_out(parts, f"concert:{concert}")
    parts.arm_pause("catalog.computed")
    late = []
    reading = threading.Thread(target=lambda: late.append(fastcgi.get(hosts[0], f"/v1/concerts/{concert}")))
    reading.start()
    stopped = parts.wait_hit("catalog.computed")
    put_concert(api, concert, "Second")
    processes.cont(stopped)
    reading.join()
    assert late[0]["title"] == "Second"
    seen = [title for _ in range(40) for title in titles(hosts, concert)]
    assert set(seen) == {"Second"}
    assert parts.redis.hget(key(f"concert:{concert}"), "until") != "0"


def test_a_host_goes_on_at_once_where_a_computing_process_was_killed(parts, api, hosts):
    _, name = make_show(api)
    parts.arm_pause("catalog.computing")
    lost = threading.Thread(target=lambda: pytest.raises(EOFError, fastcgi.get, hosts[0], f"/v1/shows/{name}"))
    lost.start()
    stopped = parts.wait_hit("catalog.computing")
    with counted(parts) as asked:
        processes.kill9(stopped)
        before = counters(hosts[0])["sluice_catalog_waits_in_vain_total"]
        assert fastcgi.get(hosts[0], f"/v1/shows/{name}").status == 200
        assert counters(hosts[0])["sluice_catalog_waits_in_vain_total"] == before, "nobody waits for catalog_wait_ms"
        assert fastcgi.get(hosts[1], f"/v1/shows/{name}").status == 200
        assert asked("catalog_show") == 1
    lost.join()
    assert parts.redis.hget(key(f"show:{name}"), "owner") is None


def test_another_host_waits_for_a_dead_flight_only_so_long(parts, api, hosts):
    _, name = make_show(api)
    parts.arm_pause("catalog.computing")
    lost = threading.Thread(target=lambda: pytest.raises(EOFError, fastcgi.get, hosts[0], f"/v1/shows/{name}"))
    lost.start()
    processes.kill9(parts.wait_hit("catalog.computing"))
    lost.join()
    begin = time.monotonic()
    assert fastcgi.get(hosts[1], f"/v1/shows/{name}").status == 200
    assert time.monotonic() - begin < 8


def test_while_one_process_is_stopped_the_others_show_what_there_is(parts, hosts, show):
    concert, _ = show
    titles(hosts, concert)
    run_out_of_memory(parts, hosts)
    run_out(parts, f"concert:{concert}")
    parts.arm_pause("catalog.computing")
    late = threading.Thread(target=lambda: fastcgi.get(hosts[0], f"/v1/concerts/{concert}"))
    late.start()
    stopped = parts.wait_hit("catalog.computing")
    waits = lambda: [counters(socket)["sluice_catalog_waits_total"] for socket in hosts]
    before = waits()
    assert titles(hosts, concert) == ["First"] * 2
    assert waits() == before
    processes.cont(stopped)
    late.join()


def test_ids_that_nobody_knows_are_remembered_too(parts, api, hosts):
    concert = some_name("unknown")
    with counted(parts) as asked:
        answers = fastcgi.together([(hosts[i % 2], f"/v1/concerts/{concert}") for i in range(60)])
        assert {answer.status for answer in answers} == {404}
        assert asked("catalog_concert") == 1
    put_concert(api, concert, "Now there is one")
    assert titles(hosts, concert) == ["Now there is one"] * 2


def test_made_up_ids_do_not_become_a_flood_of_queries(parts, hosts):
    begin = time.monotonic()
    with counted(parts) as asked:
        answers = [answer for batch in range(3) for answer in fastcgi.together(
            [(hosts[0], f"/v1/concerts/made-up-{batch}-{i}") for i in range(400)])]
        seconds = time.monotonic() - begin
        assert {answer.status for answer in answers} <= {404, 503}
        # 100 a second for each of two processes, and another second that has begun
        assert asked("catalog_concert") <= 200 * (seconds + 2)


def test_with_redis_away_the_catalogue_answers_from_memory_and_postgresql(parts, api, hosts, show):
    concert, name = show
    until(lambda: titles(hosts, concert) == ["First"] * 2, 3, "the title; made-up ids were too many a moment ago")
    parts.redis_server.kill()
    try:
        assert titles(hosts, concert) == ["First"] * 2
        never_read = until(lambda: (answer := fastcgi.get(hosts[0], f"/v1/shows/{name}")).status == 200 and answer, 3,
                           "the show; made-up ids were too many a moment ago")
        assert never_read["seats"] == 12
        parts.postgres.query("UPDATE concert SET title = 'In the dark' WHERE id = %s", concert)
        until(lambda: titles(hosts, concert) == ["In the dark"] * 2, L1_MS / 1000 + 2, "the title without Redis")
        with counted(parts) as asked:
            answers = fastcgi.together([(hosts[i % 2], f"/v1/shows/{name}") for i in range(200)])
            assert {answer.status for answer in answers} == {200}
            assert asked("catalog_show") <= 2 * 2  # a host knows only of itself
    finally:
        parts.start_redis()
    until(lambda: titles(hosts, concert) == ["In the dark"] * 2, 3)
    put_concert(api, concert, "Heard again")
    until(lambda: titles(hosts, concert) == ["Heard again"] * 2, 3, "listening again")


def test_with_postgresql_away_the_catalogue_shows_what_it_has(parts, api, hosts, show):
    concert, _ = show
    _, unread = make_show(api)
    titles(hosts, concert)
    parts.postgres.kill()
    try:
        run_out(parts, f"concert:{concert}")
        read_beyond_memory(hosts, concert)
        answer = fastcgi.get(hosts[0], f"/v1/shows/{unread}")
        assert (answer.status, answer["code"]) == (503, "CATALOG_UNAVAILABLE")
        assert int(answer.headers["retry-after"]) > 0
        # Called outdated, it is still better than nothing.
        parts.redis.hset(key(f"concert:{concert}"), "until", 0)
        read_beyond_memory(hosts, concert)
    finally:
        parts.postgres.start()
    until(lambda: fastcgi.get(hosts[0], f"/v1/shows/{unread}").status == 200, 5, "PostgreSQL asked again")


def test_servers_that_hang_hold_nobody_up_for_long(parts, hosts, show):
    concert, _ = show
    titles(hosts, concert)
    run_out_of_memory(parts, hosts)
    holder = parts.postgres.connection()
    holder.cursor().execute("LOCK TABLE concert, show IN ACCESS EXCLUSIVE MODE")
    processes.stop(parts.redis_server.process.pid)
    try:
        begin = time.monotonic()
        answers = [answer for _ in range(4) for answer in
                   fastcgi.together([(hosts[i % 2], f"/v1/concerts/{concert}") for i in range(100)])]
        assert {answer.status for answer in answers} == {200}
        # Each of the four processes waits for Redis and then for PostgreSQL once or twice; hundred times each would be minutes.
        assert time.monotonic() - begin < 25
    finally:
        processes.cont(parts.redis_server.process.pid)
        holder.close()


def test_a_list_that_changes_all_the_time_is_still_read(parts, api, hosts, show):
    concert, _ = show
    done = threading.Event()
    changes = []

    def change():
        while not done.is_set():
            put_concert(api, concert, f"Change {len(changes)}")
            changes.append(time.monotonic())

    writing = threading.Thread(target=change)
    writing.start()
    try:
        with counted(parts) as asked:
            slowest = 0.0
            for _ in range(10):
                begin = time.monotonic()
                answers = fastcgi.together([(hosts[i % 2], "/v1/concerts") for i in range(40)])
                slowest = max(slowest, time.monotonic() - begin)
                assert {answer.status for answer in answers} == {200}
                number = len(changes)
                title, = [entry["title"] for entry in answers[-1]["concerts"] if entry["id"] == concert]
                assert int(title.split()[-1] if title != "First" else 0) >= number - 200
            assert asked("catalog_concerts") <= 4 * len(changes) + 10
    finally:
        done.set()
        writing.join()
    assert slowest < 15
    until(lambda: [entry["title"] for entry in fastcgi.get(hosts[1], "/v1/concerts")["concerts"]
                   if entry["id"] == concert] == [f"Change {len(changes) - 1}"], 5, "the last change")


def test_what_is_much_read_is_computed_before_its_time_is_up(short_life, show):
    concert, _ = show
    early, late = ('sluice_catalog_recomputations_total{when="%s"}' % when for when in ("early", "late"))
    before, stills = counters(short_life), 0
    end = time.monotonic() + 2.5
    while time.monotonic() < end:
        begin = time.monotonic()
        answers = fastcgi.together([(short_life, f"/v1/concerts/{concert}")] * 4)
        assert {answer.status for answer in answers} == {200}
        stills += time.monotonic() - begin > 0.2
    after = counters(short_life)
    # The first is late. With a hundredfold β and a cost of some ms it is hardly ever left to its end, while it is read.
    assert after[early] - before[early] >= 3
    assert after[late] - before[late] <= 2 + stills


def test_a_plan_of_50000_seats_is_kept_at_both_levels(parts, api, hosts):
    name = api.show(api.queue(), seats=["A-1"])
    parts.postgres.query("""INSERT INTO seat (show, id, position, section, row_name, number, price_amount)
        SELECT %s, 'B-' || n, n + 1, 'Balcony', (n / 100)::text, (n %% 100)::text, 7000
          FROM generate_series(1, 49999) n""", name)
    until(lambda: fastcgi.get(hosts[0], f"/v1/shows/{name}/seats").status == 200, 20, "the map")
    with counted(parts) as asked:
        until(lambda: fastcgi.get(hosts[1], f"/v1/shows/{name}/seats").status == 200, 20, "the map")
        assert asked("catalog_seat_plan") == 0
    text = parts.redis.hget(key(f"plan:{name}"), "text")
    assert text.count("\n") == 50000 and len(text) > 1_000_000
    assert text.startswith("A-1\tA\t\t\t1000\nB-1\tBalcony\t0\t1\t7000\n")
    for folder in ("catalog", OTHER):  # in memory too
        assert (parts.memory / folder / "data.mdb").stat().st_size > len(text)


def test_a_damaged_memory_is_made_anew(parts, hosts, show):
    concert, _ = show
    titles(hosts, concert)
    folder = parts.memory / "catalog"
    old = (folder / "data.mdb").stat().st_ino
    for damage in (None, b"", b"\0" * 100, b"something else" * 1000):
        if damage is None:
            (folder / "data.mdb").unlink()
        else:  # another file of that name: nobody can cut the one that is open without killing its readers
            (folder / "other").write_bytes(damage)
            (folder / "other").replace(folder / "data.mdb")

        def reads():
            answers = fastcgi.together([(hosts[0], f"/v1/concerts/{concert}")] * 8)
            return {answer.status for answer in answers} == {200}
        until(lambda: reads() and (folder / "data.mdb").stat().st_size > 4096, 15, "reads with a new file")
        assert (folder / "data.mdb").stat().st_ino != old


def test_processes_killed_while_they_read_and_write_leave_nothing_behind(parts, hosts, show):
    concert, _ = show
    done = threading.Event()

    def read():
        while not done.is_set():
            with contextlib.suppress(EOFError, OSError):  # of those that are killed
                fastcgi.together([(hosts[0], f"/v1/concerts/{concert}")] * 8)
            # Old everywhere, again and again: so something is written all the time.
            run_out(parts, f"concert:{concert}")
            parts.redis.publish("sluice:catalog", f"concert:{concert} {2 ** 52}")

    reading = threading.Thread(target=read)
    reading.start()
    try:
        for _ in range(6):
            for pid in parts.all_workers("catalog"):
                processes.kill9(pid)
    finally:
        done.set()
        reading.join()
    parts.all_workers("catalog")
    assert until(lambda: titles(hosts, concert), 10) == ["First"] * 2
    l1 = 'sluice_catalog_reads_total{from="l1"}'
    before = counters(hosts[0])[l1]
    fastcgi.together([(hosts[0], f"/v1/concerts/{concert}")] * 40)
    assert counters(hosts[0])[l1] - before >= 20, "the memory is still of use"


def test_a_show_without_seats_is_read_like_any_other(parts, api, hosts):
    """Its plan is there and empty: nobody waits for another text, and one host's query serves the other."""
    _, name = make_show(api, seats=0)
    in_vain = "sluice_catalog_waits_in_vain_total"
    before = [counters(socket)[in_vain] for socket in hosts]
    with counted(parts) as asked:
        for socket in hosts * 2:
            answer = fastcgi.get(socket, f"/v1/shows/{name}/seats")
            assert (answer.status, answer["holdsKnown"], answer["seats"]) == (200, True, [])
        assert asked("catalog_seat_plan") == 1
    assert [counters(socket)[in_vain] for socket in hosts] == before


def test_every_pool_shows_the_counters_of_the_host(parts, api, hosts, show):
    concert, _ = show
    before = counters(hosts[0])
    for _ in range(5):
        titles(hosts, concert)
    name = 'sluice_catalog_reads_total{from="l1"}'
    after = counters(hosts[0])
    assert after[name] - before[name] >= 4
    text = api.call("GET", "/metrics")
    assert text.status == 200 and text.headers["content-type"].startswith("text/plain; version=0.0.4")
    body = text.body if isinstance(text.body, str) else text.body.decode()
    assert f"{name} " in body and body.count("# HELP sluice_catalog_reads_total ") == 1
