"""What clients have seen: every answer with the time before it was asked for and after it had come."""

from dataclasses import dataclass, field


@dataclass
class Seen:
    """One answer about a place in line."""
    number: int | None
    sent: float
    received: float
    status: str            # WAITING, READY, NOT_ENTERED
    rank: int | None
    token: str | None


@dataclass
class Turn:
    """Once in line: the number, and the times between which it was given."""
    number: int
    sent: float
    received: float


@dataclass
class Record:
    """All that one member knows at the end."""
    name: str
    number: int | None = None                    # that of the ticket
    turns: list = field(default_factory=list)    # one for each time in line
    seen: list = field(default_factory=list)
    orders: dict = field(default_factory=dict)   # order id → key it was made under
    keys: dict = field(default_factory=dict)     # key → order id
    seats: dict = field(default_factory=dict)    # seat → order id
    coupon: str | None = None
    results: list = field(default_factory=list)  # (word of the payment's result, order)
    canceled: set = field(default_factory=set)   # orders whose end was asked for
    left: bool = False
    stage: str = "not begun"
    over: bool = False


class Journal:
    """The records, and what was wrong as soon as it was seen."""

    def __init__(self):
        self.records = {}
        self.findings = []
        self.answers = 0
        self.refused = {}

    def record(self, name):
        return self.records.setdefault(name, Record(name))

    def finding(self, word, *details):
        self.findings.append((word, " ".join(str(detail) for detail in details)[:500]))

    def count(self, what):
        self.refused[what] = self.refused.get(what, 0) + 1
