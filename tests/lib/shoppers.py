"""Shoppers who order as soon as they are let in, without the waiting before it: a line made in Redis, and whoever holds
a token there orders with it."""

import threading
import uuid
from concurrent.futures import ThreadPoolExecutor

GENERATIONS = 4096
AT_ONCE = 24


class Shoppers:
    """Orders of `sku` for everybody who is let into `queue`, until it is stopped."""

    def __init__(self, parts, queue, sku, count=5000):
        self.parts, self.queue, self.sku = parts, queue, sku
        self.name = uuid.uuid4().hex[:8]
        self.statuses = []
        self._seen = set()
        self._ends = threading.Event()
        self._pool = ThreadPoolExecutor(AT_ONCE)
        self._thread = threading.Thread(target=self._shop)
        key = f"sluice:{{{queue}}}:"
        last = int(parts.redis.hget(key + "state", "seq") or 0)
        parts.redis.hset(key + "state", "seq", last + count)
        parts.redis.zadd(key + "waiting", {f"{self.name}-{i}": (last + i) * GENERATIONS for i in range(1, count + 1)})

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._ends.set()
        self._thread.join()
        self._pool.shutdown()

    def _shop(self):
        redis = self.parts.redis_server.client()
        while not self._ends.wait(0.05):
            for member, record in redis.hgetall(f"sluice:{{{self.queue}}}:places").items():
                _, _, admission, token, claim, *_ = record.split("/")
                if not claim and admission not in self._seen:
                    self._seen.add(admission)
                    self._pool.submit(self._order, member, token)
        redis.close()

    def _order(self, name, token):
        if self._ends.is_set():
            return
        member = self.parts.api.member(name)
        items = [{"sku": self.sku, "quantity": 1}]
        self.statuses.append(self.parts.api.call(*member.order_call(self.queue, items, token=token)).status)
