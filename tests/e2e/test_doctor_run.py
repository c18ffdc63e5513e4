"""sluicectl doctor on the system as a user gets it: it finds its files by itself, and nothing that scripts/run did wrong."""

from lib.project import plain_build
from lib.sluicectl import Sluicectl


def test_doctor_finds_what_scripts_run_has_made_and_nothing_wrong_with_it(stack):
    sluicectl = Sluicectl(plain_build(), stack.port, stack.data / "secrets")
    called = sluicectl.call("doctor", "--data", stack.data)
    findings = dict(line.split(":", 1)[0].split(None, 1)[::-1] for line in called.output.splitlines()
                    if line.split(" ", 1)[0] in ("ok", "warn", "fail"))
    assert {"settings", "secret.admin_key_file", "nginx.config", "nginx.include", "nginx.real-ip", "redis.reach",
            "redis.append-only", "postgres.reach", "postgres.synchronous-commit", "server.reach", "memory.metrics_file",
            "board"} <= set(findings), called
    # The machine itself and its disks may be as they like.
    wrong = {name: state for name, state in findings.items()
             if state != "ok" and not name.startswith(("kernel.", "disk.", "nginx.open-files", "nginx.backlog", "server."))}
    assert not wrong, called.output
