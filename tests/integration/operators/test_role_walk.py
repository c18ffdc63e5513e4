"""Every route, asked by everybody: nobody sees or does what is not theirs.

The table says what each role gets at each route about things of one member: their place, entry token, order, seats, coupon
and payment. Others come with their own login and with what they could have got hold of, the member's entry token. Whoever
is refused has seen nothing of the member's and changed nothing. A route that is not in the table fails.
"""

import json
import re
import types

import pytest

from lib.api import Member, some_name
from lib.client import assert_problem, new_key
from lib.gate import Visitor
from lib.project import ROOT

# The owner is the last one: the others must leave everything as it was.
ROLES = ("none", "other", "visitor", "viewer", "operator", "member")

# Method, path, what the member has beforehand, the status for each of ROLES (one: the same for everybody).
TABLE = """
POST   /v1/queues/{queue}/entries                       place   401 201 401 401 401 200
GET    /v1/queues/{queue}/position                      place   401 200 401 401 401 200
DELETE /v1/queues/{queue}/entries                       place   401 204 401 401 401 204
GET    /v1/queues/{queue}                               place   200
GET    /v1/queues/{queue}/challenge                     place   200 200 200 401 401 200
GET    /v1/queues/{queue}/result                        place   200
GET    /v1/queues/{queue}/challenge                     place   200 200 200 401 401 200
GET    /v1/queues/{queue}/lottery                       place   404

GET    /_sluice/check                                   none    404
GET    /_sluice/room                                    none    404
GET    /_sluice/return                                  none    404
POST   /_sluice/continue/{queue}                        place   303
GET    /_sluice/language/{lang}                         none    303

POST   /v1/orders                                       token   401 401 401 401 401 201
GET    /v1/orders                                       order   401 200 200 401 401 200
GET    /v1/orders/{id}                                  order   401 404 404 401 401 200
POST   /v1/orders/{id}/payment                          order   401 404 404 401 401 201
GET    /v1/orders/{id}/payment/approve                  payment 403
GET    /v1/orders/{id}/payment/cancel                   payment 403
GET    /v1/orders/{id}/payment/fail                     payment 403
POST   /v1/orders/{id}/cancel                           order   401 404 404 401 401 200
POST   /v1/payments/webhooks/{provider}                 payment 404

POST   /v1/shows/{show}/holds                           token   401 401 401 401 401 201
DELETE /v1/shows/{show}/holds                           hold    401 204 204 401 401 204
GET    /v1/shows/{show}/holds/mine                      hold    401 200 200 401 401 200

GET    /v1/captcha/challenge                            none    401 200 200 401 401 200
GET    /v1/coupon-events/{event}                        coupon  200
GET    /v1/coupon-events/{event}/result                 coupon  200
POST   /v1/coupon-events/{event}/coupons                token   401 401 401 401 401 201
GET    /v1/coupon-events/{event}/coupons/mine           coupon  401 404 404 401 401 200

GET    /v1/concerts                                     none    200
GET    /v1/concerts/{concert}                           none    200
GET    /v1/shows/{show}                                 none    200
GET    /v1/shows/{show}/seats                           hold    200

GET    /livez                                           none    200
GET    /healthz                                         none    200
GET    /readyz                                          none    200
GET    /metrics                                         none    200

GET    /v1/admin/queues                                 none    401 401 401 200 200 401
PUT    /v1/admin/queues/{queue}                         place   401 401 401 403 200 401
PATCH  /v1/admin/queues/{queue}                         place   401 401 401 403 200 401
GET    /v1/admin/queues/{queue}                         place   401 401 401 200 200 401
DELETE /v1/admin/queues/{queue}                         place   401 401 401 403 409 401
POST   /v1/admin/queues/{queue}/actions/{action}        place   401 401 401 403 200 401
GET    /v1/admin/queues/{queue}/stats                   place   401 401 401 200 200 401
GET    /v1/admin/queues/{queue}/autopilot               place   401 401 401 200 200 401
GET    /v1/admin/queues/{queue}/history                 place   401 401 401 200 200 401
GET    /v1/admin/queues/{queue}/goods                   place   401 401 401 200 200 401
GET    /v1/admin/queues/{queue}/members/{member}        token   401 401 401 200 200 401
POST   /v1/admin/queues/{queue}/members/{member}/promote token  401 401 401 403 200 401
POST   /v1/admin/queues/{queue}/members/{member}/evict  token   401 401 401 403 200 401
POST   /v1/admin/queues/{queue}/returns                 place   401 401 401 403 400 401
POST   /v1/admin/queues/{queue}/codes                   none    401 401 401 403 201 401
GET    /v1/admin/queues/{queue}/codes                   none    401 401 401 200 200 401
GET    /v1/admin/queues/{queue}/codes/uses              none    401 401 401 403 200 401
GET    /v1/admin/queues/{queue}/lottery/entrants        none    401 401 401 403 200 401
GET    /v1/admin/products                               none    401 401 401 200 200 401
PUT    /v1/admin/products/{sku}                         none    401 401 401 403 200 401
GET    /v1/admin/products/{sku}                         none    401 401 401 200 200 401
GET    /v1/admin/coupon-events                          none    401 401 401 200 200 401
PUT    /v1/admin/coupon-events/{event}                  none    401 401 401 403 200 401
GET    /v1/admin/coupon-events/{event}                  none    401 401 401 200 200 401
POST   /v1/admin/coupon-events/{event}/codes            none    401 401 401 403 201 401
GET    /v1/admin/coupon-events/{event}/coupons          coupon  401 401 401 403 200 401
GET    /v1/admin/concerts                               none    401 401 401 200 200 401
PUT    /v1/admin/concerts/{concert}                     none    401 401 401 403 200 401
GET    /v1/admin/concerts/{concert}                     none    401 401 401 200 200 401
GET    /v1/admin/shows                                  none    401 401 401 200 200 401
PUT    /v1/admin/shows/{show}                           none    401 401 401 403 200 401
GET    /v1/admin/shows/{show}                           none    401 401 401 200 200 401
GET    /v1/admin/payments                               payment 401 401 401 200 200 401
GET    /v1/admin/payments/{payment}                     payment 401 401 401 200 200 401
POST   /v1/admin/payments/{payment}/look                payment 401 401 401 403 202 401
GET    /v1/admin/overview                               none    401 401 401 200 200 401
POST   /v1/admin/gate/dry-run                           none    401 401 401 200 200 401
GET    /v1/admin/checklist                              none    401 401 401 200 200 401
GET    /v1/admin/audit                                  none    401 401 401 200 200 401
"""
ROWS = [line.split() for line in TABLE.splitlines() if line]
WALK = {(method, path): (has, statuses * (len(ROLES) if len(statuses) == 1 else 1))
        for method, path, has, *statuses in ROWS}
# Whoever has an operator's or a viewer's key may see whose things these are.
MAY_SEE = {"viewer", "operator", "member"}


def routes():
    text = (ROOT / "fcgi-app" / "routes.tbl").read_text()
    return set(re.findall(r'^(?:(?:LINE|TRANSACTION)_ROUTE\(|ROUTE\(\w+, )(\w+), "([^"]+)"', text, re.M))


@pytest.fixture(scope="module")
def world(all_paying):
    """One sale, and one caller of each role but the owner."""
    all_paying.settle()
    parts, api = all_paying, all_paying.api
    queue = api.queue(some_name("walk"))
    concert = api.concert()
    world = types.SimpleNamespace(
        parts=parts, api=api, queue=queue, still=api.still_queue(some_name("walk-still")), concert=concert, sku=api.product(queue, stock=1000),
        show=api.show(queue, [f"A-{number}" for number in range(len(WALK))], concert=concert),
        event=api.coupon_event(queue, len(WALK)), seats=iter(range(len(WALK))))
    visitor = Visitor(api.port, headers={})
    assert visitor.ask(f"/v1/queues/{api.queue(identity='visitor')}/entries", "POST").status == 201
    cookie = {"Cookie": f"sluice_visitor={visitor.cookies['sluice_visitor']}"}
    world.logins = {"none": {}, "visitor": cookie, "other": api.member().headers(),
                    "viewer": {"Authorization": f"Bearer {api.viewer_key}"}, "operator": api.operator_headers()}
    return world


@pytest.fixture(scope="module")
def visitor_world(world):
    """The same in a queue for visitors."""
    queue = world.api.queue(identity="visitor")
    return types.SimpleNamespace(**{
        **vars(world), "queue": queue, "sku": world.api.product(queue, stock=1000), "event": world.api.coupon_event(queue, len(WALK)),
        "show": world.api.show(queue, [f"A-{number}" for number in range(len(WALK))]), "seats": iter(range(len(WALK)))})


class Owner:
    """A member and what the walk needs them to have."""

    def __init__(self, world, has):
        self.world, self.api, self.has = world, world.api, has
        self.queue = world.still if has == "place" else world.queue
        self.seat = f"A-{next(world.seats)}"
        self.order, self.payment, self.secrets = "o_" + "A" * 22, "p_" + "A" * 22, []
        self.come(has)
        self.keys = [secret for secret in (self.member.jwt, self.member.ticket, self.member.token) if secret]
        self.secrets += [self.member.name, *self.keys]

    def come(self, has):
        self.member = self.api.member()
        if has != "none":
            assert self.member.enter(self.queue).status == 201
        if has not in ("none", "place"):
            self.member.wait_ready(self.queue)
            getattr(self, "get_" + has)()

    def get_token(self):
        assert self.member.token

    def get_order(self):
        answer = self.member.order(self.world.queue, [{"sku": self.world.sku, "quantity": 1}])
        assert answer.status == 201, answer.body
        self.order = answer["id"]
        self.secrets.append(self.order)

    def get_payment(self):
        self.get_order()
        answer = self.api.call("POST", f"/v1/orders/{self.order}/payment", self.member.headers())
        assert answer.status == 201, answer.body
        self.secrets.append(answer["redirectUrl"])
        self.payment = self.world.parts.postgres.value("SELECT id FROM payment WHERE order_id = %s", self.order)

    def get_hold(self):
        assert self.member.hold(self.world.show, self.seat).status == 201

    def get_coupon(self):
        answer = self.member.coupon(self.world.event)
        assert answer.status == 201, answer.body
        self.secrets.append(answer["code"])

    def state(self):
        """All that the stores know of this member."""
        if self.has == "none":
            return []
        postgres, redis, name = self.world.parts.postgres, self.world.parts.redis, self.member.name
        found = [postgres.query("SELECT * FROM customer_order WHERE member = %s", name),
                 postgres.query("SELECT id, order_id, state FROM payment WHERE order_id = %s", self.order),
                 postgres.query("SELECT code, member FROM coupon WHERE member = %s", name)]
        for key in sorted(redis.scan_iter(match=f"sluice:{{{self.queue}}}:*", count=1000)):
            read = {"hash": redis.hget, "zset": redis.zscore, "set": redis.sismember}.get(redis.type(key))
            value = read(key, name) if read else None
            if value:
                found.append((key, value))
        return found


class CookieMember(Member):
    """A visitor who calls the API by cookies."""

    def __init__(self, api, queue):
        visitor = Visitor(api.port, headers={})
        assert visitor.ask(f"/v1/queues/{queue}/entries", "POST").status == 201
        self.cookie = f"sluice_visitor={visitor.cookies['sluice_visitor']}"
        super().__init__(api, visitor.visitor_id())
        self.jwt = self.cookie

    def headers(self, **more):
        return {"Cookie": self.cookie, **{name.replace("_", "-"): value for name, value in more.items()}}


class VisitorOwner(Owner):
    """The same for a visitor."""

    def come(self, has):
        self.member = CookieMember(self.api, self.queue)
        self.member.wait_ready(self.queue)
        getattr(self, "get_" + has)()


def request_of(world, owner, method, path, login):
    """The call that the owner would make, with somebody's login."""
    names = {"queue": owner.queue, "lang": "en", "id": owner.order, "provider": "nobody", "show": world.show, "event": world.event,
             "concert": world.concert, "sku": world.sku, "member": owner.member.name, "payment": owner.payment, "action": "resume"}
    address = re.sub(r"\{(\w+)\}", lambda match: names[match.group(1)], path)
    address += {"/v1/captcha/challenge": f"?event={world.event}"}.get(path, "")
    headers = {**login, "X-Entry-Token": owner.member.token or "none", "Idempotency-Key": new_key()}
    return method, address, headers, body_of(world, owner, method, path)


def body_of(world, owner, method, path):
    price = {"amount": 1000, "currency": "KRW"}
    bodies = {
        ("POST", "/v1/orders"): {"queue": world.queue, "items": [{"sku": world.sku, "quantity": 1}]},
        ("POST", "/v1/payments/webhooks/{provider}"): {},
        ("POST", "/v1/shows/{show}/holds"): {"seats": [owner.seat]},
        ("PUT", "/v1/admin/queues/{queue}"): {"activation": "hold"},
        ("PATCH", "/v1/admin/queues/{queue}"): {"message": "walked"},
        ("POST", "/v1/admin/queues/{queue}/returns"): {"pass": "none"},
        ("POST", "/v1/admin/queues/{queue}/codes"): {"kind": "priority", "generate": 1},
        ("PUT", "/v1/admin/products/{sku}"): {"name": "Walked", "price": price, "stock": 1000, "queue": world.queue},
        ("PUT", "/v1/admin/coupon-events/{event}"): {"name": "Walked", "queue": world.queue},
        ("POST", "/v1/admin/coupon-events/{event}/codes"): {"generate": 1},
        ("PUT", "/v1/admin/concerts/{concert}"): {"title": "Walked", "venue": "Hall"},
        ("PUT", "/v1/admin/shows/{show}"): {"concert": world.concert, "startsAt": "2030-01-01T19:00:00Z", "queue": world.queue},
        ("POST", "/v1/admin/gate/dry-run"): {"queue": world.queue, "url": "/sale/", "client": "page"},
    }
    return bodies.get((method, path))


def test_every_route_is_walked():
    assert set(WALK) == routes()


@pytest.mark.parametrize("method, path", list(WALK))
def test_nobody_sees_or_does_what_is_not_theirs(world, method, path):
    has, statuses = WALK[(method, path)]
    owner = Owner(world, has)
    before = owner.state()
    for role, status in zip(ROLES, statuses):
        login = owner.member.headers() if role == "member" else world.logins[role]
        answer = world.api.call(*request_of(world, owner, method, path, login))
        assert answer.status == int(status), (role, answer.status, answer.body)
        if int(status) >= 400:
            assert_problem(answer)
        if role not in MAY_SEE:
            assert owner.state() == before, role
            text = answer.body.decode() + json.dumps(answer.headers)
            assert [secret for secret in owner.secrets if secret in text] == [], role
            assert b'"mine":true' not in answer.body.replace(b" ", b""), role
        if role == "viewer":
            # It may see who somebody is, and nothing that would let it be them.
            assert [secret for secret in owner.keys if secret in answer.body.decode()] == []


@pytest.mark.parametrize("method, path", [route for route in WALK if WALK[route][0] in ("order", "hold", "coupon", "token")
                                          and not route[1].startswith("/v1/admin") and len(set(WALK[route][1])) > 1])
def test_a_visitor_s_things_are_that_visitor_s(visitor_world, method, path):
    """The same for somebody known by a cookie alone, in a queue for visitors."""
    owner = VisitorOwner(visitor_world, WALK[(method, path)][0])
    before = owner.state()
    for role in ("none", "other", "visitor", "viewer", "operator"):
        answer = owner.api.call(*request_of(visitor_world, owner, method, path, visitor_world.logins[role]))
        assert answer.status in (200, 204, 401, 404), (role, answer.status)
        assert owner.state() == before, role
        text = answer.body.decode() + json.dumps(answer.headers)
        assert [secret for secret in owner.secrets if secret in text] == [], role
    answer = owner.api.call(*request_of(visitor_world, owner, method, path, owner.member.headers()))
    assert answer.status in (200, 201, 204), answer.body


def test_what_was_stolen_alone_orders_nothing(world):
    """A ticket shows a place to whoever has it; the entry token that it shows is of no use without the login."""
    api, queue = world.api, world.queue
    owner, thief = api.ready_member(queue), api.ready_member(queue)
    with_ticket = {"X-Queue-Ticket": owner.ticket}
    assert_problem(api.call("GET", f"/v1/queues/{queue}/position", thief.headers(X_Queue_Ticket=owner.ticket)), 401, "TICKET_INVALID")
    assert_problem(api.call("DELETE", f"/v1/queues/{queue}/entries", thief.headers(X_Queue_Ticket=owner.ticket)), 401, "TICKET_INVALID")
    assert_problem(api.call("POST", f"/v1/queues/{queue}/entries", with_ticket), 401, "UNAUTHENTICATED")
    seen = api.call("GET", f"/v1/queues/{queue}/position", with_ticket)
    assert seen["entryToken"] == owner.token
    refused = thief.order(queue, [{"sku": world.sku, "quantity": 1}], token=owner.token)
    made_up = thief.order(queue, [{"sku": world.sku, "quantity": 1}], token=owner.token[::-1])
    for answer in (refused, made_up):
        assert_problem(answer, 401, "ENTRY_TOKEN_INVALID")
    assert refused["detail"] == made_up["detail"], "the answer does not tell a good token of another's from none"
    assert owner.order(queue, [{"sku": world.sku, "quantity": 1}]).status == 201
    assert thief.order(queue, [{"sku": world.sku, "quantity": 1}]).status == 201
