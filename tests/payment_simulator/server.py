"""The HTTP in front of it: who may call, which call it is, and how an answer is spoiled."""

import json
import re
import socketserver
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, unquote, urlsplit

import pages
from basics import Dropped, Reply

BODY_MAX = 256 * 1024
KAKAOPAY = re.compile(r"/online/v1/payment/(ready|approve|cancel|order)")
TOSS_READ = re.compile(r"/v1/payments/(orders/)?([^/]+)")
TOSS_CANCEL = re.compile(r"/v1/payments/([^/]+)/cancel")
PAGE = re.compile(r"/pay/([A-Za-z0-9_-]{1,64})")
KEY_MAX = 300
DRIP_S = 0.2


class Handler(BaseHTTPRequestHandler):
    """One connection."""

    protocol_version = "HTTP/1.1"
    server_version, sys_version = "payment-simulator", ""
    timeout = 60

    def log_message(self, format, *arguments):  # pylint: disable=redefined-builtin
        pass

    def address_string(self):
        return "client"

    @property
    def sim(self):
        return self.server.simulator

    def do_GET(self):
        self.route("GET")

    def do_HEAD(self):
        self.route("HEAD")

    def do_POST(self):
        self.route("POST")

    def route(self, method):
        try:
            body = self.take_body()
            if body is None:
                return self.send(413, b"", "text/plain")
            place = urlsplit(self.path)
            page = PAGE.fullmatch(place.path)
            if page:
                return self.page(method, page[1], place.query, body)
            if place.path == "/alive":
                return self.send(200, b"{}")
            if place.path.startswith("/_sim/"):
                return self.own(method, place, body)
            return self.api(method, place.path, body)
        except Dropped:
            self.close_connection = True
        except (BrokenPipeError, ConnectionResetError, TimeoutError):
            self.close_connection = True

    def take_body(self):
        length = self.headers.get("Content-Length", "0")
        if not length.isdigit() or int(length) > BODY_MAX or self.headers.get("Transfer-Encoding"):
            self.close_connection = True
            return None
        return self.rfile.read(int(length))

    # Answers: head and body in one write, or a client would wait for an acknowledgement in between

    def send(self, status, body, kind="application/json;charset=UTF-8", headers=(), length=None):
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body) if length is None else length))
        for name, value in headers:
            self.send_header(name, value)
        if self.close_connection:
            self.send_header("Connection", "close")
        self._headers_buffer.append(b"\r\n" + (b"" if self.command == "HEAD" else body))
        self.flush_headers()

    def answer(self, reply):
        body = json.dumps(reply.body, ensure_ascii=False).encode()
        faults = reply.faults
        if "drop_after_commit" in faults:
            raise Dropped
        if "http_500_after" in faults:
            return self.send(500, b'{"message": "Internal Server Error"}')
        if "redirect" in faults:
            return self.send(302, b"", headers=[("Location", "/alive")])
        if "bad_json" in faults:
            return self.send(reply.status, b"<html><body>" + body + b"</body></html>")
        if "empty" in faults:
            return self.send(reply.status, b"{}")
        if "huge" in faults:
            return self.send(reply.status, body[:-1] + b', "padding": "' + b"x" * 2**20 + b'"}')
        if "half_json" in faults:
            self.close_connection = True
            return self.send(reply.status, body[:len(body) // 2], length=len(body))
        if "slow_drip" in faults:
            return self.drip(reply.status, body)
        return self.send(reply.status, body)

    def drip(self, status, body):
        self.close_connection = True
        self.send(status, b"", length=len(body))
        for index in range(len(body)):
            time.sleep(DRIP_S)
            self.wfile.write(body[index:index + 1])

    # The providers' APIs

    def api(self, method, path, body):
        key = self.headers.get("Authorization", "")
        kakaopay = KAKAOPAY.fullmatch(path)
        if kakaopay and method == "POST":
            if not self.sim.knows_key(key):
                return self.send(401, b'{"error_code": -401, "error_message": "invalid secret key"}')
            fields = self.fields(body)
            if fields is None:
                return self.send(400, b'{"error_code": -2, "error_message": "the body is no JSON object"}')
            subject = str(fields.get("partner_order_id" if kakaopay[1] == "ready" else "tid", ""))
            return self.answer(self.sim.serve("kakaopay", kakaopay[1], subject, fields,
                                              header=self.headers.get("X-Sim-Fault", "")))
        if path.startswith("/v1/payments"):
            if not self.sim.knows_basic(key):
                return self.send(401, b'{"code": "UNAUTHORIZED_KEY", "message": "unknown key"}')
            return self.toss(method, path, body)
        return self.send(404, b'{"message": "Not Found"}')

    def toss(self, method, path, body):
        fault = self.headers.get("X-Sim-Fault", "")
        wanted = self.headers.get("TossPayments-Test-Code")
        if wanted:
            fault = f"error={wanted}"
        read = TOSS_READ.fullmatch(path)
        if method == "GET" and read:
            name = unquote(read[2])
            fields = {"orderId" if read[1] else "paymentKey": name}
            return self.answer(self.sim.serve("toss", "order", name, fields, header=fault))
        fields = self.fields(body)
        key = self.headers.get("Idempotency-Key")
        if method != "POST" or fields is None or (key is not None and not 1 <= len(key) <= KEY_MAX):
            code = "INVALID_IDEMPOTENCY_KEY" if fields is not None and method == "POST" else "INVALID_REQUEST"
            return self.send(400, json.dumps({"code": code, "message": code}).encode())
        cancel = TOSS_CANCEL.fullmatch(path)
        if path == "/v1/payments":
            call, subject = "ready", str(fields.get("orderId", ""))
        elif path == "/v1/payments/confirm":
            call, subject = "approve", str(fields.get("paymentKey", ""))
        elif cancel:
            call, subject = "cancel", unquote(cancel[1])
            fields["paymentKey"] = subject
        else:
            return self.send(404, b'{"code": "NOT_FOUND", "message": "Not Found"}')
        return self.answer(self.sim.serve("toss", call, subject, fields, key, f"POST {path}", fault))

    @staticmethod
    def fields(body):
        try:
            value = json.loads(body or b"{}")
        except (ValueError, RecursionError):
            return None
        return value if isinstance(value, dict) else None

    # The page

    def page(self, method, token, query, body):
        language = pages.language(parse_qs(query).get("lang", [""])[0], self.headers.get("Accept-Language", ""))
        if method == "POST":
            form = parse_qs(body.decode(errors="replace"))
            where = pages.press(self.sim, token, form.get("action", [""])[0], form.get("method", ["money"])[0])
            if where:
                return self.send(302, b"", headers=[("Location", where), ("Cache-Control", "no-store"),
                                                    ("Referrer-Policy", "no-referrer")])
        status, text = pages.show(self.sim, token, language, opened=method == "GET")
        return self.send(status, text.encode(), "text/html; charset=utf-8", pages.HEADERS)

    # For tests

    def own(self, method, place, body):
        if not self.sim.knows_key(self.headers.get("Authorization", "")):
            return self.send(401, b"{}")
        order = parse_qs(place.query).get("order", [None])[0]
        if place.path == "/_sim/faults" and method == "POST":
            try:
                self.sim.set_behaviour(json.loads(body or b"{}"))
            except (ValueError, KeyError, TypeError, AttributeError) as error:
                return self.send(400, json.dumps({"message": str(error)}).encode())
        found = {"/_sim/faults": lambda: self.sim.behaviour, "/_sim/ledger": lambda: self.sim.ledger.listing(order),
                 "/_sim/calls": lambda: self.sim.ledger.calls(order)}.get(place.path)
        return self.answer(Reply(200, found())) if found else self.send(404, b"{}")


class TcpServer(ThreadingHTTPServer):
    """On the loopback."""

    daemon_threads = True
    request_queue_size = 1024

    def __init__(self, address, simulator):
        super().__init__(address, Handler)
        self.simulator = simulator


class SocketServer(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    """On a Unix socket."""

    daemon_threads = True
    request_queue_size = 1024

    def __init__(self, path, simulator):
        super().__init__(path, Handler)
        self.simulator = simulator
