"""What the parts have written down, and what must not stand there."""

import json
import re

SANITIZER = re.compile(r"ERROR: AddressSanitizer|ERROR: LeakSanitizer|runtime error:|UndefinedBehaviorSanitizer"
                       r"|AddressSanitizer:DEADLYSIGNAL|stack smashing|Assertion .* failed")
# One of these stands in every line that is looked for: the logs of a long run are gone through by these alone.
MARKS = ("Sanitizer", "runtime error:", "stack smashing", "Assertion ", '"level":"error"')


def texts_of(folder):
    for path in sorted(folder.glob("*.log")):
        yield path.name, path.read_text(errors="replace")


def lines_with(text, *words):
    """The lines that have one of these words, each once, in the order of the text."""
    found = {}
    for word in words:
        at = text.find(word)
        while at >= 0:
            begin, end = text.rfind("\n", 0, at) + 1, text.find("\n", at)
            end = len(text) if end < 0 else end
            found[begin] = text[begin:end]
            at = text.find(word, end)
    return [line for _, line in sorted(found.items())]


def lines_of(folder):
    for name, text in texts_of(folder):
        for line in text.splitlines():
            yield name, line


def events(folder, event=None):
    """The JSON lines of our programs."""
    found = []
    for name, line in lines_of(folder):
        if line.startswith("{") and name != "access.log":
            if event and f'"event":"{event}"' not in line and line.endswith("}"):
                continue
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
    for name, text in texts_of(folder):
        for line in lines_with(text, *MARKS):
            if SANITIZER.search(line):
                found.append(f"{name}: {line}")
            elif '"level":"error"' in line and not any(f'"event":"{event}"' in line for event in allowed):
                found.append(f"{name}: {line}")
    return found


def assert_clean(folder, allowed=(), secrets=()):
    found = complaints(folder, allowed)
    assert not found, "\n".join(found[:40])
    for _, text in texts_of(folder):
        for secret in secrets:
            assert secret not in text, "a secret stands in a log"
