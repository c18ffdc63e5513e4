"""The promises, counted after a run: what clients have seen against PostgreSQL, Redis and the payment provider's ledger."""

from collections import Counter
from dataclasses import dataclass

from chaos.watch import excess
from lib.seats import assert_orders_whole, owners, taken_in_redis

PICKUP_MARGIN_S = 1.0


@dataclass
class Admission:
    member: str
    number: int
    token: str
    after: float      # it was let in after this
    before: float     # and before this
    until: float      # it surely had its place up to this


def admissions(records):
    """Every entry token that anybody has seen."""
    found = []
    for record in records:
        last_out, current = None, None
        # Who comes again may be told of the place of before, as a turn of its own: the number was given when it was given first.
        begins = {turn.number: turn.sent for turn in reversed(record.turns)}
        for seen in record.seen:
            if seen.status != "READY":
                last_out, current = seen.sent, None
            elif current is not None and current.token == seen.token:
                current.until = max(current.until, seen.sent)
            else:
                begin = begins.get(seen.number, seen.sent)
                current = Admission(record.name, seen.number, seen.token, max(last_out or begin, begin), seen.received, seen.received)
                found.append(current)
                last_out = seen.sent
    return found


def check_numbers(records, say):
    owner = {}
    for record in records:
        for turn in record.turns:
            if owner.setdefault(turn.number, record.name) != record.name:
                say("NUMBER_TWICE", turn.number, owner[turn.number], record.name)


def check_rate(found, rate, burst, say):
    """By what clients have seen: those who were surely let in within a stretch of time."""
    for first in found:
        inside = sorted(one.before for one in found if one.after >= first.after)
        for count, end in enumerate(inside, 1):
            if count > burst + rate * (end - first.after) + 1:
                say("RATE", count, "were let in within", f"{end - first.after:.3f} s")
                return


def check_room(found, most, say):
    """By what clients have seen: those who surely had a token at the same moment."""
    steps = sorted([(one.before, 1) for one in found if one.until > one.before] +
                   [(one.until, -1) for one in found if one.until > one.before])
    taken = 0
    for _, step in steps:
        taken += step
        if taken > most:
            say("ROOM", taken, "had a token at once, places:", most)
            return


def _stretches(record, losses, pickup_s):
    """(number, from, to): the member surely stood in line all the time, without having been let in and set aside."""
    for turn in record.turns:
        begin, last = turn.received, turn.received
        for seen in record.seen:
            if seen.number != turn.number or seen.received < turn.received:
                continue
            broken = any(last - 1 <= loss <= seen.received + 1 for loss in losses)
            if seen.status != "WAITING" or broken or seen.received - last > pickup_s - PICKUP_MARGIN_S:
                if last > begin:
                    yield turn.number, begin, last
                begin = last = seen.received if seen.status == "WAITING" else float("inf")
                continue
            last = max(last, seen.sent)
        if begin < last < float("inf"):
            yield turn.number, begin, last


def check_order(records, found, losses, pickup_s, say):
    """Nobody was let in while somebody with a smaller number stood in line before and went on standing there."""
    for record in records:
        for number, begin, end in _stretches(record, losses, pickup_s):
            for one in found:
                if one.number > number and begin <= one.after and one.before <= end:
                    say("OVERTAKEN", record.name, number, "stood in line while", one.member, one.number, "was let in")
                    return


def check_backwards(records, losses, withdrawn, say):
    """No rank grows, and nobody who has seen a token is put back, unless Redis has lost its memory: then people come back to
    their numbers in any order, and each who stands in front makes the ranks behind grow (pages do not show that)."""
    for record in records:
        last = None
        for seen in record.seen:
            if last and last.number == seen.number and not any(last.sent - 1 <= loss <= seen.received for loss in losses):
                if last.status == "READY" and seen.status == "WAITING":
                    say("PUT_BACK", record.name, seen.number)
                elif last.status == seen.status == "WAITING" and seen.rank > last.rank and not (
                        withdrawn or any(loss <= seen.received for loss in losses)):
                    say("RANK_GROWS", record.name, last.rank, "→", seen.rank)
            last = seen


def check_clients(journal, plan, losses, withdrawn, say):
    records, settings = list(journal.records.values()), plan.settings
    found = admissions(records)
    check_numbers(records, say)
    check_rate(found, settings["ratePerSecond"], settings["burst"], say)
    check_room(found, settings["maxActive"], say)
    check_order(records, found, losses, settings["pickupSeconds"], say)
    check_backwards(records, losses, withdrawn, say)
    for record in records:
        if not record.over or record.stage.startswith("gave up"):
            say("STUCK", record.name, record.stage, "number", record.number)
    return found


def check_watch(looks, settings, say):
    over, first, last = excess(looks, settings["ratePerSecond"], settings["burst"])
    if over > 0:
        say("RATE", f"{over:.1f} more than the bucket allows", first, last)
    for look in looks:
        if look.places + look.unpaid > settings["maxActive"]:
            say("ROOM", look)
            return
        if look.in_flight > settings["maxInFlight"]:
            say("IN_FLIGHT", look)
            return


# What the stores say

def check_orders(parts, queue, journal, say):
    rows = parts.postgres.query("SELECT id, member, idempotency_key, admission_id FROM customer_order WHERE queue = %s", queue)
    uses = parts.postgres.query("SELECT admission_id, epoch, seq, kind, ref FROM admission_use WHERE queue = %s", queue)
    for word, counted in (("ORDERS_ONE_TOKEN", Counter(row[3] for row in rows)),
                          ("ORDERS_ONE_KEY", Counter(row[1:3] for row in rows)),
                          ("NUMBER_SPENT_TWICE", Counter(row[1:3] for row in uses))):
        for what, count in counted.items():
            if count > 1:
                say(word, what, count)
    orders = {row[0]: row[1] for row in rows}
    coupons = Counter(row[0] for row in parts.postgres.query(
        "SELECT c.member FROM coupon c JOIN coupon_event e ON e.id = c.event WHERE e.queue = %s AND c.member IS NOT NULL", queue))
    spent = Counter(orders.values()) + coupons
    for name, record in journal.records.items():
        for order in record.orders:
            if orders.get(order) != name:
                say("ORDER_LOST", name, order)
        if spent[name] > max(1, len({turn.number for turn in record.turns})):
            say("MORE_THAN_ONE", name, spent[name], "things for", len(record.turns), "turns")
        if coupons[name] > 1:
            say("COUPONS", name, coupons[name])
    if len(uses) != len(rows) + sum(coupons.values()):
        say("USES", len(uses), "admissions for", len(rows), "orders and", sum(coupons.values()), "coupons")
    claims = parts.postgres.value(
        "SELECT count(*) FROM customer_order o WHERE queue = %s AND NOT EXISTS (SELECT FROM claim_outcome c WHERE c.claim_id = "
        "o.claim_id AND c.outcome = 'committed' AND c.order_id = o.id)", queue)
    if claims:
        say("CLAIMS", claims, "orders without their claim")
    return len(rows)


def check_goods(parts, shop, journal, say):
    for sku, available, stock, sold in parts.postgres.query("""
            SELECT p.sku, p.available, p.stock, (SELECT COALESCE(sum(i.quantity), 0) FROM order_item i JOIN customer_order o
                ON o.id = i.order_id WHERE i.sku = p.sku AND o.stock_returned_at IS NULL)
              FROM product p WHERE p.queue = %s""", shop.queue):
        if available + sold != stock or available < 0:
            say("STOCK", sku, available, "left and", sold, "sold of", stock)
    try:
        assert_orders_whole(parts, shop.show)
        truth = owners(parts, shop.show)
        redis = taken_in_redis(parts, shop.queue, shop.show)
        if truth != redis:
            say("SEATS", "Redis and PostgreSQL differ:", {k: (truth.get(k), redis.get(k)) for k in {*truth, *redis}
                                                         if truth.get(k) != redis.get(k)})
    except AssertionError as error:
        say("SEATS", error)
    issued = parts.postgres.query("SELECT member, code FROM coupon WHERE event = %s AND member IS NOT NULL", shop.event)
    codes = dict(issued)
    for name, record in journal.records.items():
        if record.coupon is not None and codes.get(name) != record.coupon:
            say("COUPON_LOST", name)
    return len(issued)


def check_money(parts, queue, journal, say):
    rows = parts.postgres.query("""
        SELECT p.id, p.state, p.amount, o.id, o.status, o.total_amount FROM payment p JOIN customer_order o ON o.id = p.order_id
         WHERE o.queue = %s""", queue)
    ledger = {row["order_id"]: row for row in parts.simulator.ledger()["payments"]}
    kept_for = Counter()
    for payment, state, amount, order, _, _ in rows:
        there = ledger.get(payment, {"taken": 0, "given_back": 0})
        taken, back = there["taken"], there["given_back"]
        expected = {"PAID": (amount, 0), "CANCELED": (amount, amount)}.get(state, (0, 0))
        if (taken, back) != expected:
            say("MONEY", payment, state, "taken", taken, "given back", back)
        kept_for[order] += taken - back
    for order, status, total in parts.postgres.query(
            "SELECT id, status, total_amount FROM customer_order WHERE queue = %s", queue):
        if kept_for[order] != (total if status == "PAID" else 0):
            say("MONEY", order, status, "kept", kept_for[order], "of", total)
    paid = {row[3] for row in rows if row[1] in ("PAID", "CANCELED", "CANCEL_REQUESTED")}
    for record in journal.records.values():
        for word, order in record.results:
            if word == "paid" and order not in paid:
                say("WRONG_RESULT", record.name, word, order)
    return len(rows)


def check_redis(parts, queue, say):
    def key(name):
        return f"sluice:{{{queue}}}:{name}"
    redis = parts.redis
    places = set(redis.hkeys(key("places")))
    ready, claimed = (set(redis.zrange(key(name), 0, -1)) for name in ("ready", "claimed"))
    if places != ready | claimed or ready & claimed:
        say("SETS", "places", len(places), "ready", len(ready), "claimed", len(claimed))
    if claimed:
        say("STUCK", len(claimed), "tokens still CLAIMED")
    waiting, away = (dict(redis.zrange(key(name), 0, -1, withscores=True)) for name in ("waiting", "away"))
    numbers = [int(score) // 4096 for score in [*waiting.values(), *away.values()]]
    numbers += [int(record.split("/")[0]) for record in redis.hvals(key("places"))]
    if len(numbers) != len(set(numbers)):
        say("NUMBER_TWICE", "in Redis")
    both = (waiting.keys() & away.keys()) | (places & (waiting.keys() | away.keys()))
    if both:
        say("SETS", both, "stand in two sets")
    unpaid = {order for orders in redis.hvals(key("unpaid")) for order in orders.split()}
    held = {row[0] for row in parts.postgres.query("SELECT id FROM customer_order WHERE queue = %s AND place_held", queue)}
    if unpaid != held:
        say("UNPAID", "Redis", sorted(unpaid - held), "PostgreSQL", sorted(held - unpaid))
