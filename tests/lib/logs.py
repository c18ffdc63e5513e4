"""What the parts have written down, and what must not stand there."""

import json
import re

SANITIZER = re.compile(r"ERROR: AddressSanitizer|ERROR: LeakSanitizer|runtime error:|UndefinedBehaviorSanitizer"
                       r"|AddressSanitizer:DEADLYSIGNAL|stack smashing|Assertion .* failed")


def lines_of(folder):
    for path in sorted(folder.glob("*.log")):
        for line in path.read_text(errors="replace").splitlines():
            yield path.name, line


def events(folder, event=None):
    """The JSON lines of our programs."""
    found = []
    for name, line in lines_of(folder):
        if line.startswith("{") and name != "access.log":
            try:
                entry = json.loads(line)
            except ValueError as error:
                raise AssertionError(f"{name}: a line that is no JSON: {line!r}") from error
            if event is None or entry.get("event") == event:
                found.append(entry)
    return found


def complaints(folder, allowed=()):
    """Reports of sanitizers, and lines of level error whose event was not allowed."""
    found = []
    for name, line in lines_of(folder):
        if SANITIZER.search(line):
            found.append(f"{name}: {line}")
        elif '"level":"error"' in line and not any(f'"event":"{event}"' in line for event in allowed):
            found.append(f"{name}: {line}")
    return found


def assert_clean(folder, allowed=(), secrets=()):
    found = complaints(folder, allowed)
    assert not found, "\n".join(found[:40])
    text = "\n".join(line for _, line in lines_of(folder))
    for secret in secrets:
        assert secret not in text, "a secret stands in a log"
