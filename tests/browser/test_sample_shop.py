"""The sample shop of scripts/run, on a phone: from its home page to an order."""

import json

import pytest

from lib.project import ROOT

TEXTS = {language: json.loads((ROOT / "web" / "shop" / "assets" / "texts" / f"{language}.json").read_text())
         for language in ("en", "ko")}


@pytest.mark.parametrize("locale, language", [("en-US", "en"), ("ko-KR", "ko")])
def test_a_postcard_is_bought(running, api, browser, inspect, locale, language):
    shop = f"http://127.0.0.1:{running.port}/shop/"
    sold = api.stats("shop")["consumed"]
    page = browser.page(locale=locale, screen="phone")
    page.goto(shop)
    page.wait("[data-page=home]")
    assert page.main().status == 200
    page.until("document.documentElement.lang === argument", language)
    assert page.text("h1") == TEXTS[language]["heroTitle"]
    inspect(page, "home")
    page.click("a[href$='sample-postcard']")
    page.wait("#sample-postcard")
    inspect(page, "product")
    page.click("#sample-postcard button.buy")
    page.wait("#order-title")
    assert page.text("#order-title") == TEXTS[language]["statusPAID"]
    assert TEXTS[language]["postcardName"] in page.text("#order-items")
    inspect(page, "result")
    assert api.stats("shop")["consumed"] == sold + 1
    assert [request.status for request in page.requests("/v1/orders")] == [201]
    # The turn is spent: the shop is behind the line again, the order is not.
    assert page.reload().status == 200
    page.wait("#order-title")
    page.click("a[href$='result.html']")
    page.wait("#orders-rows li")
    inspect(page, "orders")
