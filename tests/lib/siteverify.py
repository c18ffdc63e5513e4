"""The simulated provider of captchas, as a process of its own."""

import secrets
import time

from lib.client import Http
from lib.processes import Process
from lib.project import ROOT
from lib.wait import until

PATHS = {"turnstile": "/turnstile/v0/siteverify", "hcaptcha": "/siteverify", "recaptcha": "/recaptcha/api/siteverify"}
SECRET = "simulator-secret"


class Siteverify:
    """Runs with its log in `directory`; `options` go to the simulator."""

    def __init__(self, directory, *options):
        log = directory / "siteverify.log"
        log.unlink(missing_ok=True)
        self.process = Process("siteverify", ["/usr/bin/python3", "-u", ROOT / "tests" / "tools" /
                                              "siteverify_simulator.py", *options], log)
        self.port = int(until(lambda: self.process.text().partition("\n")[0], 10, "port of the simulator"))
        self.http = Http(self.port)
        self.scheme = "https" if options else "http"

    def url(self, provider="turnstile", host="127.0.0.1"):
        return f"{self.scheme}://{host}:{self.port}{PATHS[provider]}"

    def fault(self, word=""):
        assert self.http.call("POST", "/_fault", data=word.encode()).status == 200

    def asked(self):
        """The fields of every question so far."""
        return self.http.call("GET", "/_asked").json

    def stop(self):
        self.process.kill()


def token(hostname="shop.test", action="", age=0):
    """A token that counts with SECRET, once."""
    return f"sim~{hostname}~{action}~{int(time.time()) - age}~{secrets.token_urlsafe(300)}"
