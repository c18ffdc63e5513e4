"""The form that all scripts share."""

import hashlib
import re

import pytest

from lib.scripts import Script, script_files

NAMES = sorted(script_files())


@pytest.mark.parametrize("name", NAMES)
def test_scripts_declare_each_key_and_build_none(name):
    """The shebang makes Redis refuse undeclared keys; no key name is built inside a script."""
    script = Script(name)
    assert re.match(r"#!lua( flags=no-writes)?\n", script.text)
    assert script.keys or script.globals
    assert not re.search(r"'sluice:|KEYS\[[^\d]", script.text)
    body = re.sub(r"^local key_.*= KEYS.*$", "", script.text, flags=re.M)
    unused = [key for key in script.keys if not re.search(rf"\bkey_{key.replace(':', '_')}\b", body)]
    assert not unused, "keys that are declared and not used"


@pytest.mark.parametrize("name", NAMES)
def test_sha_is_that_of_redis(name, redis_client):
    text = Script(name).text
    assert redis_client.script_load(text) == hashlib.sha1(text.encode()).hexdigest()


def test_readers_declare_that_they_only_read():
    readers = {name for name in NAMES if Script(name).text.startswith("#!lua flags=no-writes")}
    assert readers >= {"claims_overdue", "pool_life", "queue_state", "stats"}


@pytest.mark.parametrize("name", [name for name in NAMES if "settings" in Script(name).keys and name not in
                                  ("queue_publish", "spent_load", "unpaid_load")])
@pytest.mark.parametrize("kind", ["unknown", "deleted"])
def test_queue_that_is_not_there(name, kind, make_line, all_scripts, redis_client):
    """Every script tells a queue that Redis does not know from one that was deleted, and writes nothing."""
    queue = "gone"
    if kind == "deleted":
        line = make_line(queue=queue, deleted=1)
        assert line.counter("seq") == 0
    else:
        redis_client.set("sluice:{gone}:leader", "a")
    before = sorted(redis_client.keys("*"))
    args = {"member": "m", "owner": "a", "poolSeen": -1, "poolSilentMs": 0, "silence": 0, "poolSilence": 0, "awayMs": 1, "samples": 1, "most": 1,
            "change": 1, "soldOut": 1, "tombstoneMs": 1, "keepPlace": 0}
    words = [args.get(arg, "") for arg in all_scripts.scripts[name].args]
    assert all_scripts.call(name, queue, *words, show="s") == ["NOT_FOUND", kind]
    assert sorted(redis_client.keys("*")) == before
