"""Who has which seat, by PostgreSQL's and by Redis's word; and holds whose time a test moves on."""

from lib.show import CELL, read_holds


def key(queue, show, name):
    return f"sluice:{{{queue}}}:show:{show}:{name}"


def owners(parts, show):
    """Seat → member, of orders that live."""
    rows = parts.postgres.query("SELECT seat, member FROM order_seat WHERE show = %s AND live", show)
    seats = [seat for seat, _ in rows]
    assert len(seats) == len(set(seats)), "a seat has one owner"
    return dict(rows)


def assert_orders_whole(parts, show):
    """Every order that lives has all of its seats, and the rows of seats say the same."""
    assert parts.postgres.value("""
        SELECT count(*) FROM customer_order o WHERE o.show = %s AND o.status IN ('PENDING_PAYMENT', 'PAID')
           AND NOT EXISTS (SELECT FROM order_seat s WHERE s.order_id = o.id AND s.live)""", show) == 0
    assert parts.postgres.value("""
        SELECT count(*) FROM order_seat s JOIN customer_order o ON o.id = s.order_id
         WHERE s.show = %s AND s.live <> (o.status IN ('PENDING_PAYMENT', 'PAID', 'CANCEL_REQUESTED'))""", show) == 0
    assert parts.postgres.value("""
        SELECT count(*) FROM seat s WHERE s.show = %s AND s.taken <> EXISTS (
            SELECT FROM order_seat l WHERE l.show = s.show AND l.seat = s.id AND l.live)""", show) == 0


def taken_in_redis(parts, queue, show):
    """Seat → member of what Redis believes to be ordered."""
    found = {}
    for seat, record in parts.redis.hgetall(key(queue, show, "taken")).items():
        _, state, member, _ = record.split("/")
        if state != "F":
            found[seat] = member
    return found


def holds(parts, queue, show, member):
    return read_holds(parts.redis.hget(key(queue, show, "mine"), member) or "")


def move_deadlines(parts, queue, show, member, ends_in_ms=None, guard_in_ms=None):
    """The holds of a member end (or their guards do) so many ms from now: nobody has to wait for it."""
    seconds, micros = parts.redis.time()
    now = seconds * 1000 + micros // 1000
    texts = []
    for hold in holds(parts, queue, show, member):
        deadline = hold.deadline if ends_in_ms is None else now + ends_in_ms
        guard = hold.guard if guard_in_ms is None else now + guard_in_ms
        texts.append(f"{hold.seat}/{deadline}/{guard}/{hold.claim}/{hold.admission}")
        end = max(deadline, guard)
        parts.redis.zadd(key(queue, show, "held"), {hold.seat: end})
        position = int(parts.redis.hget(key(queue, show, "plan"), hold.seat))
        parts.redis.setrange(key(queue, show, "board"), position * CELL, b"H" + end.to_bytes(6, "big"))
    parts.redis.hset(key(queue, show, "mine"), member, " ".join(texts))
