"""One Chromium, one Sluice and one shop for all browser tests; what a test opens is closed after it.

Pictures are kept in tests/browser/artifacts/TEST/, or below the folder that SLUICE_TEST_ARTIFACTS names.
"""

import os
import re
import shutil
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from lib.api import some_name
from lib.browser import Browser, Driver
from lib.coupon_drop import CouponDrop
from lib.sites import GatedShop, Site
from lib.stack import Stack
from lib.upstream import Upstream

ARTIFACTS = Path(os.environ.get("SLUICE_TEST_ARTIFACTS") or Path(__file__).parent / "artifacts").absolute()


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item):
    """Lets fixtures know whether the test has failed."""
    report = (yield).get_result()
    if report.when == "call":
        item.failed = report.failed


@pytest.fixture(scope="session")
def driver(make_directory):
    driver = Driver(make_directory("browser"))
    try:
        yield driver.start()
    finally:
        driver.stop()


@pytest.fixture
def browser(driver, request):
    # A Chromium that broke down in another test is that test's failure only.
    if not driver.alive():
        driver.stop()
        driver.start()
    artifacts = ARTIFACTS / re.sub(r"[^\w.-]+", "-", request.node.name).strip("-")
    shutil.rmtree(artifacts, ignore_errors=True)
    browser = Browser(driver, artifacts)
    try:
        yield browser
        if getattr(request.node, "failed", False):
            browser.keep_evidence()
    finally:
        browser.close()


@pytest.fixture(scope="session")
def shop(make_directory):
    """The shop's own server."""
    shop = Upstream(make_directory("shop"))
    try:
        yield shop.start()
    finally:
        shop.stop()


@pytest.fixture(scope="session")
def open_site(shop, make_directory):
    """The shop behind nginx without a gate."""
    site = Site(make_directory("site"), shop.port)
    try:
        yield site.start()
    finally:
        site.stop()


@pytest.fixture(scope="session")
def running(make_directory):
    """Sluice as scripts/run starts it."""
    stack = Stack(make_directory("run"))
    try:
        yield stack.start()
        stack.stop()
    finally:
        stack.abandon()


@pytest.fixture
def api(running):
    yield running.api
    running.api.delete_queues()


@pytest.fixture
def gate_before(running, api, shop, make_directory):
    """A function that opens a site of its own before the shop, all of it behind a new queue with these settings; at
    first nobody is admitted."""
    sites = []

    def gate_before(**settings):
        queue = api.queue(some_name("drop"), **{"identity": "visitor", "ratePerSecond": 0, **settings})
        site = Site(make_directory("site"), shop.port, running.data / "gate", {"/": queue, "/done": queue},
                    ends=["/done"])
        sites.append(site)
        return GatedShop(api, site.start(), queue)
    yield gate_before
    for site in sites:
        site.stop()
        assert not re.search(r"\[(crit|alert|emerg)\]|uninitialized", site.errors()), site.errors()


@pytest.fixture
def drop(gate_before, shop):
    """A shop with more visitors than it lets in."""
    shop.forget()
    return gate_before()


@pytest.fixture
def coupon_drop(running, api):
    """A function that makes a coupon event with a queue of its own; a `still` one lets nobody in yet."""
    def coupon_drop(coupons=3, still=False, **fields):
        return CouponDrop(running, api, coupons, still, **fields)
    return coupon_drop


@pytest.fixture
def inspect():
    """A function that takes pictures of a page, in light and in dark, and holds it against what every page
    promises: WCAG 2.2 AA (but for the rules `except_for`), no errors, no request to anybody else."""
    def inspect(page, state, except_for=()):
        for scheme in ("light", "dark"):
            page.call("scheme", scheme=scheme)
            assert [line for line in page.axe() if line.split(" ")[0] not in except_for] == [], (state, scheme)
            page.screenshot(state if scheme == "light" else f"{state}-{scheme}")
        page.call("scheme", scheme=None)
        assert page.complaints() == []
        here = urlsplit(page.url).netloc
        assert {urlsplit(request.url).netloc for request in page.requests()
                if not request.url.startswith("data:")} == {here}
    return inspect
