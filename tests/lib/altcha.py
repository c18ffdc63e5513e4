"""A browser's side of ALTCHA: does the work of a challenge, and writes down the answer."""

import base64
import hashlib
import json


def derived(challenge, counter):
    """The solution that this counter gives, be it the right one or not."""
    parameters = challenge["parameters"]
    text = bytes.fromhex(parameters["salt"]) + bytes.fromhex(parameters["nonce"]) + counter.to_bytes(4, "big")
    return {"counter": counter, "derivedKey": hashlib.sha256(text).hexdigest(), "time": 150.5}


def solve(challenge):
    """The right one."""
    for counter in range(100_000):
        solution = derived(challenge, counter)
        if solution["derivedKey"].startswith(challenge["parameters"]["keyPrefix"]):
            return solution
    raise AssertionError("no counter gives that key")


def dump(value):
    return json.dumps(value, separators=(",", ":")).encode()


def pack(value):
    return base64.b64encode(dump(value)).decode()


def answer(challenge, solution=None):
    """What the widget puts into its form field."""
    return pack({"challenge": challenge, "solution": solution or solve(challenge)})
