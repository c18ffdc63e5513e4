"""Which origins' scripts may read the gate's refusals."""

import pytest

from lib.gate import APP, FETCH, NAVIGATION, Visitor, write_installed_files
from lib.sites import Site

OURS = "https://app.example"
CORS = ("access-control-allow-origin", "access-control-allow-credentials", "access-control-expose-headers")


@pytest.fixture
def closed_site(visitor_queue, make_site):
    return make_site(visitor_queue(ratePerSecond=0))


def cors_of(site, origin, kind=FETCH):
    reply = Visitor(site.port, {**kind, **({"Origin": origin} if origin else {})}).ask("/api/stock")
    assert reply.status == 503 and "origin" in reply.get("vary").lower()
    return tuple(reply.get(name) for name in CORS)


def test_nobody_may_where_nothing_is_said(closed_site):
    for origin in (OURS, "null", "*", None):
        assert cors_of(closed_site, origin) == (None, None, None)


def test_only_those_that_are_named(parts, closed_site):
    try:
        parts.reconfigure("queue", cors_origins=f"{OURS} https://other.example:8443")
        for origin in (OURS, "https://other.example:8443"):
            for kind in (FETCH, APP):
                assert cors_of(closed_site, origin, kind)[:2] == (origin, "true")
        assert "Retry-After" in cors_of(closed_site, OURS)[2]
        for origin in (None, "null", "*", "https://app.example.evil", "https://app.exampl", "http://app.example",
                       "https://APP.example", OURS + "/", f"{OURS} https://other.example:8443",
                       "https://other.example"):
            assert cors_of(closed_site, origin) == (None, None, None), origin
        page = Visitor(closed_site.port, {**NAVIGATION, "Origin": OURS}).ask()
        assert page.is_page and page.get(CORS[0]) is None, "a page is for people"
        parts.reconfigure("queue", cors_origins="*")
        assert cors_of(closed_site, "https://anybody.example")[:2] == ("https://anybody.example", "true")
        assert cors_of(closed_site, None) == (None, None, None)
    finally:
        parts.settings.pop("cors_origins", None)
        parts.reconfigure("queue")


@pytest.fixture
def site_without_workers(shop, make_directory):
    """A function that makes a site with such a setting, whose gate nobody answers."""
    sites = []

    def make(setting):
        place = make_directory("unanswered")
        (place / "sluice.conf").write_text(setting)
        files = write_installed_files(place / "nowhere", place, "--settings", place / "sluice.conf")
        sites.append(Site(make_directory("site"), shop.port, files, {"/": "shop"}))
        return sites[-1].start()

    yield make
    for site in sites:
        site.stop()


def test_nginx_s_own_refusal_may_be_read_by_the_same(site_without_workers):
    site = site_without_workers(f"cors_origins = {OURS} https://other.example:8443\n")
    for origin in (OURS, "https://other.example:8443"):
        for kind in (FETCH, APP):
            assert cors_of(site, origin, kind) == (origin, "true", "Retry-After, X-Request-Id")
    for origin in (None, "null", "*", "https://app.example.evil", "https://app.exampl", "https://appxexample", "http://app.example",
                   "https://APP.example", OURS + "/", f"{OURS} https://other.example:8443", "https://other.example"):
        assert cors_of(site, origin) == (None, None, None), origin
    page = Visitor(site.port, {**NAVIGATION, "Origin": OURS}).ask()
    assert (page.status, page.get("content-type"), page.get(CORS[0])) == (503, "text/html; charset=utf-8", None), "a page is for people"


@pytest.mark.parametrize("setting, expected", [("cors_origins = *", "https://anybody.example"), ("", None)])
def test_nginx_s_own_refusal_where_all_may_or_nobody(site_without_workers, setting, expected):
    assert cors_of(site_without_workers(setting + "\n"), "https://anybody.example")[0] == expected
