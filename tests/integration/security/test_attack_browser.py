"""What the page of somebody else may do with a visitor's browser: nothing that changes anything, and nothing that it may read."""

import pytest

from lib.api import some_name
from lib.client import assert_problem, new_key
from lib.gate import FETCH, NAVIGATION, Visitor

EVIL = "https://evil.example"
# What browsers send along with a form or a script of another site's page.
FORM = {**NAVIGATION, "Sec-Fetch-Site": "cross-site", "Origin": EVIL, "Content-Type": "application/x-www-form-urlencoded"}
SCRIPT = {**FETCH, "Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors", "Origin": EVIL, "Content-Type": "text/plain"}
# Of our own page, of a host beside it, typed in by hand, and of a program that is no browser.
OWN = ({"Sec-Fetch-Site": "same-origin"}, {"Sec-Fetch-Site": "same-site"}, {"Sec-Fetch-Site": "none"}, {})

CHANGES = [("POST", "/v1/queues/{queue}/entries"), ("DELETE", "/v1/queues/{queue}/entries"), ("POST", "/v1/orders"),
           ("POST", "/v1/orders/{order}/payment"), ("POST", "/v1/orders/{order}/cancel"), ("POST", "/v1/shows/{name}/holds"),
           ("DELETE", "/v1/shows/{name}/holds"), ("POST", "/v1/coupon-events/{name}/coupons"),
           ("POST", "/_sluice/queues/{queue}/entries"), ("DELETE", "/_sluice/queues/{queue}/entries"),
           ("POST", "/_sluice/continue/{queue}")]


@pytest.fixture
def queue(visitor_queue):
    return visitor_queue(activation="hold")


def fill(path, queue):
    return path.format(queue=queue, order="o_" + "A" * 22, name=some_name("none"))


@pytest.mark.parametrize("method, path", CHANGES)
def test_another_site_s_page_changes_nothing(api, queue, method, path):
    """It is refused before anybody looks who sent it: no cookie is believed, and none is replaced by a newcomer's."""
    victim = Visitor(api.port, headers={})
    for kind in (FORM, SCRIPT):
        reply = victim.ask(fill(path, queue), method, headers=kind, body="x=1")
        assert (reply.status, reply.json["code"], reply.set_cookies) == (403, "FORBIDDEN", []), kind
    for kind in OWN:
        reply = Visitor(api.port, headers={}).ask(fill(path, queue), method, headers=kind, body=None)
        assert reply.status in (201, 204, 303, 400, 401, 404) or reply.json["code"] != "FORBIDDEN", (kind, reply.body)


def test_a_place_outlives_the_forms_of_other_sites(api, queue):
    """The newcomer whom such a form would make would take the visitor's place in the browser's cookies."""
    victim = Visitor(api.port, headers={})
    assert victim.ask(f"/v1/queues/{queue}/entries", "POST", headers=OWN[0]).status == 201
    before = dict(victim.cookies)
    # SameSite=Lax: such a form comes without the cookies, and what is answered to it may set some.
    forged = Visitor(api.port, headers={}).ask(f"/v1/queues/{queue}/entries", "POST", headers=FORM, body="x=1")
    assert forged.status == 403 and forged.set_cookies == []
    # SameSite=None: it comes with them.
    for method in ("POST", "DELETE"):
        assert victim.ask(f"/v1/queues/{queue}/entries", method, headers=SCRIPT).status == 403
    assert victim.cookies == before
    assert victim.ask(f"/v1/queues/{queue}/position", headers=OWN[0]).json["status"] == "WAITING"


def test_the_gate_s_own_addresses_at_a_site_are_closed_to_others_too(api, queue, make_site):
    site = make_site(queue)
    victim = Visitor(site.port)
    victim.ask()
    assert victim.ask(f"/_sluice/queues/{queue}/entries", "POST", headers=FETCH).status in (200, 201)
    before = dict(victim.cookies)
    for method, path in (("POST", f"/_sluice/continue/{queue}"), ("DELETE", f"/_sluice/queues/{queue}/entries")):
        reply = victim.ask(path, method, headers=FORM)
        assert (reply.status, reply.json["code"], reply.set_cookies) == (403, "FORBIDDEN", [])
    assert victim.cookies == before
    assert victim.ask(f"/_sluice/queues/{queue}/position", headers=FETCH).json["status"] == "WAITING"
    shop = victim.ask("/order", "POST", headers=FORM)
    assert shop.status == 503, "a form for the site itself is the site's business: it waits like all others"


def test_a_login_in_the_header_is_no_cookie(api):
    """A page that has a member's JWT has it from the member: apps and shops of another name go on."""
    queue, member = api.still_queue(), api.member()
    headers = {**member.headers(), "Sec-Fetch-Site": "cross-site", "Origin": "https://shop.example"}
    assert api.call("POST", f"/v1/queues/{queue}/entries", headers).status == 201
    assert api.call("DELETE", f"/v1/queues/{queue}/entries", headers).status == 204


READS = ["/v1/queues/{queue}", "/v1/queues/{queue}/position", "/v1/orders", "/v1/concerts", "/v1/captcha/challenge?event=none",
         "/v1/admin/queues", "/v1/admin/overview", "/_sluice/queues/{queue}/position", "/livez", "/metrics", "/openapi.yaml"]


@pytest.mark.parametrize("path", READS)
def test_no_origin_may_read_an_answer_or_ask_beforehand(api, queue, path):
    """CORS headers are the board's alone, which holds nothing of anybody's; the gate's refusals name their own origins."""
    for origin in (EVIL, "null", f"http://127.0.0.1:{api.port}"):
        answer = api.call("GET", fill(path, queue), {"Origin": origin, **api.operator_headers()})
        asked = api.call("OPTIONS", fill(path, queue), {"Origin": origin, "Access-Control-Request-Method": "GET",
                                                        "Access-Control-Request-Headers": "authorization"})
        for one in (answer, asked):
            assert not [name for name in one.headers if name.startswith("access-control-")], (path, one.headers)
        assert asked.status == 405


@pytest.mark.parametrize("referer", [
    EVIL + "/x", "//evil.example/x", "https://127.0.0.1:{port}@evil.example/", "https://127.0.0.1:{port}.evil.example/",
    "http://127.0.0.1:{port}//evil.example/", "http://127.0.0.1:{port}/\\evil.example", "http://127.0.0.1:{port}\\@evil.example/",
    "http://127.0.0.1:{port}", "javascript:alert(1)", "data:text/html,x", "http://evil.example#127.0.0.1:{port}/", "", "/only/a/path",
    "http://127.0.0.1:{port}/\t/evil.example", "HTTP://127.0.0.1:{port}//evil.example"])
def test_the_way_back_leads_to_this_site_alone(api, queue, referer):
    """Two routes answer with a redirect to where one came from."""
    sent = {"Referer": referer.format(port=api.port)}
    for method, path in (("GET", "/_sluice/language/ko"), ("POST", f"/_sluice/continue/{queue}")):
        reply = Visitor(api.port, headers={}).ask(path, method, headers=sent)
        assert (reply.status, reply.get("location")) == (303, "/"), (path, reply.headers)


def test_a_line_end_in_an_address_stays_an_escape(api):
    sent = {"Referer": f"http://127.0.0.1:{api.port}/shop/%0d%0aSet-Cookie:%20a=b?x=%0d%0a"}
    reply = Visitor(api.port, headers={}).ask("/_sluice/language/ko", headers=sent)
    assert reply.get("location") == "/shop/%0d%0aSet-Cookie:%20a=b?x=%0d%0a" and reply.set_cookies == ["sluice_language"]


@pytest.mark.parametrize("path", ["/shop?next=//evil.example", "/_sluice/console", "//evil.example/..", "/%2f%2fevil.example",
                                  "/shop//evil.example", "/\\evil.example"])
def test_no_redirect_of_nginx_names_a_host(api, path):
    for host in (f"127.0.0.1:{api.port}", "evil.example"):
        answer = api.call("GET", path, {"Host": host, "X-Forwarded-Host": "evil.example"})
        location = answer.headers.get("location", "/")
        assert location.startswith("/") and not location.startswith(("//", "/\\")), (path, location)


def test_tossed_cookies_neither_give_nor_take_a_place(api, visitor_queue):
    """Cookies that a host beside this one has set come in the same header, before or behind one's own."""
    queue = visitor_queue(activation="hold")
    victim, attacker = (Visitor(api.port, headers={}) for _ in range(2))
    for one in (victim, attacker):
        assert one.ask(f"/v1/queues/{queue}/entries", "POST").status == 201
    own = "; ".join(f"{name}={value}" for name, value in victim.cookies.items())
    place = victim.ask(f"/v1/queues/{queue}/position").json
    rubbish = "; ".join(f"sluice_visitor=v1.k1.v~{number:022d}.1.x" for number in range(3))
    for header in (f"{rubbish}; {own}", f"{own}; {rubbish}", f"sluice_ticket-{queue}=x; {own}", f"sluice_visitor=; {own}",
                   f"{own}; sluice_ticket-{queue}=x"):
        seen = Visitor(api.port, headers={}).ask(f"/v1/queues/{queue}/position", headers={"Cookie": header})
        assert seen.status == 200 and seen.json["rank"] == place["rank"], (header, seen.body)
    # A cookie that is good, but another's, is what it is: the attacker's own place, of which the victim loses nothing.
    mixed = f"sluice_visitor={attacker.cookies['sluice_visitor']}; {own}"
    Visitor(api.port, headers={}).ask(f"/v1/queues/{queue}/position", headers={"Cookie": mixed})
    assert victim.ask(f"/v1/queues/{queue}/position").json["rank"] == place["rank"]


def test_answers_with_keys_in_them_are_not_compressed(api):
    """What is compressed together with something of the sender's tells of itself by its length."""
    queue = api.queue()
    member = api.ready_member(queue)
    sku = api.product(queue)
    packed = {"Accept-Encoding": "gzip, deflate, br"}
    position = api.call("GET", f"/v1/queues/{queue}/position", member.headers(**packed))
    order = api.call("POST", "/v1/orders", member.headers(X_Entry_Token=member.token, Idempotency_Key=new_key(), **packed),
                     {"queue": queue, "items": [{"sku": sku, "quantity": 1}]})
    assert position["entryToken"] and order.status == 201
    refused = api.call("GET", "/v1/admin/queues", {**packed, "Authorization": "Bearer " + "x" * 2000})
    assert_problem(refused, 401)
    for answer in (position, order, refused):
        assert "content-encoding" not in answer.headers
