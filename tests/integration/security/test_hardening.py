"""The programs as users get them are built so that faults are hard to use: read from their files."""

import platform
import re
import subprocess

import pytest

from lib.project import plain_build

PROGRAMS = ("sluice-fcgi", "sluice-scheduler", "sluice-board", "sluice-reconcile", "sluicectl/sluicectl")


def readelf(option, path):
    return subprocess.run(["readelf", "--wide", option, path], capture_output=True, text=True, check=True, timeout=30).stdout


@pytest.fixture(scope="module", params=PROGRAMS)
def program(request):
    return plain_build() / request.param


def test_it_lies_anywhere_in_memory(program):
    assert re.search(r"Type:\s+DYN", readelf("--file-header", program))
    assert re.search(r"\(FLAGS_1\).*\bPIE\b", readelf("--dynamic", program))


def test_what_the_linker_has_filled_in_is_read_only_from_the_start(program):
    assert "GNU_RELRO" in readelf("--segments", program)
    assert re.search(r"\(FLAGS(_1)?\).*\bNOW\b", readelf("--dynamic", program))


def test_no_memory_is_both_written_and_run(program):
    segments = readelf("--segments", program)
    assert re.search(r"GNU_STACK .* RW +0x", segments), segments
    assert not re.search(r"(LOAD|GNU_STACK) .* RWE ", segments)


def test_it_loads_libraries_from_where_the_system_has_them_alone(program):
    assert not re.search(r"\((RPATH|RUNPATH)\)", readelf("--dynamic", program))


def test_overruns_are_seen(program):
    symbols = readelf("--dyn-syms", program)
    assert "__stack_chk_fail" in symbols
    assert re.search(r"__(snprintf|vsnprintf|memcpy|memset|printf|fprintf|read|recv|realpath)_chk", symbols)


@pytest.mark.skipif(platform.machine() != "x86_64", reason="branches are marked so on x86-64 alone")
def test_jumps_end_only_where_they_may(program):
    """A function that is called by pointer begins with endbr64."""
    code = subprocess.run(["objdump", "--disassemble=main", "--no-show-raw-insn", program], capture_output=True, text=True,
                          check=True, timeout=60).stdout
    assert re.search(r"<main>:\n\s+[0-9a-f]+:\s+endbr64", code), code[:400]


def test_every_file_is_compiled_so():
    flags = re.search(r"^SLUICE_CFLAGS = (.*)$", (plain_build() / "Makefile").read_text(), re.M)[1].split()
    assert {"-fstack-protector-strong", "-fstack-clash-protection", "-fPIE"} <= set(flags)
    assert any(re.fullmatch(r"-D_FORTIFY_SOURCE=[23]", flag) for flag in flags)
