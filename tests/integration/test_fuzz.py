"""The fuzzers of tests/fuzz, the same run of a second at most each time: longer ones are tests/fuzz/run's, and docs/fuzzing-log.md tells of them."""

import os
import re
import subprocess

import pytest

from lib.project import ROOT, build_directory

CORPUS = ROOT / "tests" / "fuzz" / "corpus"
NAMES = sorted(path.name for path in CORPUS.iterdir())
LIMITS = ["-timeout=10", "-rss_limit_mb=1024", "-malloc_limit_mb=256"]


@pytest.fixture(scope="module")
def fuzzers():
    """The folder in which the fuzzers are, built once."""
    build = build_directory("--sanitizers", "--test-hooks")
    made = subprocess.run(["make", "--quiet", "-j2", "fuzz"], cwd=build, capture_output=True, text=True, timeout=600)
    assert made.returncode == 0, made.stdout + made.stderr
    return build / "fuzz"


def run(fuzzers, name, tmp_path, *options):
    found = tmp_path / "found"
    found.mkdir()
    return subprocess.run([fuzzers / name, *LIMITS, *options, f"-artifact_prefix={tmp_path}/", found, CORPUS / name],
                          capture_output=True, text=True, timeout=120, env={**os.environ, "ASAN_OPTIONS": "detect_leaks=1"})


@pytest.mark.limit(700)
@pytest.mark.parametrize("name", NAMES)
def test_nothing_is_found_in_a_short_run(fuzzers, tmp_path, name):
    done = run(fuzzers, name, tmp_path, "-seed=1", "-runs=10000", "-max_total_time=1", "-print_final_stats=1")
    assert done.returncode == 0, done.stderr[-4000:]
    executed = int(re.search(r"number_of_executed_units: (\d+)", done.stderr)[1])
    assert executed > len(list((CORPUS / name).iterdir()))


def test_every_fuzzer_has_a_corpus_and_is_built(fuzzers):
    listed = re.search(r"^fuzzers = \\\n((?:\t.*\n)+)", (ROOT / "tests/fuzz/build.mk").read_text(), re.M)[1]
    assert sorted(listed.replace("\\", "").split()) == NAMES
    sources = {path.stem for path in (ROOT / "tests/fuzz").glob("*.c") if "LLVMFuzzerTestOneInput(const" in path.read_text()}
    assert sources == set(NAMES)
