"""Reports changes to the shop, as Toss does: again and again until it answers 200, in no order, maybe more than once. Events of
payments are not signed."""

import json
import threading
import time
import urllib.request

# Of the real 1, 4, 16 … minutes, in seconds, so that a test need not wait.
WAITS_S = (0, 0.2, 0.8, 3.2, 12.8)


def deliver(webhook, body):
    """`webhook`: {"url", "copies": 1, "delay_ms": 0 before the first and between the others}"""
    if not webhook:
        return
    for copy in range(webhook.get("copies", 1)):
        timer = threading.Timer((webhook.get("delay_ms", 0) * (copy + 1)) / 1000, send, [webhook, body])
        timer.daemon = True
        timer.start()


def send(webhook, body):
    data = json.dumps(body).encode()
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    for wait in WAITS_S:
        time.sleep(wait)
        moment = time.strftime("%Y-%m-%dT%H:%M:%S+09:00", time.gmtime(time.time() + 9 * 3600))
        headers = {"Content-Type": "application/json", "tosspayments-webhook-transmission-time": moment}
        request = urllib.request.Request(webhook["url"], data, headers)
        try:
            with opener.open(request, timeout=10) as answer:
                if answer.status == 200:
                    return
        except OSError:
            pass
