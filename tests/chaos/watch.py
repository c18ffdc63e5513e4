"""Redis looked at from aside, many times a second, by Redis's own time: what was let in, and how many places are taken."""

import threading
from dataclasses import dataclass

EVERY_S = 0.04


@dataclass
class Look:
    at: float              # Redis's TIME in seconds
    incarnation: str
    admitted: int
    places: int
    unpaid: int
    in_flight: int


class Watch:
    def __init__(self, parts, queue):
        self.looks = []
        self._client = parts.redis_server.client()
        self._client.connection_pool.connection_kwargs["socket_timeout"] = 1
        self._queue, self._parts = queue, parts
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def start(self):
        self._thread.start()
        return self

    def stop(self):
        self._end.set()
        self._thread.join(10)
        self._client.close()

    def _run(self):
        while not self._end.wait(EVERY_S):
            self._parts.note_log_of_redis()
            try:
                self._look()
            except Exception:  # pylint: disable=broad-except
                self._client.connection_pool.disconnect()

    def _look(self):
        def key(name):
            return f"sluice:{{{self._queue}}}:{name}"
        with self._client.pipeline() as pipe:
            pipe.time()
            pipe.hmget(key("state"), "incarnation", "admitted")
            pipe.hlen(key("places"))
            pipe.hlen(key("unpaid"))
            pipe.zcard(key("claimed"))
            (seconds, micros), (incarnation, admitted), places, unpaid, claimed = pipe.execute()
        if incarnation is not None:
            self.looks.append(Look(seconds + micros / 1e6, incarnation, int(admitted or 0), places, unpaid, claimed))


def excess(looks, rate, burst):
    """The most by which the admissions between any two looks of one incarnation exceeded what bucket and time allow; with the
    two looks. One admission is allowed for the bucket's fraction."""
    worst = (0.0, None, None)
    for incarnation in {look.incarnation for look in looks}:
        # count − rate·t may rise by no more than the burst: compare with the lowest so far.
        lowest = None
        for look in looks:
            if look.incarnation != incarnation:
                continue
            level = look.admitted - rate * look.at
            if lowest is None or level < lowest[0]:
                lowest = (level, look)
            over = level - lowest[0] - burst - 1
            if over > worst[0]:
                worst = (over, lowest[1], look)
    return worst
