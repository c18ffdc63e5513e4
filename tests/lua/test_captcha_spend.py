"""captcha_spend: a solution counts for one holder."""

import threading

LIFE_MS = 60_000


def spend(scripts, solution, holder, ms=LIFE_MS):
    return scripts.call("captcha_spend", solution, holder=holder, ms=ms)


def test_the_first_holder_keeps_it(all_scripts, redis_client):
    assert spend(all_scripts, "s", "a") == ["OK"]
    assert spend(all_scripts, "s", "b") == ["TAKEN"]
    assert spend(all_scripts, "s", "a") == ["ALREADY"]
    assert spend(all_scripts, "other", "b") == ["OK"]


def test_looking_changes_nothing(all_scripts, redis_client):
    assert spend(all_scripts, "s", "a", ms=0) == ["OK"]
    assert redis_client.keys("*") == []
    assert spend(all_scripts, "s", "b") == ["OK"]
    assert spend(all_scripts, "s", "a", ms=0) == ["TAKEN"]
    assert spend(all_scripts, "s", "b", ms=0) == ["ALREADY"]


def test_it_ends_by_itself_and_no_repeat_prolongs_it(all_scripts, redis_client):
    assert spend(all_scripts, "s", "a", ms=50_000) == ["OK"]
    assert spend(all_scripts, "s", "a", ms=900_000) == ["ALREADY"]
    assert spend(all_scripts, "s", "b", ms=900_000) == ["TAKEN"]
    [key] = redis_client.keys("*")
    assert 0 < redis_client.pttl(key) <= 50_000


def test_of_many_at_once_one_gets_it(all_scripts, redis_client):
    replies = []
    threads = [threading.Thread(target=lambda n=n: replies.append(spend(all_scripts, "s", f"h{n}"))) for n in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(replies) == [["OK"]] + [["TAKEN"]] * 19
