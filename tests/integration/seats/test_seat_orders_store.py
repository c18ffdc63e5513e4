"""Orders of seats in PostgreSQL, which has the last word: what transactions do to each other, whatever Redis believes."""

import itertools
import random
import secrets
import threading

import psycopg2
import pytest
from psycopg2 import errorcodes

from lib.api import some_name
from lib.project import ROOT
from lib.wait import until

_orders = itertools.count(1)
_file = secrets.token_hex(5)  # in the ids: another file may have made orders by counting too
PLACE = "SELECT * FROM place_order(%s, 1, 1, %s, %s, %s, 'hash', %s, %s, %s, %s, '{}', '{}', 900, true, %s, %s)"
PLACE_AS_BEFORE = "SELECT * FROM place_order(%s, 1, 1, %s, %s, %s, 'hash', 'f', %s, %s, %s, %s, %s, 900, true)"


class Session:
    """A connection of its own, as a worker has one."""

    def __init__(self, parts):
        self.connection = psycopg2.connect(parts.postgres.conninfo)
        self.connection.autocommit = True
        self.run("SET lock_timeout = '5s'")
        self.run("SET statement_timeout = '20s'")

    def run(self, sql, *values):
        with self.connection.cursor() as cursor:
            cursor.execute(sql, values)
            if not cursor.description:
                return []
            names = [column.name for column in cursor.description]
            return [dict(zip(names, row)) for row in cursor.fetchall()]

    def begin(self):
        self.run("BEGIN")

    def commit(self):
        self.run("COMMIT")

    def place(self, queue, show, seats, member="ann", key=None, fingerprint=None):
        """What order_place.c does."""
        number = next(_orders)
        return self.run(PLACE, queue, number, member, key or f"key-{number}", fingerprint or " ".join(seats),
                        f"claim-{queue}-{number}", f"admission-{queue}-{number}", f"o_{_file}{number:012d}", show, list(seats))[0]

    def refused(self, sqlstate, call):
        """Asserts that the call is refused so; returns the DETAIL."""
        with pytest.raises(psycopg2.Error) as caught:
            call()
        assert caught.value.pgcode == sqlstate, caught.value
        if self.connection.info.transaction_status != psycopg2.extensions.TRANSACTION_STATUS_IDLE:
            self.run("ROLLBACK")
        return caught.value.diag.message_detail


class Later:
    """A call in a thread, which waits for somebody's lock."""

    def __init__(self, call):
        self.error = self.value = None
        self.thread = threading.Thread(target=self._run, args=(call,))
        self.thread.start()

    def _run(self, call):
        try:
            self.value = call()
        except psycopg2.Error as error:
            self.error = error

    def waits(self, session):
        """Until the session stands behind a lock."""
        pid = session.connection.info.backend_pid
        watcher = psycopg2.connect(session.connection.dsn)
        watcher.autocommit = True
        try:
            with watcher.cursor() as cursor:
                def blocked():
                    cursor.execute("SELECT cardinality(pg_blocking_pids(%s)) > 0", (pid,))
                    return cursor.fetchone()[0]
                until(blocked, 10, "the session waits")
        finally:
            watcher.close()
        return self

    def join(self):
        self.thread.join(20)
        assert not self.thread.is_alive()
        if self.error:
            raise self.error
        return self.value


@pytest.fixture
def sessions(parts):
    """A function that makes connections."""
    made = []

    def make():
        made.append(Session(parts))
        return made[-1]
    yield make
    for session in made:
        session.connection.close()


@pytest.fixture
def sold(api):
    """A function that makes a show with seats; returns queue and show."""
    def make(seats, **fields):
        queue = api.queue()
        return queue, api.show(queue, seats, **fields)
    return make


def state_of(session, show):
    return {row["id"]: (row["state"], row["change"], row["member"]) for row in
            session.run("SELECT * FROM seat_state WHERE show = %s", show)}


def put(session, show, **changes):
    """PUT as put_show.c does it, of a show with these seats and prices."""
    now = session.run("SELECT * FROM show WHERE id = %s", show)[0]
    seats = changes.get("seats", {row["id"]: row["price_amount"] for row in session.run(
        "SELECT * FROM seat WHERE show = %s ORDER BY position", show)})
    labels = session.run("SELECT id, section FROM seat WHERE show = %s", show)
    section = {row["id"]: row["section"] for row in labels}
    blank = [""] * len(seats)
    return session.run(
        "SELECT * FROM put_show(%s, %s, %s, %s, %s, 300, %s, %s, %s, %s, %s, %s, 'op', 'r')", show, now["concert"],
        int(now["starts_at"].timestamp() * 1000), changes.get("queue", now["queue"]), now["max_seats_per_member"],
        changes.get("currency", now["currency"]), list(seats), [section.get(seat, "") for seat in seats], blank, blank,
        list(seats.values()))[0]


def test_an_order_and_its_end(sessions, sold):
    queue, show = sold(["A-1", "A-2", "A-3"])
    ann = sessions()
    order = ann.place(queue, show, ["A-3", "A-1"])
    assert (order["status"], order["total_amount"], order["replayed"], order["show"]) == ("PENDING_PAYMENT", 2000, False, show)
    assert order["seats"] == "A-1\t1000\t1\tA\t\t\nA-3\t1000\t1\tA\t\t"
    assert state_of(ann, show) == {"A-1": ("O", 1, "ann"), "A-2": ("F", 0, None), "A-3": ("O", 1, "ann")}
    ann.run("UPDATE customer_order SET status = 'PAID', place_held = false WHERE id = %s", order["id"])
    assert state_of(ann, show)["A-1"] == ("S", 2, "ann"), "whoever marks it as paid numbers the change"
    other = ann.place(queue, show, ["A-2"], member="ben")
    ann.run("SELECT * FROM cancel_order('ben', %s)", other["id"])
    ann.run("SELECT * FROM cancel_order('ben', %s)", other["id"])
    assert state_of(ann, show)["A-2"] == ("F", 2, None), "given back once"
    last = ann.place(queue, show, ["A-2"], member="cat")
    ann.run("UPDATE customer_order SET expires_at = now() WHERE id = %s", last["id"])
    ann.run("SELECT * FROM expire_orders(100)")
    assert state_of(ann, show)["A-2"] == ("F", 4, None)
    kinds = [(row["kind"], row["order_id"]) for row in ann.run(
        "SELECT kind, order_id FROM outbox WHERE queue = %s AND kind = 'seats' ORDER BY id", queue)]
    assert kinds == [("seats", each["id"]) for each in (order, order, other, other, last, last)]


def test_refusals_write_nothing(sessions, sold):
    queue, show = sold(["A-1", "A-2", "A-3", "A-4", "A-5"], maxSeatsPerMember=3)
    elsewhere, _ = sold(["A-1"])
    ann = sessions()
    ann.place(queue, show, ["A-2", "A-3"])
    before = ann.run("SELECT count(*) FROM claim_outcome")
    assert ann.refused("SL017", lambda: ann.place(queue, show, ["A-1", "A-3", "A-2"], "ben")) == "A-2 A-3"
    assert ann.refused("SL018", lambda: ann.place(queue, show, ["A-1", "Z-9", "B-1"], "ben")) == "B-1 Z-9"
    assert not ann.refused("SL018", lambda: ann.place(elsewhere, show, ["A-1"], "ben"))
    assert not ann.refused("SL018", lambda: ann.place(queue, "never-made", ["A-1"], "ben"))
    assert ann.refused("SL019", lambda: ann.place(queue, show, ["A-1", "A-4"])) == "2/3"
    assert ann.run("SELECT count(*) FROM claim_outcome") == before
    assert {seat: state for seat, (state, _, _) in state_of(ann, show).items()} == {
        "A-1": "F", "A-2": "O", "A-3": "O", "A-4": "F", "A-5": "F"}
    assert ann.place(queue, show, ["A-1"])["status"] == "PENDING_PAYMENT"


def test_the_same_key_finds_its_order_whatever_has_become_of_the_show(sessions, sold):
    queue, show = sold(["A-1", "A-2"])
    first, second = sessions(), sessions()
    first.begin()
    order = first.place(queue, show, ["A-1"], key="once")
    twin = Later(lambda: second.place(queue, show, ["A-1"], key="once")).waits(second)
    first.commit()
    assert twin.join()["replayed"] and twin.value["id"] == order["id"]
    assert twin.value["seats"] == order["seats"]
    second.refused("SL002", lambda: second.place(queue, show, ["A-2"], key="once"))
    assert second.place(queue, "gone-by-now", ["A-1"], key="once", fingerprint="A-1")["id"] == order["id"]
    assert state_of(first, show) == {"A-1": ("O", 1, "ann"), "A-2": ("F", 0, None)}


def test_one_seat_and_two_orders_at_the_same_moment(sessions, sold):
    queue, show = sold(["A-1", "A-2"])
    first, second = sessions(), sessions()
    first.begin()
    first.place(queue, show, ["A-1"])
    loser = Later(lambda: second.place(queue, show, ["A-2", "A-1"], "ben")).waits(second)
    first.commit()
    assert second.refused("SL017", loser.join) == "A-1"
    first.begin()
    first.place(queue, show, ["A-2"], "cat")
    winner = Later(lambda: second.place(queue, show, ["A-2"], "ben")).waits(second)
    first.run("ROLLBACK")
    assert winner.join()["status"] == "PENDING_PAYMENT", "what was rolled back is free"


def test_a_member_s_two_orders_see_each_other(sessions, sold):
    queue, show = sold(["A-1", "A-2", "A-3", "A-4", "A-5"], maxSeatsPerMember=4)
    first, second = sessions(), sessions()
    first.begin()
    first.place(queue, show, ["A-1", "A-2", "A-3"])
    other = Later(lambda: second.place(queue, show, ["A-4", "A-5"])).waits(second)
    first.commit()
    assert second.refused("SL019", other.join) == "3/4"


def test_the_index_has_the_last_word(sessions, sold):
    """Even where a seat's own row were wrong."""
    queue, show = sold(["A-1"])
    ann = sessions()
    ann.place(queue, show, ["A-1"])
    ann.run("UPDATE seat SET taken = false WHERE show = %s", show)
    assert ann.refused("SL017", lambda: ann.place(queue, show, ["A-1"], "ben")) == "A-1"


def test_two_who_take_the_last_ones_both_look_afterwards(sessions, sold):
    queue, show = sold([f"A-{n}" for n in range(1, 102)], maxSeatsPerMember=100)
    first, second = sessions(), sessions()
    many = first.place(queue, show, [f"A-{n}" for n in range(1, 31)])
    assert not many["took_last"], "71 are left"
    assert first.place(queue, show, [f"A-{n}" for n in range(31, 100)])["took_last"], "2 are left"
    first.begin()
    second.begin()
    assert first.place(queue, show, ["A-100"], "ben")["took_last"]
    assert second.place(queue, show, ["A-101"], "cat")["took_last"], "sees the other's as left, and will look"
    assert first.run("SELECT * FROM availability(%s, false)", queue)[0]["sold_out"] is False
    first.commit()
    second.commit()
    assert second.run("SELECT * FROM availability(%s, false)", queue)[0]["sold_out"] is True
    back = first.run("SELECT * FROM cancel_order('ann', %s)", many["id"])[0]
    assert back["came_back"], "somebody has to look again"
    assert first.run("SELECT * FROM availability(%s, false)", queue)[0]["sold_out"] is False


@pytest.mark.limit(90)
def test_overlapping_groups_never_wait_in_a_circle(sessions, sold):
    """Twelve connections order, cancel, pay and change the plan: no deadlock, no seat with two owners."""
    seats = [f"A-{n}" for n in range(16)]
    queue, show = sold(seats, maxSeatsPerMember=100)
    failures = []

    def shop(session, member):
        luck = random.Random(member)
        for _ in range(40):
            if failures:
                return
            try:
                order = session.place(queue, show, luck.sample(seats, 4), member)
                if luck.random() < 0.8:
                    session.run("SELECT * FROM cancel_order(%s, %s)", member, order["id"])
                else:
                    session.run("UPDATE customer_order SET expires_at = now() WHERE id = %s AND status = 'PENDING_PAYMENT'",
                                order["id"])
                    session.run("SELECT * FROM expire_orders(3)")
            except psycopg2.Error as error:
                if error.pgcode not in ("SL017", errorcodes.SERIALIZATION_FAILURE):
                    failures.append((error.pgcode, str(error)))

    def plan(session):
        luck = random.Random(7)
        for _ in range(40):
            try:
                put(session, show, seats={seat: 1000 for seat in luck.sample(seats, len(seats))})
            except psycopg2.Error as error:
                failures.append((error.pgcode, str(error)))

    threads = [threading.Thread(target=shop, args=(sessions(), f"m{n}")) for n in range(11)]
    threads.append(threading.Thread(target=plan, args=(sessions(),)))
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(80)
        assert not thread.is_alive()
    assert not failures, failures[:3]
    check = sessions()
    assert check.run("""SELECT count(*) AS wrong FROM seat s WHERE s.show = %s AND s.taken <> EXISTS (
                        SELECT FROM order_seat i WHERE i.show = s.show AND i.seat = s.id AND i.live)""", show)[0]["wrong"] == 0
    assert check.run("""SELECT count(*) AS wrong FROM order_seat i JOIN customer_order o ON o.id = i.order_id
                        WHERE i.show = %s AND i.live <> (o.status = 'PENDING_PAYMENT')""", show)[0]["wrong"] == 0


def test_a_plan_that_changes_under_an_order(sessions, sold):
    queue, show = sold(["A-1", "A-2", "A-3"])
    shopper, operator = sessions(), sessions()
    shopper.begin()
    shopper.place(queue, show, ["A-1"])
    change = Later(lambda: put(operator, show, seats={"A-1": 900, "A-2": 1000, "A-3": 1000})).waits(operator)
    hasty = sessions()
    hasty.run("SET lock_timeout = '200ms'")
    assert hasty.run("SELECT outcome FROM queue_act(%s, 'pause', 'op', 'r')", queue) == [{"outcome": "changed"}], (
        "a plan under way keeps nobody from pausing the queue")
    shopper.commit()
    assert operator.refused("SL031", change.join) == "A-1", "the order was faster"
    operator.begin()
    put(operator, show, seats={"A-1": 1000, "A-2": 2000})
    dearer = Later(lambda: shopper.place(queue, show, ["A-2"], "ben")).waits(shopper)
    operator.commit()
    shopper.refused(errorcodes.SERIALIZATION_FAILURE, dearer.join)
    assert shopper.place(queue, show, ["A-2"], "ben")["total_amount"] == 2000, "tried anew, at the new price"
    assert shopper.refused("SL018", lambda: shopper.place(queue, show, ["A-3"], "ben")) == "A-3"


def test_queue_and_currency_change_behind_all_orders(sessions, sold, api):
    queue, show = sold(["A-1", "A-2"])
    other = api.queue()
    shopper, operator = sessions(), sessions()
    for change, sqlstate in (({"currency": "USD"}, "SL031"), ({"queue": other}, "SL012")):
        shopper.begin()
        order = shopper.place(queue, show, ["A-1"])
        waiting = Later(lambda change=change: put(operator, show, **change)).waits(operator)
        shopper.commit()
        operator.refused(sqlstate, waiting.join)
        shopper.run("SELECT * FROM cancel_order('ann', %s)", order["id"])
    operator.begin()
    put(operator, show, queue=other)
    late = Later(lambda: shopper.place(queue, show, ["A-1"])).waits(shopper)
    operator.commit()
    assert not shopper.refused("SL018", late.join)
    assert shopper.place(other, show, ["A-1"])["status"] == "PENDING_PAYMENT"


def test_the_release_before_still_orders(sessions, api):
    queue = api.queue()
    sku = api.product(queue, stock=3)
    number = next(_orders)
    row = sessions().run(PLACE_AS_BEFORE, queue, number, "ann", some_name("key"), f"claim-{queue}", f"admission-{queue}",
                         f"o_{_file}{number:012d}", [sku], [2])[0]
    assert (row["items"], row["total_amount"], row["show"], row["took_last"]) == (f"{sku}:2:1000", 2000, None, False)


def test_an_order_looks_at_its_own_seats_only_whatever_the_planner_believes(sessions, sold, parts, api):
    """Right after a large plan was put nothing is known of its size: nobody must read the whole of it for a few seats."""
    sold(["A-1"])
    parts.postgres.superuser("ANALYZE seat, order_seat")
    queue = api.queue()
    show = api.show(queue, plan={"sections": [
        {"name": "A", "rows": 50, "seatsPerRow": 100, "price": {"amount": 1000, "currency": "KRW"}}]}, maxSeatsPerMember=100)
    session = sessions()

    def read(call):
        """How many rows of seats a call fetches, and what it answers."""
        count = "SELECT idx_tup_fetch + seq_tup_read AS n FROM pg_stat_xact_user_tables WHERE relname = 'seat'"
        session.begin()
        before = session.run(count)[0]["n"]
        answer = call()
        after = session.run(count)[0]["n"]
        session.commit()
        return after - before, answer

    def named(seats):
        query = (ROOT / "sql/queries/seats/seats_named.sql").read_text()
        session.run("PREPARE named AS " + query.replace("%", "%%"))
        found = session.run("EXECUTE named (%s, %s)", show, seats)
        session.run("DEALLOCATE named")
        return found

    seats = [f"A-{row}-{n}" for row in range(1, 6) for n in range(1, 11)]
    for part in (seats[:25], seats[25:]):
        rows, order = read(lambda part=part: session.place(queue, show, part))
        assert rows < 25 * 12 + 200, rows
    rows, found = read(lambda: named(seats))
    assert len(found) == 50 and {row["state"] for row in found} == {"O"} and rows < 50 * 4, rows
    rows, _ = read(lambda: session.run(
        "UPDATE customer_order SET status = 'PAID', place_held = false, expires_at = NULL WHERE id = %s", order["id"]))
    assert rows < 25 * 6, rows
    rows, _ = read(lambda: session.run("SELECT give_stock_back(%s)", [order["id"]]))
    assert rows < 25 * 12 + 200, rows
