"""Chromium as a visitor uses it. One runs for all tests, driven by tests/browser/driver.mjs; each test has contexts
(visitors) of its own with pages in them. Every call has a bound on its time."""

import json
import os
import select
import shutil
import subprocess
import time
import uuid
from dataclasses import dataclass
from urllib.parse import urlsplit

from lib.processes import Process, assert_none_left
from lib.project import ROOT
from lib.wait import PATIENCE, until

DRIVER = ROOT / "tests" / "browser" / "driver.mjs"
SECONDS = 15


class BrowserError(AssertionError):
    """Chromium could not do what it was told."""


class Driver:
    """The process that drives Chromium."""

    def __init__(self, directory):
        self.directory = directory
        self.version = None
        self._mark = uuid.uuid4().hex
        self._process = None
        self._commands = self._answers = -1
        self._received = b""
        self._number = 0

    def start(self):
        chromium, node = shutil.which("chromium"), shutil.which("node")
        assert chromium and node, "there is no chromium or no node; scripts/install-packages test"
        commands, self._commands = os.pipe()
        self._answers, answers = os.pipe()
        # Profiles, caches and crash reports stay in our folder.
        environment = {"SLUICE_TEST_BROWSER": self._mark, "DBUS_SESSION_BUS_ADDRESS": "disabled:",
                       **{name: str(self.directory) for name in
                          ("HOME", "TMPDIR", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_RUNTIME_DIR")}}
        self._process = Process("browser", [node, DRIVER, chromium, self.directory, answers],
                                self.directory / "browser.log", env=environment, stdin=commands,
                                pass_fds=(answers,))
        os.close(commands)
        os.close(answers)
        self.version = self._answer(0, 90)
        return self

    def call(self, command, seconds=SECONDS, **args):
        """Carries a command out and returns its result."""
        seconds *= PATIENCE
        self._number += 1
        request = {"id": self._number, "command": command, "seconds": seconds, "args": args}
        try:
            os.write(self._commands, json.dumps(request).encode() + b"\n")
        except BrokenPipeError:
            raise BrowserError("the driver has ended: " + self._process.text()[-2000:]) from None
        # The driver has a deadline of its own; ours is for the case that it hangs itself.
        return self._answer(self._number, seconds + 10)

    def _answer(self, number, seconds):
        deadline = time.monotonic() + seconds
        while True:
            answer = json.loads(self._line(deadline))
            # An answer may be left over from a test that was interrupted.
            if answer["id"] == number:
                if "error" in answer:
                    raise BrowserError(answer["error"])
                return answer["result"]

    def _line(self, deadline):
        while b"\n" not in self._received:
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([self._answers], [], [], left)[0]:
                raise BrowserError("no answer of the driver: " + self._process.text()[-2000:])
            piece = os.read(self._answers, 1 << 16)
            if not piece:
                raise BrowserError("the driver has ended: " + self._process.text()[-2000:])
            self._received += piece
        line, _, self._received = self._received.partition(b"\n")
        return line

    def alive(self):
        return self._process is not None and self._process.alive()

    def stop(self):
        if not self._process:
            return
        os.close(self._commands)
        try:
            self._process.wait(15)
        except subprocess.TimeoutExpired:
            self._process.kill()
            raise BrowserError("the driver did not end: " + self._process.text()[-2000:]) from None
        finally:
            os.close(self._answers)
            self._process, self._received = None, b""
            assert_none_left("SLUICE_TEST_BROWSER", self._mark, [self.directory])


class Browser:
    """What one test does with Chromium. Pictures go to `artifacts`."""

    def __init__(self, driver, artifacts):
        self.driver, self.artifacts = driver, artifacts
        self.contexts = []

    def visitor(self, locale="en-US", screen="desktop", **options):
        """Somebody with a clean browser; returns a Context.

        screen: desktop, phone, small (320 pixels wide) or {"width": …, "height": …}. Further options:
        cookies=False (Chromium refuses them, and storage), javaScriptEnabled=False, colorScheme="dark",
        reducedMotion="reduce", script="…" (runs in each page before its own scripts),
        permissions=["notifications"], userAgent, extraHTTPHeaders, timezoneId.
        """
        context = Context(self, self.driver.call("context.open", seconds=30, locale=locale, screen=screen,
                                                 **{"cookies": True, **options}))
        self.contexts.append(context)
        return context

    def page(self, **options):
        """The first page of a new visitor."""
        return self.visitor(**options).page()

    def close(self):
        for context in self.contexts:
            if self.driver.alive():
                context.close()

    def keep_evidence(self):
        """After a failure: picture, text and record of every page that is open."""
        self.artifacts.mkdir(parents=True, exist_ok=True)
        for page in [page for context in self.contexts for page in context.pages]:
            name = f"failed-{page.id}"
            try:
                (self.artifacts / f"{name}.json").write_text(json.dumps(page.record(), indent=1))
                (self.artifacts / f"{name}.html").write_text(page.html())
                page.screenshot(name)
            except BrowserError as error:
                (self.artifacts / f"{name}.txt").write_text(str(error))


class Context:
    """One visitor: pages that share cookies and a network."""

    def __init__(self, browser, context_id):
        self.browser, self.id = browser, context_id
        self.pages = []
        self._open = True

    def call(self, command, **args):
        return self.browser.driver.call(f"context.{command}", context=self.id, **args)

    def page(self):
        """A new tab."""
        page = Page(self, self.call("page"))
        self.pages.append(page)
        return page

    def cookies(self):
        """By name: dicts of value, domain, path, expires, httpOnly, secure, sameSite."""
        return {cookie["name"]: cookie for cookie in self.call("cookies")}

    def add_cookies(self, cookies):
        """Takes over cookies of another visitor, as cookies() gave them."""
        self.call("addCookies", cookies=list(cookies.values()))

    def offline(self, offline=True):
        """Takes the network away, or gives it back."""
        self.call("offline", offline=offline)

    def close(self):
        if self._open:
            self._open = False
            self.call("close")


@dataclass
class Request:
    """One request that a page made; status is None where no answer came, and `failure` says why."""
    method: str
    url: str
    kind: str      # document, script, stylesheet, image, fetch, xhr, websocket, …
    at: float      # seconds of a clock that only grows
    status: int
    failure: str

    @property
    def path(self):
        return urlsplit(self.url).path


@dataclass
class Main:
    """The answer to a navigation."""
    url: str
    status: int
    headers: dict  # names in lower case; several Set-Cookie are joined by a newline


class Page:
    """One tab."""

    def __init__(self, context, page_id):
        self.context, self.id = context, page_id
        self._forgotten = 0

    def call(self, command, seconds=SECONDS, **args):
        return self.context.browser.driver.call(f"page.{command}", seconds, page=self.id, **args)

    # Going about

    def goto(self, url, referer=None, seconds=SECONDS):
        """Opens it as if typed in (or as a link of `referer`); returns the Main answer."""
        self.call("goto", seconds, url=url, **({"referer": referer} if referer else {}))
        return self.main()

    def back(self):
        """The browser's back button; wait for what should be there. A page shown again as it was left makes no
        request, and main() goes on telling of another."""
        self.call("back")

    def reload(self):
        self.call("reload")
        return self.main()

    def close(self):
        self.call("close")
        self.context.pages.remove(self)

    def click(self, selector):
        self.call("click", selector=selector)

    def tap(self, selector, position=None):
        """A finger on the element, or on a place in it; only visitors with a touch screen have fingers."""
        self.call("tap", selector=selector, position=position)

    def pinch(self, selector, factor):
        """Two fingers on an element: apart for a factor above 1."""
        self.call("pinch", selector=selector, factor=factor)

    def fill(self, selector, value):
        self.call("fill", selector=selector, value=value)

    def press(self, keys):
        """Keys on the keyboard, as in "Tab" or "Enter"."""
        self.call("press", keys=keys)

    def hinder(self, pattern, times=None, delay=0.0, fail=False):
        """From now on requests to addresses of this pattern, at most so many, take so many seconds more or fail."""
        self.call("hinder", pattern=pattern, times=times, delayMs=delay * 1000, fail=fail)

    def hide(self):
        """Another tab comes to the front, as far as this page can tell, until it loads anew. Its timers still
        run at full speed."""
        self.call("visibility", state="hidden")

    def show(self):
        self.call("visibility", state="visible")

    # Looking

    @property
    def url(self):
        return self.call("url")

    def html(self):
        return self.call("html")

    def evaluate(self, expression, argument=None, seconds=SECONDS):
        """The value of a JavaScript expression, which may use `argument` and `await`. Works where pages
        themselves have no JavaScript."""
        return self.call("evaluate", seconds, source=expression, argument=argument)

    def text(self, selector="body"):
        """What a person reads there; None where there is no such element or it is hidden."""
        return self.evaluate("(found => found && found.checkVisibility() ? found.innerText.trim() : null)"
                             "(document.querySelector(argument))", selector)

    def until(self, expression, argument=None, seconds=SECONDS):
        """Waits until a JavaScript expression is true, over any number of navigations; returns its value."""
        return until(lambda: self.evaluate(expression, argument), seconds, f"{expression} in {self.id}", every=0.05)

    def wait(self, selector, seconds=SECONDS):
        """Waits until such an element can be seen; returns its text."""
        until(lambda: self.text(selector) is not None, seconds, f"{selector} in {self.id}", every=0.05)
        return self.text(selector)

    def wait_face(self, face, seconds=SECONDS):
        """Waits for a face of the waiting page."""
        self.wait(f'body[data-face="{face}"]', seconds)

    def wait_url(self, url, seconds=SECONDS):
        """Waits until the page with exactly this address has loaded; returns its Main answer."""
        self.until("location.href === argument && document.readyState === 'complete'", url, seconds)
        return self.main()

    def face(self):
        return self.evaluate("document.body.dataset.face ?? null")

    def axe(self):
        """Violations of WCAG 2.2 A and AA, a line each."""
        return self.call("axe", 30)

    def screenshot(self, state):
        """Keeps a picture of the whole page as artifacts/TEST/STATE.png; returns the path."""
        path = self.context.browser.artifacts / f"{state}.png"
        path.parent.mkdir(parents=True, exist_ok=True)
        self.call("screenshot", 30, path=str(path))
        return path

    # What it has done

    def record(self):
        return self.call("record")

    def requests(self, path=None):
        """Its requests in order since forget_requests(), redirects included; only those to `path`."""
        made = [Request(**entry) for entry in self.record()["requests"][self._forgotten:]]
        return [request for request in made if path is None or request.path == path]

    def forget_requests(self):
        self._forgotten = len(self.record()["requests"])

    def mains(self):
        """The answers to all its navigations, in order."""
        return [Main(**main) for main in self.record()["mains"]]

    def main(self):
        """The answer to its latest navigation, None where there was none."""
        return (self.mains() or [None])[-1]

    def complaints(self):
        """Uncaught errors, and warnings and errors on the console (a breach of CSP is one); not that something
        could not be loaded, which requests() tell."""
        record = self.record()
        return record["errors"] + [line["text"] for line in record["console"] if line["type"] in ("warning", "error")
                                   and not line["text"].startswith("Failed to load resource")]
