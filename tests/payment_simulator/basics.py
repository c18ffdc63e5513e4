"""What both APIs and the way of a call share."""

from datetime import datetime, timedelta, timezone

KST = timezone(timedelta(hours=9))


class Reply:
    """An answer, and how it is to be spoiled on its way."""

    def __init__(self, status, body, code=None):
        self.status, self.body, self.code = status, body, code
        self.faults = {}


class Dropped(Exception):
    """The connection is to be closed without a word."""


def kst(moment):
    """Seconds since 1970 as the time in Seoul, without a zone; None stays None."""
    return None if moment is None else datetime.fromtimestamp(moment, KST).strftime("%Y-%m-%dT%H:%M:%S")


def part_of_vat(amount, tax_free):
    """The VAT within an amount, as both providers reckon it: an eleventh, halves rounded up."""
    return ((amount - tax_free) * 2 + 11) // 22


def vat_to_give_back(payment, amount, tax_free):
    """The same for a part that is given back; the last part takes what is left."""
    left = payment["vat"] - payment["canceled_vat"]
    if amount == payment["total"] - payment["canceled"]:
        return left
    return min(part_of_vat(amount, tax_free), left)
