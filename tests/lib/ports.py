"""TCP ports that nobody uses."""

import random
import socket

# Below those that the kernel gives to clients: none of these takes one between our look and the server's start.
PORTS = range(20_000, 32_768)
_dice, _given = random.SystemRandom(), set()


def free_port():
    """A port of the loopback that was free a moment ago, and that nobody in this process was given."""
    while True:
        port = _dice.choice(PORTS)
        if port in _given:
            continue
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
        _given.add(port)
        return port
