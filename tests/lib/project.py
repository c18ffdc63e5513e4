"""Where things lie in the project."""

import os
import subprocess
from pathlib import Path

ROOT = Path(os.environ.get("SLUICE_ROOT") or Path(__file__).resolve().parents[2])
LUA = Path(os.environ.get("SLUICE_LUA") or ROOT / "lua")
SCRIPTS = ROOT / "scripts"


def build_directory(*options):
    """The folder of the programs: SLUICE_BUILD where it is set, else what scripts/build makes."""
    chosen = os.environ.get("SLUICE_BUILD")
    return Path(chosen) if chosen else _build(*options)


def plain_build():
    """The folder of programs as users run them, for tests that sanitizers would spoil."""
    return Path(os.environ.get("SLUICE_PLAIN_BUILD") or _build())


def _build(*options):
    printed = subprocess.run([SCRIPTS / "build", *options, "--print-directory"], check=True,
                             capture_output=True, text=True)
    subprocess.run([SCRIPTS / "build", *options], check=True, stdout=subprocess.DEVNULL)
    return Path(printed.stdout.strip())
