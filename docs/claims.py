#!/usr/bin/env python3
"""Holds documents that promise something against the tests that they name.

Usage: docs/claims.py DOCUMENT...

A test is named as `tests/integration/orders/test_orders.py::test_name` (a Python test, `::Class::test` within a class),
`tests/unit/test_jwt.c::test_name` (a C one), or `scripts/lint RULE`. Every test that is named must be there. A row of a
table whose last column is called Test must name one in that column. Prints what is wrong, and fails then.
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TEST = re.compile(r"`(tests/[\w./-]+)::(\w+(?:::\w+)?)`")
RULE = re.compile(r"`scripts/lint ([a-z-]+)`")
SEPARATOR = re.compile(r"^\|[\s:|-]+\|$")


def is_defined(path, name):
    """Whether the file has a test of that name."""
    file = ROOT / path
    if not file.is_file():
        return False
    text = file.read_text()
    if file.suffix == ".py":
        parts = name.split("::")
        place = 0
        for part in parts[:-1]:
            found = re.search(rf"^class {part}\b", text, re.M)
            if not found:
                return False
            place = found.start()
        indent = "    " if len(parts) > 1 else ""
        return re.search(rf"^{indent}(async )?def {parts[-1]}\(", text[place:], re.M) is not None
    return re.search(rf"^(TEST\({name}\)|(static )?void {name}\()", text, re.M) is not None


def rules():
    text = (ROOT / "scripts" / "lib" / "lint_rules.sh").read_text()
    return {name.replace("_", "-") for name in re.findall(r"^rule_(\w+)\(\)", text, re.M)}


def cells_of(line):
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def faults_of(text, known_rules):
    """(line number, sentence) of each fault."""
    header, header_before = None, None
    for number, line in enumerate(text.splitlines(), 1):
        for path, name in TEST.findall(line):
            if not is_defined(path, name):
                yield number, f"there is no test {path}::{name}"
        for rule in RULE.findall(line):
            if rule not in known_rules:
                yield number, f"there is no rule scripts/lint {rule}"
        if not line.startswith("|"):
            header = header_before = None
        elif SEPARATOR.match(line):
            header = header_before
        elif header is None:
            header_before = cells_of(line)
        elif header[-1] == "Test":
            cells = cells_of(line)
            if len(cells) != len(header):
                yield number, f"{len(cells)} columns, not {len(header)}"
            elif not TEST.search(cells[-1]) and not RULE.search(cells[-1]):
                yield number, f"names no test: {cells[0]}"


def main(paths):
    known_rules, wrong = rules(), 0
    for path in paths:
        for number, sentence in faults_of(Path(path).read_text(), known_rules):
            print(f"{path}:{number}: {sentence}")
            wrong += 1
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
