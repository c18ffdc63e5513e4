"""sluicectl as an operator calls it."""

import json
import os
import subprocess
from collections import namedtuple

Called = namedtuple("Called", "code output errors")


class Sluicectl:
    """Calls the sluicectl of a build against a server; the key is that of `secrets`."""

    def __init__(self, build, port, secrets, key="admin.key"):
        self.program = build / "sluicectl" / "sluicectl"
        self.data = secrets.parent
        self.url = f"http://127.0.0.1:{port}"
        self.environment = {**os.environ, "SLUICE_ADMIN_KEY_FILE": str(secrets / key)}

    def call(self, *words, stdin="", url=None):
        done = subprocess.run([self.program, "--url", url or self.url, *map(str, words)], env=self.environment,
                              input=stdin, capture_output=True, text=True, timeout=180)
        return Called(done.returncode, done.stdout, done.stderr)

    def __call__(self, *words, code=0, stdin=""):
        """What it prints; it ends with `code`."""
        called = self.call(*words, stdin=stdin)
        assert called.code == code, called
        return called.output

    def json(self, *words, code=0, stdin=""):
        """What it prints with --json."""
        return json.loads(self(*words, "--json", code=code, stdin=stdin))
