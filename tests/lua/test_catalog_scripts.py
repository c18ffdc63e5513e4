"""catalog_*: an object of the catalogue in Redis, and its flight. Times are the test's."""

import pytest

from lib.scripts import Scripts

NAME = "show:s"  # as the programs call it; no queue has such a name
KEY = "sluice:{show:s}:catalog"
LOCK_US = 2_000_000
GOOD_MS, STALE_MS = 30_000, 600_000


class Shelf:
    """The scripts, on one object."""

    def __init__(self, client):
        self.client = client
        self.ms = 1_800_000_000_000
        self.scripts = Scripts(client, clock=lambda: self.ms)

    def read(self, token="h1/a", host="", draw="0", known="0", fly="1"):
        fields = ("state", "flight", "generation", "stamp", "left", "stale", "cost", "exists", "version", "etag", "text")
        return dict(zip(fields, self.scripts.call("catalog_read", NAME, token=token, host=host, lockUs=LOCK_US, draw=draw,
                                                  known=known, fly=fly)))

    def fill(self, token="h1/a", generation="0", text="text", go_on="0", cost=5000):
        return self.scripts.call("catalog_fill", NAME, token=token, generation=generation, goOn=go_on, goodMs=GOOD_MS,
                                 staleMs=STALE_MS, cost=cost, exists="1", version="7", etag='"e"', text=text)

    def outdate(self):
        return self.scripts.call("catalog_outdate", NAME, "news", NAME)[1]

    def release(self, token="h1/a"):
        return self.scripts.call("catalog_release", NAME, token=token)


@pytest.fixture
def shelf(redis_client):
    return Shelf(redis_client)


def test_of_two_readers_of_nothing_one_flies(shelf):
    first, second = shelf.read("h1/a"), shelf.read("h2/b")
    assert (first["state"], first["flight"]) == ("NONE", "MINE")
    assert (second["state"], second["flight"]) == ("NONE", "OTHER")
    assert shelf.fill()[0] == "STORED"
    found = shelf.read("h2/b")
    assert (found["state"], found["flight"], found["text"], found["version"]) == ("GOOD", "NO", "text", "7")
    assert (int(found["left"]), int(found["stale"])) == (GOOD_MS * 1000, (GOOD_MS + STALE_MS) * 1000)


def test_who_would_not_compute_takes_no_flight(shelf):
    assert shelf.read(fly="0")["flight"] == "NO"
    assert shelf.client.exists(KEY) == 0


def test_a_flight_that_nobody_ends_is_over_at_its_deadline(shelf):
    shelf.read("h1/a")
    shelf.ms += LOCK_US // 1000 - 1
    assert shelf.read("h2/b")["flight"] == "OTHER"
    shelf.ms += 1
    assert shelf.read("h2/b")["flight"] == "MINE"
    assert shelf.fill("h1/a") == ["LOST"]
    assert shelf.release("h1/a") == ["LOST"]
    assert shelf.fill("h2/b", text="later")[0] == "STORED"
    assert shelf.read()["text"] == "later"


def test_a_dead_flight_is_taken_over_by_its_own_host_only(shelf):
    shelf.read("h1/a")
    assert shelf.read("h2/b", host="h2")["flight"] == "OTHER"
    assert shelf.read("h1/c", host="h1")["flight"] == "MINE"
    assert shelf.fill("h1/a") == ["LOST"]


def test_a_flight_without_an_object_ends_at_once(shelf):
    shelf.read("h1/a")
    assert shelf.release("h2/b") == ["LOST"]
    assert shelf.release("h1/a") == ["RELEASED"]
    assert shelf.read("h2/b")["flight"] == "MINE"


def test_it_is_due_at_its_end_or_by_the_draw(shelf):
    shelf.read()
    shelf.fill(cost=1_000_000)
    shelf.ms += GOOD_MS - 2000  # two of its costs before the end
    assert shelf.read(draw="1.9")["state"] == "GOOD"
    early = shelf.read("h1/a", draw="2.1")
    assert (early["state"], early["flight"], early["left"]) == ("DUE", "MINE", "2000000")
    shelf.release("h1/a")
    shelf.ms += 2000
    late = shelf.read("h1/a")
    assert (late["state"], late["flight"], late["left"], late["text"]) == ("DUE", "MINE", "0", "text")


def test_what_is_called_outdated_is_not_good_and_every_host_hears_of_it(shelf):
    shelf.read()
    shelf.fill()
    with shelf.client.pubsub() as ear:
        ear.subscribe("news")
        assert ear.get_message(timeout=5)["type"] == "subscribe"
        generation = shelf.outdate()
        heard = ear.get_message(timeout=5)
    assert heard["data"] == f"{NAME} {generation}"
    found = shelf.read()
    assert (found["state"], found["flight"], found["text"], found["generation"]) == ("OLD", "MINE", "text", generation)


def test_what_was_read_before_a_change_is_not_good_after_it(shelf):
    generation = shelf.read()["generation"]
    changed = shelf.outdate()
    assert shelf.fill(generation=generation, text="old", go_on="1")[:2] == ["OVERTAKEN", changed]
    assert shelf.read("h2/b")["flight"] == "OTHER"  # it goes on and computes again
    assert (shelf.read("h2/b")["state"], shelf.read("h2/b")["text"]) == ("OLD", "old")
    assert shelf.fill(generation=changed, text="new")[0] == "STORED"
    assert (shelf.read()["state"], shelf.read()["text"]) == ("GOOD", "new")


def test_overtaken_for_good_it_lets_others_fly(shelf):
    shelf.read("h1/a")
    shelf.outdate()
    assert shelf.fill("h1/a")[0] == "OVERTAKEN"
    assert shelf.read("h2/b")["flight"] == "MINE"


def test_generations_and_stamps_grow_whatever_the_clock_does(shelf):
    generations = [int(shelf.outdate())]
    shelf.read()
    stamps = [int(shelf.fill(generation=str(generations[0]))[2])]
    for step in (0, -5000, 1, -60000):
        shelf.ms += step
        generations.append(int(shelf.outdate()))
        shelf.client.hdel(KEY, "owner", "ownerUntil")
        shelf.read()
        stamps.append(int(shelf.fill(generation=str(generations[-1]))[2]))
    assert generations == sorted(set(generations))
    assert stamps == sorted(set(stamps))


def test_a_text_that_the_caller_has_is_not_sent_again(shelf):
    shelf.read()
    stamp = shelf.fill(text="x" * 1000)[2]
    assert shelf.read(known=stamp)["text"] == ""
    assert len(shelf.read(known="1")["text"]) == 1000


def test_everything_ends_by_itself(shelf):
    shelf.read()
    assert 0 < shelf.client.pttl(KEY) <= LOCK_US // 1000 + 1
    shelf.fill()
    assert GOOD_MS < shelf.client.pttl(KEY) <= GOOD_MS + STALE_MS
    shelf.client.delete(KEY)
    shelf.outdate()
    assert 0 < shelf.client.pttl(KEY) <= 60_000
