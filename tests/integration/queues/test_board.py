"""The board: a queue's public state as a file that nginx serves, true within a second, or not there."""

import http.client
import json
import os
import shutil
import signal
import subprocess
import time

import pytest

from lib import processes
from lib.board import Board
from lib.client import assert_problem
from lib.wait import holds_for, is_within, until, within


@pytest.fixture
def board(parts):
    board = Board(parts)
    yield board
    board.stop()


def without_time(document):
    return {name: value for name, value in document.items() if name != "serverTime"}


def test_is_the_queue_s_state(board, api):
    board.start()
    queue = api.still_queue(message="Doors at eight: bring \"ID\" <here>", opensAt="2020-01-01T00:00:00Z",
                            closesAt="2099-01-01T00:00:00Z")
    members = [api.member() for _ in range(4)]
    for member in members:
        assert member.enter(queue).status == 201
    assert members[1].leave(queue).status == 204
    board.wait_for(queue)
    until(lambda: board.read(queue)["waiting"] == 3, 2)
    read = board.read(queue)
    # The pool's answer is cached for a second.
    asked = until(lambda: without_time((answer := api.call("GET", f"/v1/queues/{queue}")).json) == without_time(read.json)
                  and answer, 3, "the pool's answer, the same as the board")
    assert list(read.json) == list(asked.json)
    assert read["departures"] == [{"from": 0, "to": 1023, "count": 1}]
    assert (read["activation"], read["mode"]) == ("hold", "fifo")
    for name in ("content-type", "cache-control", "x-content-type-options"):
        assert read.headers[name] == asked.headers[name], name
    assert read.headers["cache-control"] == "public, max-age=1"
    assert read.headers["access-control-allow-origin"] == "*"
    assert read.headers["x-request-id"]
    assert "last-modified" not in read.headers, "it would be the same for all versions of a second"


def test_changes_are_seen_within_a_second(board, api):
    board.start()
    queue = api.queue()
    board.wait_for(queue)

    def act(action):
        return lambda: api.act(queue, action)

    def patch(**settings):
        return lambda: api.admin("PATCH", f"/queues/{queue}", settings)
    changes = [(act("pause"), "state", "PAUSED"), (act("resume"), "state", "OPEN"),
               (patch(message="Soon"), "message", "Soon"), (patch(activation="hold"), "activation", "hold"),
               (act("pause"), "state", "PAUSED"), (act("resume"), "state", "OPEN"),
               (patch(message="Now"), "message", "Now"), (patch(activation="on"), "activation", "on")]
    late = 0
    for number, (change, field, value) in enumerate(changes):
        def seen(field=field, value=value):
            return board.read(queue)[field] == value
        # Changes come at different moments between two looks and within nginx's second.
        holds_for(0.07 * number, lambda seen=seen: not seen(), f"another {field} before the change")
        change()
        late += not is_within(1.0, seen, "the change")
    # On a busy machine one may be late.
    assert late <= 1


def test_server_time_moves_on(board, api):
    board.start()
    queue = api.still_queue()
    board.wait_for(queue)
    first = board.read(queue)["serverTime"]
    within(1.7, lambda: board.read(queue)["serverTime"] > first, "a later moment")
    written = set()
    until(lambda: written.add(board.file(queue).stat().st_mtime) or len(written) == 5, 10, "versions")
    times = sorted(written)
    gaps = sorted(later - earlier for earlier, later in zip(times, times[1:]))
    assert sum(gaps) / len(gaps) > 0.7 and gaps[1] < 1.6, "an unchanged board is rewritten about once a second"


def test_not_modified(board, api):
    board.start()
    queue = api.still_queue()
    board.wait_for(queue)

    def unchanged():
        first = board.read(queue)
        again = board.read(queue, {"If-None-Match": first.headers["etag"]})
        return (first, again) if again.status == 304 else None
    first, again = until(unchanged, 2)
    assert again.body == b"" and again.headers["etag"] == first.headers["etag"]
    for name in ("cache-control", "access-control-allow-origin"):
        assert again.headers[name] == first.headers[name]
    api.act(queue, "pause")
    within(1.5, lambda: board.read(queue, {"If-None-Match": first.headers["etag"]}).status == 200, "the change")


@pytest.mark.parametrize("path", ["/_sluice/board/{queue}.json", "/openapi.yaml", "/problems/not-found", "/shop/result.html"])
def test_a_range_is_no_matter(board, api, path):
    """Of no file: the complete answer, with each header once."""
    board.start()
    queue = api.still_queue()
    board.wait_for(queue)
    for wanted in ("bytes=0-3", "bytes=99999999-"):
        connection = http.client.HTTPConnection("127.0.0.1", api.port, timeout=15)
        connection.request("GET", path.format(queue=queue), headers={"Range": wanted})
        answer = connection.getresponse()
        assert answer.status == 200 and len(answer.read()) > 4
        names = [name.lower() for name, _ in answer.getheaders()]
        assert sorted(names) == sorted(set(names)) and "accept-ranges" not in names
        connection.close()


def test_no_other_spelling_is_the_board_s(board, api):
    board.start()
    queue = api.still_queue()
    board.wait_for(queue)
    for rest in ("json%0a", "json%20", "json/", "JSON"):
        assert_problem(api.call("GET", f"/_sluice/board/{queue}.{rest}"), 404, "NOT_FOUND")


def test_each_version_has_an_etag_of_its_own(board, api, parts):
    """Several versions of one length within each second."""
    board.start(board_interval_ms=100)
    queue = api.still_queue()
    board.wait_for(queue)
    versions, read, changes = {}, set(), 0
    end = time.monotonic() + 15
    while len(read) < 20 and time.monotonic() < end:
        changes += 1
        parts.redis.hset(f"sluice:{{{queue}}}:settings", "message", f"Message {changes:06d}")
        answer = board.read(queue)
        assert answer.status == 200
        versions.setdefault(answer.headers["etag"], set()).add(answer.body)
        read.add(answer.body)
    assert len(read) == 20
    assert [bodies for bodies in versions.values() if len(bodies) > 1] == []


@pytest.mark.parametrize("written", [True, False])
def test_only_get_and_head(board, api, written):
    if written:
        board.start()
    queue = api.queue()
    if written:
        board.wait_for(queue)
    head, get = board.read(queue, method="HEAD"), board.read(queue)
    assert head.status == get.status == 200 and head.body == b""
    assert head.headers["content-type"] == get.headers["content-type"]
    assert ("etag" in head.headers) == written
    for method in ("POST", "PUT", "PATCH", "DELETE", "OPTIONS"):
        assert_problem(board.read(queue, method=method), 405, "METHOD_NOT_ALLOWED")


@pytest.mark.parametrize("writing", [True, False])
def test_without_a_file_the_pool_answers(board, api, writing):
    queue = api.still_queue()
    if writing:
        board.start()
        board.wait_for(queue)
    else:
        answer = board.read(queue)
        assert answer.status == 200 and "etag" not in answer.headers
        assert without_time(answer.json) == without_time(api.state(queue))
        assert answer.headers["cache-control"] == "public, max-age=1"
        assert answer.headers["access-control-allow-origin"] == "*"
    missing = board.read("nowhere")
    assert_problem(missing, 404, "NOT_FOUND")
    assert missing.headers["access-control-allow-origin"] == "*"
    for path in ("/_sluice/board/", "/_sluice/board", f"/_sluice/board/{queue}", "/_sluice/board/UPPER.json",
                 f"/_sluice/board/.{queue}.json", f"/_sluice/board/{queue}.json/x", "/_sluice/board/..%2fnginx.json",
                 f"/_sluice/board/{'q' * 64}.json"):
        assert_problem(api.call("GET", path), 404, "NOT_FOUND")


def test_outlives_the_queue_pool(board, api, parts):
    queue, hidden = api.still_queue(), api.still_queue()
    writer = board.start()
    board.wait_for(queue)
    parts.pools["queue"].stop(seconds=20)
    try:
        assert board.is_file(queue)
        assert writer.stop() == 0
        for name in (queue, hidden):
            until(lambda name=name: board.read(name).status == 503, 4)
            assert_problem(board.read(name), 503, "ADMISSION_UNAVAILABLE")
    finally:
        parts.start_pool("queue", parts.queue_workers)
    until(lambda: board.read(queue).status == 200, 10)


def test_a_deleted_queue_has_no_board(board, api):
    board.start()
    kept, queue = api.still_queue(), api.still_queue()
    board.wait_for(kept)
    board.wait_for(queue)
    assert api.admin("DELETE", f"/queues/{queue}?force=true").status == 204
    within(1.5, lambda: not board.file(queue).exists(), "the file is gone")
    until(lambda: board.read(queue).code == "NOT_FOUND", 1.5)
    assert board.is_file(kept)
    api.queue(queue)
    board.wait_for(queue, 1.5)


@pytest.mark.parametrize("how", ["stopped", "silent"])
def test_redis_gone(board, api, parts, how):
    queues = [api.still_queue() for _ in range(20)]
    board.start()
    for queue in queues:
        board.wait_for(queue)
    parts.redis.config_set("appendfsync", "always")
    if how == "stopped":
        parts.redis_server.stop()
    else:
        processes.stop(parts.redis_server.process.pid)
    begin = time.monotonic()
    try:
        within(3.2, lambda: not list(board.directory.iterdir()), "all files are gone")
        assert time.monotonic() - begin > 1, "a short silence changes nothing"
        for queue in queues[:2]:
            until(lambda queue=queue: board.read(queue).code == "ADMISSION_UNAVAILABLE", 4)
            assert_problem(board.read(queue), 503, "ADMISSION_UNAVAILABLE")
    finally:
        if how == "stopped":
            parts.start_redis()
        else:
            processes.cont(parts.redis_server.process.pid)
    for queue in queues:
        board.wait_for(queue)


def test_a_short_silence_changes_nothing(board, api, parts):
    queue = api.still_queue()
    board.start()
    board.wait_for(queue)
    inode = board.file(queue).stat().st_ino
    processes.stop(parts.redis_server.process.pid)
    try:
        end = time.monotonic() + 1
        while time.monotonic() < end:
            assert board.is_file(queue) or time.monotonic() >= end
    finally:
        processes.cont(parts.redis_server.process.pid)
    until(lambda: board.file(queue).stat().st_ino != inode, 1.5)


def test_killed_and_started_again(board, api):
    writer = board.start()
    queue, deleted = api.still_queue(), api.still_queue()
    board.wait_for(queue)
    board.wait_for(deleted)
    writer.kill()
    assert board.is_file(queue), "what was written is served on"
    assert api.admin("DELETE", f"/queues/{deleted}?force=true").status == 204
    half, fresh, foreign = (board.directory / name for name in (f".{queue}.one.new", f".{queue}.two.new", "README"))
    for path in (half, fresh, foreign):
        path.write_text("{")
    os.utime(half, (1, 1))
    before = board.read(queue)["serverTime"]
    board.start()
    until(lambda: board.read(queue)["serverTime"] > before, 3)
    until(lambda: not board.file(deleted).exists() and not half.exists(), 2)
    assert foreign.exists() and fresh.exists(), "another writer may be at it"
    until(lambda: board.read(deleted).code == "NOT_FOUND", 3, "nginx keeps what it has opened for a moment")


def test_left_files_go_when_redis_is_not_there(board, api, parts):
    """A writer that was killed together with Redis."""
    queue = api.still_queue()
    writer = board.start()
    board.wait_for(queue)
    writer.kill()
    parts.redis_server.stop()
    try:
        board.start()
        until(lambda: not board.file(queue).exists(), 5)
    finally:
        parts.start_redis()
    board.wait_for(queue, 3)


def test_two_writers(board, api):
    first, _ = board.start(), board.start()
    queue = api.queue()
    board.wait_for(queue)
    for action, state in [("pause", "PAUSED"), ("resume", "OPEN")] * 3:
        api.act(queue, action)
        within(1.5, lambda state=state: board.read(queue)["state"] == state, "the change")
    assert first.stop() == 0
    end = time.monotonic() + 2
    while time.monotonic() < end:
        assert board.read(queue).status == 200
    assert board.is_file(queue), "the other one has put it back"


@pytest.mark.parametrize("redis", ["answers", "silent"])
def test_ends_within_a_second(board, api, parts, redis):
    queue = api.still_queue()

    def ended():
        """Within how many seconds."""
        writer = board.start()
        board.wait_for(queue)
        assert board.file(queue).stat().st_mode & 0o777 == 0o644
        if redis == "silent":
            processes.stop(parts.redis_server.process.pid)
        try:
            holds_for(0.7, writer.alive, "a writer, whatever Redis does")
            begin = time.monotonic()
            assert writer.stop(signal.SIGTERM, 5) == 0
            assert list(board.directory.iterdir()) == []
            return time.monotonic() - begin
        finally:
            processes.cont(parts.redis_server.process.pid)
    assert any(ended() < 1 for _ in range(3)), "a busy machine may be late, not each time"
    until(lambda: board.read(queue).status == 200, 5)


def test_a_directory_that_goes_away(board, api, parts):
    parts.allowed_errors.add("board.unwritable")
    board.start()
    queue = api.still_queue()
    board.wait_for(queue)
    shutil.rmtree(board.directory)
    until(lambda: "board.unwritable" in board.writers[0].text(), 3)
    assert board.read(queue).status == 200, "by the pool"
    board.make_directory()
    board.wait_for(queue, 2)


def evalsha_calls(redis):
    statistics = redis.info("commandstats")
    return sum(statistics.get(f"cmdstat_{name}", {"calls": 0})["calls"] for name in ("evalsha", "eval"))


@pytest.mark.limit(90)
def test_redis_does_not_feel_the_crowd(board, api, parts):
    board.start()
    queue = api.still_queue()
    board.wait_for(queue)
    parts.restart_schedulers(0)

    def calls_in(seconds, work=lambda: None):
        before, begin = evalsha_calls(parts.redis), time.monotonic()
        work()
        time.sleep(max(0.0, begin + seconds - time.monotonic()))
        return (evalsha_calls(parts.redis) - before) / (time.monotonic() - begin)

    def crowd():
        answers = api.together([("GET", f"/_sluice/board/{queue}.json", {}, None)] * 2000, connections=64, timeout=60)
        assert {answer.status for answer in answers} == {200}
        assert all("etag" in answer.headers and json.loads(answer.body)["queue"] == queue for answer in answers)
    alone = calls_in(2)
    crowded = calls_in(2, crowd)
    print(f"script calls a second: {alone:.1f} with no reader, {crowded:.1f} with 2,000 reads")
    assert crowded <= alone * 1.1 + 2, (alone, crowded)


def test_settings(board, parts):
    def run(*options, **settings):
        done = subprocess.run([parts.build / "sluice-board", "--config", parts.config, *options], capture_output=True,
                              text=True, timeout=10, env={**os.environ, **board.environment(**settings)})
        return done.returncode, done.stdout + done.stderr
    assert run("--check-config") == (0, "sluice-board: the settings are good\n")
    code, text = run("--print-config", board_interval_ms=250)
    assert code == 0 and f"board_directory = {board.directory}\n" in text and "board_interval_ms = 250\n" in text
    code, text = run("--check-config", board_directory=board.directory / "missing")
    assert code == 78 and "is not a directory that can be written to" in text
    code, text = run("--check-config", board_directory=parts.config)
    assert code == 78
    code, text = run("--check-config", board_directory="")
    assert code == 78 and "board_directory" in text
    for interval in (99, 10001):
        assert run("--check-config", board_interval_ms=interval)[0] == 78
    assert "board_interval_ms" in run("--help")[1]
