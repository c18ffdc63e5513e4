"""The lottery's draw once more, from its description alone: what Lua and C are held to."""

import hashlib
import hmac
import math

PRIME, SMALL = 2**31 - 1, 2**26


class Draw:
    def __init__(self, seed, ranges):
        self.ranges = [tuple(map(int, part.split("-"))) for part in ranges.split(",")]
        self.count = sum(to - start + 1 for start, to in self.ranges)
        self.side = (math.isqrt(self.count - 1) + 2) // 2 * 2
        self.keys = []
        for number in range(1, 9):
            digest = hashlib.sha1(f"{seed}:{number}".encode()).hexdigest()
            a, b, c, d = (int(digest[i:i + 8], 16) for i in range(0, 32, 8))
            self.keys.append((a % PRIME, b % PRIME, c % SMALL, d % SMALL))

    def index(self, number):
        before = 0
        for start, to in self.ranges:
            if start <= number <= to:
                return before + number - start
            before += to - start + 1
        return None

    @staticmethod
    def mixed(half, a, b, c, d):
        x = (half * a + b) % PRIME
        return (x % 65536 + c) * (x // 65536 + d) % PRIME

    def place(self, number):
        at = self.index(number)
        while at is not None:
            left, right = divmod(at, self.side)
            for key in self.keys:
                left, right = right, (left + self.mixed(right, *key)) % self.side
            at = left * self.side + right
            if at < self.count:
                return at
        return None

    def number(self, place):
        """Who has this place, below `count`: the same backwards."""
        at = place
        while True:
            left, right = divmod(at, self.side)
            for key in reversed(self.keys):
                left, right = (right - self.mixed(left, *key)) % self.side, left
            at = left * self.side + right
            if at < self.count:
                break
        for start, to in self.ranges:
            if at <= to - start:
                return start + at
            at -= to - start + 1
        return None


def list_hash(lines):
    value = ""
    for line in lines:
        value = hashlib.sha1(f"{value} {line}".encode()).hexdigest()
    return value


def seed_of(secret, queue, epoch, list_hash_text, ranges):
    return hmac.new(secret.encode(), f"{queue} {epoch} {list_hash_text} {ranges}".encode(), hashlib.sha256).hexdigest()
