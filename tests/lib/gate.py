"""Clients before a gated site: what each kind of client sends, browsers with their cookies, and passes made by hand."""

import hashlib
import hmac
import http.client
import json
import subprocess
from dataclasses import dataclass, replace

from lib.project import ROOT
from lib.tokens import decode, encode
from lib.wait import until

CHROME = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Safari/537.36"
HTML = "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8"
NAVIGATION = {"User-Agent": CHROME, "Accept": HTML, "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document",
              "Sec-Fetch-Site": "none", "Upgrade-Insecure-Requests": "1"}
FETCH = {"User-Agent": CHROME, "Accept": "*/*", "Sec-Fetch-Mode": "cors", "Sec-Fetch-Dest": "empty",
         "Sec-Fetch-Site": "same-origin"}
APP = {"User-Agent": "okhttp/4.12.0", "Accept": "application/json"}
PREFETCH = {**NAVIGATION, "Sec-Purpose": "prefetch;prerender"}

PURPOSE = b"sluice gate pass\n"


@dataclass
class Reply:
    status: int
    headers: list   # pairs; names in lower case
    body: bytes

    def all(self, name):
        return [value for key, value in self.headers if key == name]

    def get(self, name):
        """The only one of that name, None for none."""
        found = self.all(name)
        assert len(found) <= 1, found
        return found[0] if found else None

    @property
    def json(self):
        return json.loads(self.body)

    @property
    def is_page(self):
        """The waiting page, and no page of the shop."""
        return (self.get("content-type") or "").startswith("text/html") and b'id="state"' in self.body

    @property
    def face(self):
        """What the waiting page shows."""
        assert self.is_page, (self.status, self.headers, self.body[:300])
        return self.state["face"]

    @property
    def state(self):
        text = self.body.split(b'id="state">')[1].split(b"</script>")[0]
        return json.loads(text)

    @property
    def set_cookies(self):
        """Names of the cookies that it sets."""
        return [line.split("=")[0] for line in self.all("set-cookie")]


class Visitor:
    """A browser, or another client with a cookie jar. `keeps` False refuses cookies; `source` is its own address."""

    def __init__(self, port, headers=None, keeps=True, source=None):
        self.port, self.keeps, self.source = port, keeps, source
        self.headers = dict(NAVIGATION if headers is None else headers)
        self.cookies = {}

    def ask(self, path="/", method="GET", headers=None, body=None, timeout=30):
        sent = {**self.headers, **(headers or {})}
        if self.cookies:
            sent.setdefault("Cookie", "; ".join(f"{name}={value}" for name, value in self.cookies.items()))
        link = http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout,
                                          source_address=(self.source, 0) if self.source else None)
        try:
            link.request(method, path, body=body, headers={k: v for k, v in sent.items() if v is not None})
            answer = link.getresponse()
            reply = Reply(answer.status, [(k.lower(), v) for k, v in answer.getheaders()], answer.read())
        finally:
            link.close()
        if self.keeps:
            self._keep(reply.all("set-cookie"))
        return reply

    def _keep(self, lines):
        for line in lines:
            name, _, value = line.split(";")[0].partition("=")
            if "; Path=/;" not in line:
                continue  # not for the shop's pages
            if "Max-Age=0" in line:
                self.cookies.pop(name, None)
            else:
                self.cookies[name] = value

    def come_in(self, path="/", seconds=10):
        """Loads the page until the shop answers; returns that answer."""
        def through():
            reply = self.ask(path)
            return reply if reply.status != 503 else None
        return until(through, seconds, "a way through the gate", every=0.1)

    def is_through(self, path="/", **options):
        return self.ask(path, **options).status != 503

    def copy(self):
        """Another client that has got hold of the same cookies."""
        other = Visitor(self.port, self.headers)
        other.cookies = dict(self.cookies)
        return other

    def gate_pass(self, queue):
        return Pass.read(self.cookies[f"sluice_pass-{queue}"])

    def visitor_id(self):
        """As Sluice knows it, once there is a place."""
        ticket = next(value for name, value in self.cookies.items() if name.startswith("sluice_ticket"))
        return json.loads(decode(ticket.split(".")[1]))["sub"]


@dataclass(frozen=True)
class Pass:
    """The fields of a pass cookie."""
    kid: str
    kind: str
    queue: str
    epoch: str
    incarnation: str
    seq: str
    generation: str
    renewed: str
    ends: str
    admission: str
    subject: str

    @classmethod
    def read(cls, text):
        version, *fields = text.split(".", 11)
        assert version == "v1"
        subject, _, _mac = fields.pop().rpartition(".")
        return cls(*fields, subject)

    def but(self, **fields):
        return replace(self, **fields)

    def signed(self, secret):
        text = ".".join(("v1", *vars(self).values()))
        return f"{text}.{encode(hmac.digest(secret, PURPOSE + text.encode(), hashlib.sha256))}"


def secret_of(keys_file, kid="k1"):
    """The secret of one key of a ring."""
    lines = dict(line.split(":", 1) for line in keys_file.read_text().split())
    return decode(lines[kid])


def write_gate_files(directory, port):
    """The gate's files as scripts/run writes them, for the parts in `directory`; returns their folder."""
    script = """
        set -euo pipefail
        root=$1 run_dir=$2 data_dir=$2/data port=$3 pool_backlog=1024
        for name in common templates problem_pages nginx; do source "$root/scripts/lib/$name.sh"; done
        project_root=$root
        write_gate_files
        """
    done = subprocess.run(["bash", "-c", script, "gate", ROOT, directory, str(port)], capture_output=True, text=True,
                          timeout=180)
    assert done.returncode == 0, done.stderr
    return directory / "data" / "gate"


def write_installed_files(directory, output, *options):
    """The files that the package writes for the site's own nginx, for the parts in `directory`; returns their folder. `options`:
    further ones of scripts/site."""
    for folder in ("logs", "cache"):
        (output / folder).mkdir()
    done = subprocess.run([ROOT / "scripts" / "site", "--output", output, "--run", directory, "--logs", output / "logs",
                           "--cache", output / "cache", *options], capture_output=True, text=True, timeout=180)
    assert done.returncode == 0, done.stderr
    output.chmod(0o711)  # nginx's workers are another user
    return output / "nginx"
