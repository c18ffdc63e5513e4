"""A request under way while the test does something else, and the end of what it may have left behind."""

import threading

from lib.wait import PATIENCE, until

# Where a worker can die on its way, and whether what it was about stands then.
ORDER_STEPS = [("order.before_claim", False), ("order.claimed", False), ("order.before_transaction", False),
               ("order.committed", True), ("order.consumed", True)]


class BackgroundCall:
    """A call under way in a thread of its own."""

    def __init__(self, call):
        self.answer = None
        self._thread = threading.Thread(target=self._run, args=(call,))
        self._thread.start()

    def _run(self, call):
        self.answer = call()

    def wait(self, seconds=20):
        self._thread.join(seconds * PATIENCE)
        assert not self._thread.is_alive()
        return self.answer


def overdue(parts, queue):
    """The lease of the queue's claim has run out; or the claim is gone, because a reconcile of before was so late."""
    key = f"sluice:{{{queue}}}:claimed"

    def is_over():
        seconds, micros = parts.redis.time()
        ends = [end for _, end in parts.redis.zrange(key, 0, -1, withscores=True)]
        return not ends or max(ends) < seconds * 1000 + micros // 1000
    until(is_over, 10, "end of the lease")
