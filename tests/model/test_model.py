"""The admission protocol as a model: spin walks through every order in which its steps can happen.

Each sound run lets some things go wrong and must find no broken promise in any state; together they let go wrong whatever
the model knows of. Each fault leaves one rule out of the protocol, and spin must find the promise that this breaks.
"""

import re
import subprocess
from pathlib import Path

import pytest

MODEL = Path(__file__).parent / "admission.pml"
LIMITS = {"CRASHES": 0, "ROLLBACKS": 0, "LOSSES": 0, "OVERRUNS": 0, "EXPIRIES": 0, "SETBACKS": 0, "PAUSES": 0, "SCHEDULERS": 1}
SECONDS = 240
# What an assertion of the model is about.
PROMISES = {
    "credit>0": "RATE",
    "MAX_ACTIVE": "ROOM",
    "forgotten": "ROOM",
    "in_line": "ORDER",
    "used": "ONCE",
    "owed": "LOST",
    "place[m]==0": "LOST",
    "outbox_rows==0": "LOST",
}


def explore(directory, *, fault=None, **limits):
    """Builds the model's verifier and has it visit every state. Returns how many there are, and the promise that is
    broken or None."""
    defines = [f"-D{name}={value}" for name, value in {**LIMITS, **limits}.items()]
    if fault:
        defines.append(f"-DFAULT_{fault}")
    subprocess.run(["spin", "-a", *defines, MODEL], cwd=directory, check=True, timeout=60, capture_output=True)
    subprocess.run(["gcc", "-O0" if fault else "-O1", "-w", "-DSAFETY", "-DCOLLAPSE", "-DMEMLIM=3000", "-o", "pan", "pan.c"], cwd=directory,
                   check=True, timeout=120)
    said = subprocess.run(["./pan", "-m100000", "-w22"], cwd=directory, check=True, timeout=SECONDS, text=True,
                          capture_output=True).stdout
    assert "Search not completed" not in said or "assertion violated" in said, said
    assert "max search depth too small" not in said, said
    states = int(re.search(r"(\d+) states, stored", said)[1])
    broken = re.search(r"^pan:\d+: (.*?) \(at depth", said, re.MULTILINE)
    if not broken:
        assert "errors: 0" in said, said
        return states, None
    return states, next((promise for text, promise in PROMISES.items() if text in broken[1]), broken[1])


@pytest.mark.parametrize("limits", [
    {"CRASHES": 1, "OVERRUNS": 1, "RETURNING": 0},
    {"CRASHES": 1, "ROLLBACKS": 1},
    {"OVERRUNS": 1, "ROLLBACKS": 1},
    {"PAUSES": 1, "EXPIRIES": 1, "MEMBERS": 3, "RETURNING": 0, "WORKERS": 1, "SCHEDULERS": 2},
    {"SETBACKS": 1, "CRASHES": 1, "RETURNING": 0},
    {"LOSSES": 1},
    {"LOSSES": 1, "CRASHES": 1, "RETURNING": 0},
    {"LOSSES": 1, "OVERRUNS": 1, "RETURNING": 0},
    {"LOSSES": 1, "ROLLBACKS": 1, "RETURNING": 0},
    {"LOSSES": 1, "PAUSES": 1, "EXPIRIES": 1, "RETURNING": 0, "WORKERS": 1, "SCHEDULERS": 2},
], ids=lambda limits: "-".join(name.lower() for name in limits if name in LIMITS))
def test_no_order_of_steps_breaks_a_promise(limits, tmp_path):
    states, broken = explore(tmp_path, **limits)
    print(f"{states} states")
    assert broken is None
    assert states > 1000


@pytest.mark.parametrize("fault, breaks, limits", [
    ("LAST_FIRST", {"ORDER"}, {}),
    ("NO_RECOVERY_WAIT", {"ORDER"}, {"LOSSES": 1, "RETURNING": 0}),
    ("COUNTER_RESTARTS", {"ORDER", "ONCE"}, {"LOSSES": 1, "RETURNING": 0}),
    ("LOOK_THEN_ACT", {"RATE", "ROOM"}, {"PAUSES": 1, "SCHEDULERS": 2}),
    ("BUCKET_IS_FULL", {"RATE"}, {"LOSSES": 1, "RETURNING": 0}),
    ("LEASE_IS_THE_LAST_WORD", {"ROOM"}, {"OVERRUNS": 1}),
    ("NO_INCARNATION", {"ONCE"}, {"LOSSES": 1, "RETURNING": 0}),
    ("RAISE_DOES_NOT_WAIT", {"ONCE"}, {"LOSSES": 1, "RETURNING": 0}),
    ("SPENT_NOT_LOADED", {"ONCE"}, {"LOSSES": 1, "RETURNING": 0}),
    ("CONSUME_BY_MEMBER", {"LOST"}, {"CRASHES": 1}),
    ("RELEASE_BY_MEMBER", {"ROOM"}, {"ROLLBACKS": 1, "OVERRUNS": 1}),
    ("NO_ADMISSION_USE", {"ONCE"}, {"SETBACKS": 1, "RETURNING": 0}),
])
def test_each_rule_of_the_protocol_is_needed(fault, breaks, limits, tmp_path):
    _, broken = explore(tmp_path, fault=fault, **limits)
    assert broken in breaks
