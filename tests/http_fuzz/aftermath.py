"""What must hold when the requests are over: the same workers, clean logs, and no secret in them."""

import json

from lib import logs
from lib.wait import until

POOLS = ("queue", "order", "payment", "operator", "catalog")


def workers(stack):
    """Pool → pids of its workers."""
    return {pool: sorted(stack.part_pids(f"--pool {pool}")) for pool in POOLS}


def aftermath(stack, campaign, before):
    """Sentences about what is wrong."""
    folder = stack.data / "logs"
    now = workers(stack)
    found = [f"workers of {pool} ended: {before[pool]} became {now[pool]}" for pool in POOLS if before[pool] != now[pool]]
    found += logs.complaints(folder)
    access = folder / "access.log"
    campaign.api.call("GET", "/v1/queues/zz-last-line")
    until(lambda: "zz-last-line" in access.read_text(errors="replace"), 5, "the last line")
    secrets = campaign.keys + campaign.world.victim.secrets[1:]  # an order's number may stand in a log
    secrets += [secret.rpartition(".")[2] for secret in campaign.world.victim.secrets if secret.count(".") >= 2]
    for path in folder.glob("*.log"):
        text = path.read_text(errors="replace")
        found += [f"{path.name} has a secret: {secret[:6]}…" for secret in secrets if secret in text]
    for line in access.read_bytes().splitlines():
        try:
            json.loads(line.decode("utf-8"))
        except ValueError as error:
            found.append(f"access.log: {error}: {line[:200]!r}")
    return found
