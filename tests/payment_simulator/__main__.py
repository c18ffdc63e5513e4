#!/usr/bin/python3
"""A payment provider that takes no money: speaks KakaoPay's online API and Toss Payments' confirm flow.

    python3 tests/payment_simulator --ledger FILE --secret-file FILE [--port N | --socket PATH] [options]

Listens on 127.0.0.1 (--port 0: any free port) or on a Unix socket and prints `ready: ADDRESS`. Each payment has a page
on which somebody presses pay, cancel or fail; what was taken and given back is in the ledger, an SQLite file, before
an answer goes out. It misbehaves on demand: see faults.py. Nothing here knows anything of Sluice.

    POST /online/v1/payment/{ready,approve,cancel,order}                     KakaoPay
    POST /v1/payments, /v1/payments/confirm, /v1/payments/KEY/cancel         Toss Payments
    GET  /v1/payments/KEY, /v1/payments/orders/ID
    GET, POST /pay/TOKEN                                                     the page
    GET  /alive
    GET  /_sim/ledger[?order=ID], /_sim/calls[?order=ID], /_sim/faults       for tests, with the same secret
    POST /_sim/faults
"""

import argparse
import os
import signal
import sys
from pathlib import Path

from ledger import Ledger
from server import SocketServer, TcpServer
from simulator import Simulator


def options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ledger", required=True, type=Path, help="SQLite file; made where it is missing")
    parser.add_argument("--secret-file", required=True, type=Path, help="the secret key that callers must show")
    place = parser.add_mutually_exclusive_group()
    place.add_argument("--port", type=int, default=0, help="TCP port on 127.0.0.1; 0: any (default)")
    place.add_argument("--socket", type=Path, help="Unix socket; its folder says who may reach it")
    parser.add_argument("--public-url", help="what the addresses of pages begin with; may be a path of the shop's site")
    parser.add_argument("--cid", action="append", help="shop ids that are known (default: TC0ONETIME)")
    parser.add_argument("--session-seconds", type=float, default=900, help="life of a KakaoPay session")
    parser.add_argument("--confirm-seconds", type=float, default=600, help="life of a Toss session")
    return parser.parse_args()


def main():
    chosen = options()
    secret = chosen.secret_file.read_text().strip()
    if not secret:
        sys.exit(f"{chosen.secret_file} holds no secret")
    simulator = Simulator(Ledger(chosen.ledger), secret, chosen.cid or ["TC0ONETIME"],
                          {"kakaopay": chosen.session_seconds, "toss": chosen.confirm_seconds})
    if chosen.socket:
        chosen.socket.unlink(missing_ok=True)
        server = SocketServer(str(chosen.socket), simulator)
        chosen.socket.chmod(0o666)
        address = f"unix:{chosen.socket}"
    else:
        server = TcpServer(("127.0.0.1", chosen.port), simulator)
        address = f"http://127.0.0.1:{server.server_port}"
    simulator.public_url = (address if chosen.public_url is None else chosen.public_url).rstrip("/")
    # All that counts is in the ledger already.
    signal.signal(signal.SIGTERM, lambda number, frame: os._exit(0))
    signal.signal(signal.SIGINT, lambda number, frame: os._exit(0))
    print(f"ready: {address}", flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
