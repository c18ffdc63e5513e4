"""The shop behind the gate: a small server that knows nothing of Sluice. Run as a program it serves; the class
starts it and tells what it saw."""

import argparse
import asyncio
import hashlib
import html
import json
import sys
from pathlib import Path

from aiohttp import web

from lib.ports import free_port
from lib.processes import Process
from lib.wait import until

PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title} – The Plain Shop</title>
<link rel="stylesheet" href="/style.css">
</head>
<body data-page="{name}">
<header><a href="/">The Plain Shop</a></header>
<main>
<h1>{title}</h1>
{content}
</main>
</body>
</html>
"""

STYLE = """
body { margin: 0 auto; padding: 1rem; max-width: 40rem; font: 1.1rem/1.6 sans-serif; color: #222; background: #fff }
header { border-bottom: 1px solid #ccc; padding-bottom: .5rem }
a { color: #0b4f9e }
label, input, button { font: inherit }
input, button { padding: .4rem .8rem }
"""

ORDER_FORM = """<form method="post" action="/order">
<p><label>Your name <input name="name" value=""></label></p>
<p><button>Buy</button></p>
</form>"""

routes = web.RouteTableDef()


def page(name, title, content, **options):
    text = PAGE.format(name=name, title=html.escape(title), content=content)
    return web.Response(text=text, content_type="text/html", **options)


@routes.get("/")
async def home(_request):
    return page("home", "Today in the shop", '<p><a href="/deep/page.html?x=1">One thing, deep inside</a></p>')


@routes.get("/deep/page.html")
async def deep_page(request):
    return page("deep", "A thing, deep inside",
                f'<p>You asked for <code id="query">{html.escape(request.query_string)}</code>.</p>{ORDER_FORM}')


@routes.get("/moved")
async def moved(_request):
    return web.Response(status=301, headers={"Location": "/deep/page.html?x=1"})


@routes.post("/order")
async def order(request):
    fields = await request.post()
    rows = "".join(f"<dt>{html.escape(name)}</dt><dd>{html.escape(str(value))}</dd>" for name, value in fields.items())
    return page("ordered", "Thank you", f'<dl id="order">{rows}</dl>')


@routes.get("/done")
async def done(_request):
    """The visitor is done here and needs the place no longer."""
    return page("done", "Good-bye", "<p>Come again.</p>", headers={"X-Sluice-Return": "1"})


@routes.get("/api/stock")
async def stock(request):
    return web.json_response({"stock": 7, "query": dict(request.query)})


@routes.post("/api/echo")
async def echo(request):
    return web.json_response({"echo": await request.json()})


@routes.post("/upload")
@routes.put("/upload")
async def upload(request):
    digest, length = hashlib.sha256(), 0
    async for piece in request.content.iter_chunked(1 << 20):
        digest.update(piece)
        length += len(piece)
    return web.json_response({"length": length, "sha256": digest.hexdigest()})


@routes.get("/ws")
async def socket(request):
    """Sends back what it gets, until it gets "bye"."""
    link = web.WebSocketResponse(autoping=True)
    await link.prepare(request)
    async for message in link:
        if message.type != web.WSMsgType.TEXT or message.data == "bye":
            break
        await link.send_str("echo " + message.data)
    await link.close()
    return link


@routes.get("/status/{number}")
async def status(request):
    """The shop's own troubles."""
    number = int(request.match_info["number"])
    return page("trouble", f"The shop says {number}", "", status=number,
                headers={"WWW-Authenticate": 'Basic realm="The Plain Shop"'} if number == 401 else {})


@routes.get("/slow")
async def slow(_request):
    await asyncio.sleep(1)
    return page("slow", "Here at last", "")


@routes.get("/trial")
async def trial(_request):
    """Shows whether this browser runs scripts, and leaves a cookie."""
    return page("trial", "Your browser", """<p>Scripts are <b id="script">off</b>.</p>
<script>document.querySelector("#script").textContent = "on"</script>""", headers={"Set-Cookie": "trial=1; Path=/"})


@routes.get("/style.css")
async def style(_request):
    return web.Response(text=STYLE, content_type="text/css", headers={"Cache-Control": "max-age=60"})


def remember_in(path):
    """Middleware that writes down each request before it is answered."""
    record = open(path, "a", encoding="utf-8", buffering=1)  # pylint: disable=consider-using-with

    @web.middleware
    async def remember(request, handler):
        entry = {"method": request.method, "path": request.path_qs,
                 "headers": {name.lower(): value for name, value in request.headers.items()}}
        record.write(json.dumps(entry) + "\n")
        return await handler(request)
    return remember


class Upstream:
    """The shop in a process of its own."""

    def __init__(self, directory):
        self.directory = directory
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self._record = directory / "upstream.jsonl"
        self._process = None

    def start(self):
        command = [sys.executable, "-m", "lib.upstream", "--port", self.port, "--record", self._record]
        self._process = Process("upstream", command, self.directory / "upstream.log",
                                cwd=Path(__file__).resolve().parents[1])
        until(lambda: "ready" in self._process.text(), 15, "the shop's server")
        return self

    def stop(self):
        if self._process:
            self._process.stop()

    def seen(self, path=""):
        """What it was asked so far, in order: dicts of method, path (with its query) and headers (lower case);
        only paths that begin with `path`."""
        lines = self._record.read_text().splitlines() if self._record.exists() else []
        return [entry for entry in map(json.loads, lines) if entry["path"].startswith(path)]

    def forget(self):
        """From now on seen() tells only what comes."""
        self._record.write_text("")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--record", required=True)
    options = parser.parse_args()
    app = web.Application(middlewares=[remember_in(options.record)])
    app.add_routes(routes)
    web.run_app(app, host="127.0.0.1", port=options.port, access_log=None, shutdown_timeout=1,
                print=lambda _text: print("ready", flush=True))


if __name__ == "__main__":
    main()
