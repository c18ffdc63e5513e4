"""What /metrics says."""

import re

LINE = re.compile(r'(sluice_\w+(?:\{\w+="[^"]*"(?:,\w+="[^"]*")*\})?) (-?\d+(?:\.\d+)?)')


def read(text):
    """Numbers by name and labels, as they stand there: sluice_x_total{a="b",c="d"}."""
    if isinstance(text, bytes):
        text = text.decode()
    numbers = {}
    for line in text.splitlines():
        if not line.startswith("#"):
            series, number = LINE.fullmatch(line).groups()
            assert series not in numbers, f"twice: {series}"
            numbers[series] = float(number)
    return numbers
