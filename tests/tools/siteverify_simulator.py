#!/usr/bin/python3
"""The judges of Turnstile, hCaptcha and reCAPTCHA, each at its own path, for tests.

    siteverify_simulator.py [--tls CERTIFICATE KEY]

Listens on a free port of 127.0.0.1 and prints it. What the providers have published for tests counts: their secrets
and the tokens that go with them. With the secret "simulator-secret" a token counts that reads
sim~HOSTNAME~ACTION~ISSUED~ANYTHING (ISSUED in seconds since 1970): once, and while it is young enough.

POST /_fault with one of the words of FAULTS (or nothing) decides how it misbehaves from then on; GET /_asked lists
the fields of every question so far.
"""

import argparse
import json
import ssl
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs

SECRET = "simulator-secret"
FAULTS = ("silent", "slow", "drop", "status-500", "status-429", "redirect", "no-json", "no-success", "success-text",
          "list", "huge", "huge-chunks", "huge-headers", "cut", "broken-inside", "many-words")
HOURS = 3600


class Provider:
    """One provider: what its test secrets say, and how it words a refusal."""

    def __init__(self, life, used, takes_json=False, **test_secrets):
        self.life, self.used, self.takes_json = life, used, takes_json
        self.test_secrets = test_secrets
        self.spent = set()
        self.lock = threading.Lock()

    def judge(self, secret, response):
        if not secret:
            return refuse("missing-input-secret")
        if not response:
            return refuse("missing-input-response")
        for test_secret, verdict in self.test_secrets.values():
            if secret == test_secret:
                return verdict(response)
        if secret != SECRET:
            return refuse("invalid-input-secret")
        return self.judge_own(response)

    def judge_own(self, token):
        parts = token.split("~")
        if len(parts) != 5 or parts[0] != "sim" or not parts[3].isdigit():
            return refuse("invalid-input-response")
        with self.lock:
            if token in self.spent or time.time() - int(parts[3]) > self.life:
                return refuse(self.used)
            self.spent.add(token)
        return accept(parts[1], parts[2])


def accept(hostname, action=""):
    return {"success": True, "error-codes": [], "challenge_ts": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
            "hostname": hostname, "action": action, "cdata": ""}


def refuse(*codes):
    return {"success": False, "error-codes": list(codes)}


def hcaptcha_dummy(response):
    good = response == "10000000-aaaa-bbbb-cccc-000000000001"
    return accept("dummy-key-pass") if good else refuse("not-using-dummy-passcode")


PROVIDERS = {
    "/turnstile/v0/siteverify": Provider(
        300, "timeout-or-duplicate", takes_json=True,
        passes=("1x0000000000000000000000000000000AA", lambda response: accept("example.com")),
        fails=("2x0000000000000000000000000000000AA", lambda response: refuse("invalid-input-response")),
        spent=("3x0000000000000000000000000000000AA", lambda response: refuse("timeout-or-duplicate"))),
    "/siteverify": Provider(
        120, "already-seen-response", passes=("0x" + "0" * 40, hcaptcha_dummy)),
    "/recaptcha/api/siteverify": Provider(
        120, "timeout-or-duplicate",
        passes=("6LeIxAcTAAAAAGG-vFI1TnRWxMZNFuojJ4WifJWe", lambda response: accept("testkey.google.com"))),
}


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *arguments):
        pass

    def do_GET(self):
        if self.path == "/_asked":
            return self.answer(200, self.server.asked)
        if self.path == "/_elsewhere":
            return self.answer(200, accept("shop.test"))
        return self.answer(404, {})

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0))).decode()
        if self.path == "/_fault":
            assert body == "" or body in FAULTS, body
            self.server.fault = body
            return self.answer(200, {})
        if self.path == "/_elsewhere":
            return self.answer(200, accept("shop.test"))
        provider = PROVIDERS.get(self.path)
        if provider is None:
            return self.answer(404, {})
        fields = self.fields(provider, body)
        self.server.asked.append({"path": self.path, "type": self.headers.get("Content-Type"), **fields})
        if self.server.fault:
            return getattr(self, "fault_" + self.server.fault.replace("-", "_"))()
        return self.answer(200, provider.judge(fields.get("secret"), fields.get("response")))

    def fields(self, provider, body):
        if self.headers.get("Content-Type", "").startswith("application/json") and provider.takes_json:
            return json.loads(body)
        return {name: values[0] for name, values in parse_qs(body, keep_blank_values=True).items()}

    def answer(self, status, value, **headers):
        self.send(status, json.dumps(value).encode(), **headers)

    def send(self, status, body, **headers):
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(body)

    # Faults

    def fault_silent(self):
        self.server.over.wait(HOURS)
        self.close_connection = True

    def fault_slow(self):
        """Alive all the time, and never done."""
        self.send_response(200)
        self.send_header("Content-Length", "10000")
        self.end_headers()
        try:
            while not self.server.over.wait(0.05):
                self.wfile.write(b" ")
                self.wfile.flush()
        except OSError:
            self.close_connection = True

    def fault_drop(self):
        self.close_connection = True

    def fault_status_500(self):
        self.answer(500, accept("shop.test"))

    def fault_status_429(self):
        self.answer(429, accept("shop.test"))

    def fault_redirect(self):
        self.answer(307, accept("shop.test"), Location=f"http://127.0.0.1:{self.server.server_port}/_elsewhere")

    def fault_no_json(self):
        self.send(200, b"<html>success: true</html>")

    def fault_no_success(self):
        self.answer(200, {"hostname": "shop.test"})

    def fault_success_text(self):
        self.answer(200, {**accept("shop.test"), "success": "true"})

    def fault_list(self):
        self.answer(200, [accept("shop.test")])

    def fault_huge(self):
        self.send_response(200)
        self.send_header("Content-Length", str(10**9))
        self.end_headers()
        self.pour(b"x" * 65536)

    def fault_huge_chunks(self):
        self.send_response(200)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        self.pour(b"8000\r\n" + b" " * 0x8000 + b"\r\n")

    def fault_huge_headers(self):
        self.wfile.write(b"HTTP/1.1 200 OK\r\n")
        self.pour(b"X-Much: " + b"x" * 1000 + b"\r\n")

    def pour(self, piece):
        try:
            while not self.server.over.is_set():
                self.wfile.write(piece)
        except OSError:
            self.close_connection = True

    def fault_cut(self):
        self.send_response(200)
        self.send_header("Content-Length", "1000")
        self.end_headers()
        self.wfile.write(json.dumps(accept("shop.test")).encode())
        self.close_connection = True

    def fault_broken_inside(self):
        self.answer(200, refuse("internal-error"))

    def fault_many_words(self):
        self.send(200, json.dumps(accept("shop.test")).encode() + b" and more")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tls", nargs=2, metavar=("CERTIFICATE", "KEY"))
    options = parser.parse_args()
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    server.fault, server.asked, server.over = "", [], threading.Event()
    if options.tls:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*options.tls)
        # Each connection greets in its own thread: one that does not want to must not end the server.
        server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    print(server.server_port, flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
