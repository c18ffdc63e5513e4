"""How the simulator misbehaves.

A fault is a word, written [CALL.]WORD[=VALUE][*TIMES]. CALL is ready, approve, cancel or order (Toss: the same names
for POST /v1/payments, confirm, cancel and the look-ups); without it every call is meant. TIMES: only the first so many
of these calls of a payment. Several stand with commas between. They come from three places, and add up:

  - the item's name, ending in `sim:FAULTS`, for this payment;
  - the header X-Sim-Fault, for this call;
  - POST /_sim/faults, for everybody:
        {"rules": [{"fault": "approve.drop_after_commit", "probability": 0.1}, ...], "seed": 7,
         "outage": {"seconds": 3, "calls": ["approve"], "how": "drop"}, "skew_ms": 0, "webhook": {"url": ..}}
    replaces what was said before. The draw for a call depends on the seed, the payment's amount, the call and how many
    of them there were before, and on nothing else: with amounts of their own, payments meet the same fate every time,
    in whatever order they come.

Whatever happens, the look-up (order) never lies.
"""

import hashlib
import re

CALLS = ("ready", "approve", "cancel", "order")
WORDS = {
    "delay": int,              # ms, before anything is done
    "drop_before_commit": None,  # the connection is closed, nothing was done
    "http_500_before": None,   # 500, nothing was done
    "error": str,              # refused with this code, nothing was done
    "refuse": str,             # the same, and Toss stores it under the call's Idempotency-Key
    "late": int,               # the connection is closed, and it is done that many ms later
    "late_error": int,         # 500 at once, and it is done that many ms later
    "decline": str,            # approve: the means of payment refuses, with this code
    "expire": None,            # the session's time is over
    "duplicate": None,         # done twice; the answer is that to the second
    "delay_after": int,        # ms, between commit and answer
    "drop_after_commit": None,  # done, and the connection is closed
    "http_500_after": None,    # done, and 500
    "bad_json": None,          # done, and the answer is no JSON
    "half_json": None,         # done, and the connection is closed within the answer
    "empty": None,             # done, and 200 with an empty object
    "huge": None,              # done, and a megabyte of answer
    "slow_drip": None,         # done, and the answer takes minutes
    "wrong_amount": None,      # done, and the answer tells another amount
    "redirect": None,          # done, and 302 to elsewhere
}
LONGEST_MS = 600_000
PATTERN = re.compile(r"(?:(\w+)\.)?(\w+)(?:=([\w-]+))?(?:\*(\d+))?")


class Fault:
    """One word and whom it is for."""

    def __init__(self, text):
        match = PATTERN.fullmatch(text)
        if not match or match[2] not in WORDS or (match[1] and match[1] not in CALLS):
            raise ValueError(f"no fault: {text!r}")
        self.call, self.word, self.times = match[1], match[2], int(match[4]) if match[4] else None
        kind = WORDS[self.word]
        if (kind is None) != (match[3] is None):
            raise ValueError(f"{self.word} takes {'no' if kind is None else 'a'} value: {text!r}")
        self.value = True if kind is None else kind(match[3])
        if kind is int and not 0 <= self.value <= LONGEST_MS:
            raise ValueError(f"not within 0..{LONGEST_MS}: {text!r}")

    def meets(self, call, before):
        return self.call in (None, call) and (self.times is None or before < self.times)


def parse(text):
    return [Fault(piece.strip()) for piece in text.split(",") if piece.strip()]


def of_item(name):
    """The faults in an item's name. What is no fault is a name."""
    _, mark, text = name.rpartition("sim:")
    try:
        return parse(text) if mark else []
    except ValueError:
        return []


def drawn(seed, index, call, amount, before):
    """A number in [0, 1) that is always the same for the same question."""
    text = f"{seed}|{index}|{call}|{amount}|{before}".encode()
    return int.from_bytes(hashlib.sha256(text).digest()[:7], "big") / 2**56


def check_behaviour(value):
    """Raises ValueError where it is none."""
    for rule in value.get("rules", []):
        Fault(rule["fault"])
        if not 0 <= rule.get("probability", 1) <= 1:
            raise ValueError("probability is not within 0..1")
    outage = value.get("outage")
    if outage and (outage.get("how", "drop") not in ("drop", "503") or outage["seconds"] < 0 or
                   not set(outage.get("calls", CALLS)) <= set(CALLS)):
        raise ValueError("no such outage")


class Chosen(dict):
    """The faults of one call: word to value."""

    def __init__(self, faults, call, before):
        super().__init__({fault.word: fault.value for fault in faults if fault.meets(call, before)})

    def text(self):
        return ",".join(word if value is True else f"{word}={value}" for word, value in self.items())


def choose(behaviour, call, before, amount, item_name, header):
    """What goes wrong with the call that has `before` like it behind it."""
    seed = behaviour.get("seed", 0)
    faults = [fault for index, rule in enumerate(behaviour.get("rules", []))
              for fault in [Fault(rule["fault"])]
              if drawn(seed, index, call, amount, before) < rule.get("probability", 1)]
    return Chosen([*faults, *of_item(item_name), *parse(header)], call, before)
