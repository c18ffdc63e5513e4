"""The shop without a gate: what the other tests stand on."""

import hashlib

import pytest

from lib.client import Http
from lib.sites import DEEP


def test_a_visitor_sees_the_shop(browser, shop, open_site):
    page = browser.page(screen="phone", locale="ko-KR")
    main = page.goto(open_site.url + DEEP)
    assert (main.status, main.headers["content-type"]) == (200, "text/html; charset=utf-8")
    assert page.text("#query") == "x=1"
    assert page.screenshot("shop").stat().st_size > 1000
    assert page.axe() == []
    assert page.complaints() == []
    assert [(request.method, request.path, request.status) for request in page.requests()] == [
        ("GET", "/deep/page.html", 200), ("GET", "/style.css", 200)]
    seen = shop.seen(DEEP)[-1]
    assert seen["headers"]["accept-language"].startswith("ko-KR")
    assert seen["headers"]["sec-fetch-mode"] == "navigate"


def test_a_form_arrives_once_and_back_returns(browser, shop, open_site):
    page = browser.page()
    page.goto(open_site.url + DEEP)
    page.fill("input[name=name]", "Kim <b>")
    before = len(shop.seen("/order"))
    page.click("button")
    assert page.wait("#order dd") == "Kim <b>"
    assert len(shop.seen("/order")) == before + 1
    page.back()
    page.wait_url(open_site.url + DEEP)
    assert page.text("#query") == "x=1"
    page.goto(open_site.url + "/")
    assert page.main().url == open_site.url + "/"


def test_axe_finds_what_is_wrong(browser, open_site):
    page = browser.page()
    page.goto(open_site.url + "/")
    page.evaluate("document.body.insertAdjacentHTML('beforeend', argument)",
                  '<img src="/style.css"><p style="color: #ccc">pale</p>'
                  + '<button style="font-size: 4px; padding: 0">x</button>' * 2)
    found = {line.split(" ")[0] for line in page.axe()}
    assert {"image-alt", "color-contrast", "target-size"} <= found


@pytest.mark.parametrize("options, has_script, has_cookies", [
    ({}, True, True), ({"javaScriptEnabled": False}, False, True), ({"cookies": False}, True, False)],
    ids=["usual", "no-script", "no-cookies"])
def test_a_visitor_may_refuse_scripts_or_cookies(browser, shop, open_site, options, has_script, has_cookies):
    visitor = browser.visitor(**options)
    page = visitor.page()
    page.goto(open_site.url + "/trial")
    assert page.until("document.querySelector('#script').textContent") == ("on" if has_script else "off")
    page.goto(open_site.url + "/trial")
    assert ("trial" in visitor.cookies()) == has_cookies
    assert ("cookie" in shop.seen("/trial")[-1]["headers"]) == has_cookies


def test_two_tabs_share_cookies_and_the_network(browser, open_site):
    visitor = browser.visitor()
    first, second = visitor.page(), visitor.page()
    first.goto(open_site.url + "/trial")
    second.goto(open_site.url + "/trial")
    assert second.evaluate("document.cookie") == "trial=1"
    asks = "fetch('/api/stock').then(answer => answer.status, error => error.name)"
    visitor.offline()
    assert [first.evaluate(asks), second.evaluate(asks)] == ["TypeError", "TypeError"]
    assert first.requests("/api/stock")[-1].failure == "net::ERR_INTERNET_DISCONNECTED"
    visitor.offline(False)
    assert [first.evaluate(asks), second.evaluate(asks)] == [200, 200]
    first.hide()
    assert first.evaluate("[document.hidden, document.visibilityState]") == [True, "hidden"]
    assert second.evaluate("document.hidden") is False
    first.show()
    assert first.evaluate("document.hidden") is False


def test_nothing_outside_is_reached(browser, open_site):
    page = browser.page()
    page.goto(open_site.url + "/")
    assert page.evaluate("fetch('http://elsewhere.test/').catch(error => error.name)") == "TypeError"
    assert page.requests()[-1].failure == "net::ERR_NAME_NOT_RESOLVED"


def test_a_large_upload_and_a_socket_pass(browser, open_site):
    body = bytes(range(256)) * (50 * 4096)
    answer = Http(open_site.port).call("POST", "/upload", data=body)
    assert answer.json == {"length": 50 << 20, "sha256": hashlib.sha256(body).hexdigest()}
    page = browser.page()
    page.goto(open_site.url + "/")
    said = page.evaluate("""new Promise((resolve, reject) => {
        const link = new WebSocket(`ws://${location.host}/ws`);
        link.onopen = () => link.send('hello');
        link.onerror = reject;
        link.onmessage = (message) => { link.close(); resolve(message.data); };
    })""")
    assert said == "echo hello"
