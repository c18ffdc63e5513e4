"""The transitions of lua/, loaded as the programs load them, with the keys that they declare."""

import functools
import re
import subprocess

from lib.project import LUA, SCRIPTS

CLOCK_CALL = "redis.call('TIME')"
# The time as the name of one more key of the queue: a script cannot tell, and the test decides what time it is.
CLOCK_READ = "{ string.match(KEYS[#KEYS], '(%d+)%.(%d+)$') }"


@functools.cache
def script_files(folder=LUA):
    """The file of each script, by its name; scripts stand in folders of their subject."""
    return {path.stem: path for path in sorted(folder.glob("*/*.lua")) if path.parent.name != "include"}


@functools.cache
def read_script(name, folder=LUA):
    """The script, expanded once for all tests."""
    return Script(name, folder)


class Script:
    """One script: its text as Redis gets it, and the names of its keys and arguments."""

    def __init__(self, name, folder=LUA):
        self.name = name
        path = script_files(folder)[name]
        source = path.read_text()
        self.text = subprocess.run([SCRIPTS / "embed-lua", "--expand", path],
                                   check=True, capture_output=True, text=True).stdout
        self.keys = _words(source, "keys")
        self.args = _words(source, "args")
        self.globals = _words(source, "global")

    def key_names(self, queue, show=None):
        if self.globals:
            return [f"sluice:{name}" for name in self.globals]
        return [f"sluice:{{{queue}}}:{name.replace('show:', f'show:{show}:')}" for name in self.keys]


def _words(source, directive):
    found = re.search(rf"^--@{directive}\b(.*)$", source, re.M)
    return found.group(1).split() if found else []


class Scripts:
    """Calls scripts on one Redis. With `clock` (a function giving ms) scripts read that time instead."""

    def __init__(self, client, folder=LUA, clock=None):
        self.client = client
        self.clock = clock
        self.scripts = {name: read_script(name, folder) for name in script_files(folder)}
        self._shas = {}
        for name, script in self.scripts.items():
            text = script.text.replace(CLOCK_CALL, CLOCK_READ) if clock else script.text
            self._shas[name] = client.script_load(text)

    def now(self):
        """The time that scripts read, in ms."""
        if self.clock:
            return self.clock()
        seconds, micros = self.client.time()
        return seconds * 1000 + micros // 1000

    def sha(self, name):
        return self._shas[name]

    def call(self, name, queue, *args, show=None, **named):
        """The reply. Arguments by name where the script names them, the rest in order. `show`: whose keys."""
        script = self.scripts[name]
        words = list(args)
        if named:
            unknown = set(named) - set(script.args)
            assert not unknown, f"{name} has no argument {unknown}"
            words = [named[arg] for arg in script.args] + words
        keys = script.key_names(queue, show)
        if self.clock:
            seconds, milliseconds = divmod(self.clock(), 1000)
            keys.append(f"sluice:{{{queue}}}:clock.{seconds}.{milliseconds * 1000:06d}")
        return self.client.evalsha(self._shas[name], len(keys), *keys, *words)
