"""The client of captcha providers against the simulated ones: verdicts, and everything that is none."""

import subprocess

import pytest

from lib.project import build_directory
from lib.siteverify import SECRET, Siteverify, token

TURNSTILE_PASS = "1x0000000000000000000000000000000AA"
TIMEOUT_MS = 400


@pytest.fixture(scope="module")
def simulator(make_directory):
    simulator = Siteverify(make_directory("verify"))
    yield simulator
    simulator.stop()


@pytest.fixture
def ask(simulator, make_directory):
    """A function that asks about tokens; gives word, milliseconds and reason of each."""
    simulator.fault()
    folder = make_directory("ask")

    def ask(*tokens, url=None, secret=SECRET, expect=0, **settings):
        (folder / "secret").write_text(secret + "\n")
        (folder / "secret").chmod(0o600)
        rows = {"captcha_siteverify_url": url or simulator.url(), "captcha_secret_file": folder / "secret",
                "captcha_timeout_ms": TIMEOUT_MS, **settings}
        (folder / "conf").write_text("".join(f"{name} = {value}\n" for name, value in rows.items()))
        program = build_directory("--sanitizers", "--test-hooks") / "tests" / "tools" / "siteverify_ask"
        done = subprocess.run([program, "--config", folder / "conf", "--", *tokens], capture_output=True, text=True,
                              timeout=30)
        assert done.returncode == expect, (done.returncode, done.stdout, done.stderr)
        assert not any(text in done.stderr + done.stdout for text in (SECRET, *tokens) if len(text) > 10)
        if expect:
            return done.stderr
        words = [line.split(" ", 2) for line in done.stdout.splitlines()]
        return [(word, int(ms), why) for word, ms, why in words]

    yield ask
    simulator.fault()


@pytest.mark.parametrize("provider", ["turnstile", "hcaptcha", "recaptcha"])
def test_a_token_counts_once(ask, simulator, provider):
    one, two = token(), token()
    before = len(simulator.asked())
    words = ask(one, two, one, "nonsense", token(age=1000), url=simulator.url(provider))
    assert [word for word, _, _ in words] == ["passed", "passed", "refused", "refused", "refused"]
    assert "used before" in words[2][2] and "used before" not in words[3][2]
    asked = simulator.asked()[before:]
    assert [question["response"] for question in asked[:3]] == [one, two, one]
    assert {question["type"] for question in asked} == {"application/x-www-form-urlencoded"}
    assert set(asked[0]) == {"path", "type", "secret", "response"}


@pytest.mark.parametrize("provider, secret, response, word", [
    ("turnstile", TURNSTILE_PASS, "XXXX.DUMMY.TOKEN.XXXX", "passed"),
    ("turnstile", "2x0000000000000000000000000000000AA", "XXXX.DUMMY.TOKEN.XXXX", "refused"),
    ("turnstile", "3x0000000000000000000000000000000AA", "XXXX.DUMMY.TOKEN.XXXX", "refused"),
    ("hcaptcha", "0x" + "0" * 40, "10000000-aaaa-bbbb-cccc-000000000001", "passed"),
    ("hcaptcha", "0x" + "0" * 40, "another", "refused"),
    ("recaptcha", "6LeIxAcTAAAAAGG-vFI1TnRWxMZNFuojJ4WifJWe", "anything", "passed"),
])
def test_the_published_test_keys(ask, simulator, provider, secret, response, word):
    assert ask(response, url=simulator.url(provider), secret=secret)[0][0] == word


def test_site_and_action_are_compared(ask):
    assert ask(token("shop.test"), token("evil.test"), token("shop.test.evil.test"), token(""),
               captcha_hostname="shop.test")[0][0] == "passed"
    words = ask(token("evil.test"), token("shop.test.evil.test"), token(""), captcha_hostname="shop.test")
    assert {word for word, _, _ in words} == {"refused"} and "another site" in words[0][2]
    words = ask(token(action="coupon"), token(action="login"), token(), captcha_action="coupon")
    assert [word for word, _, _ in words] == ["passed", "refused", "refused"]


def test_a_wrong_secret_of_ours_is_no_verdict(ask):
    words = ask(token(), "-", secret="another")
    assert [word for word, _, _ in words] == ["no-answer", "silent"]


def test_what_a_client_sends_reaches_the_form_as_one_value(ask, simulator):
    hostile = "a&secret=" + TURNSTILE_PASS + "&response=b%00+c=d"
    assert ask(hostile, hostile + "é", "with space", "", "x" * 8193)[0][0] == "refused"
    assert simulator.asked()[-1]["response"] == hostile and simulator.asked()[-1]["secret"] == SECRET


@pytest.mark.parametrize("fault", ["silent", "slow"])
def test_a_provider_that_keeps_us_waiting(ask, simulator, fault):
    simulator.fault(fault)
    word, ms, why = ask(token())[0]
    assert word == "no-answer" and why
    assert TIMEOUT_MS - 50 <= ms <= TIMEOUT_MS + 5000


@pytest.mark.parametrize("fault", ["drop", "status-500", "status-429", "redirect", "no-json", "no-success",
                                   "success-text", "list", "huge", "huge-chunks", "huge-headers", "cut",
                                   "broken-inside", "many-words"])
def test_an_answer_that_is_none(ask, simulator, fault):
    simulator.fault(fault)

    def milliseconds():
        before = len(simulator.asked())
        word, ms, _ = ask(token())[0]
        assert word == "no-answer"
        assert len(simulator.asked()) - before in (1, 2)  # a connection that was dropped is tried once more
        return ms
    most = TIMEOUT_MS / 2 if fault.startswith("huge") else 2 * TIMEOUT_MS
    assert any(milliseconds() < most for _ in range(4)), "read to the end"
    simulator.fault()
    assert ask(token())[0][0] == "passed"


def test_a_provider_that_is_not_there(ask, simulator):
    url = simulator.url().replace(str(simulator.port), "1")
    words = ask(token(), "-", url=url)
    assert [word for word, _, _ in words] == ["no-answer", "silent"]


def test_a_silent_provider_is_left_alone_for_a_while(ask, simulator):
    simulator.fault("silent")
    before = len(simulator.asked())
    words = ask(*(token() for _ in range(8)), "-")
    assert [word for word, _, _ in words] == ["no-answer"] * 8 + ["silent"]
    assert len(simulator.asked()) - before == 3
    assert min(ms for _, ms, _ in words[3:]) < TIMEOUT_MS / 2


def test_nobody_else_s_certificate_is_trusted(ask, make_directory):
    folder = make_directory("tls")
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                    "-keyout", folder / "key", "-out", folder / "certificate", "-days", "2", "-subj",
                    "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1"], check=True, capture_output=True)
    with_tls = Siteverify(folder, "--tls", folder / "certificate", folder / "key")
    try:
        assert ask(token(), url=with_tls.url())[0][0] == "no-answer"
    finally:
        with_tls.stop()


@pytest.mark.parametrize("url, why", [
    ("http://example.com/siteverify", "https://"),
    ("http://127.0.0.1.example.com/", "https://"),
    ("https://user:word@example.com/", "user"),
    ("nonsense", "no address"),
])
def test_addresses_that_are_refused(ask, url, why):
    assert why in ask(url=url, expect=78)


def test_settings_that_do_not_fit_together(ask):
    assert "captcha_secret_file must be set" in ask(captcha_secret_file="", expect=78)
    assert "printable" in ask(secret="two words", expect=78)
    assert "printable" in ask(secret="", expect=78)
