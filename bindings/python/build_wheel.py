"""Builds the wheel: the program with cargo, then the module with maturin.

The program is a binary of its own and not a script that imports the module: it starts in 2 ms, and
it starts itself again to guard the process group of an agent. NDJSON_CHECK_PROGRAM names one that is
built already. NDJSON_CHECK_CARGO_PROFILE is the profile; the default is `release`.
"""

import json
import os
import shutil
import subprocess
from pathlib import Path

import maturin

_HERE = Path(__file__).parent
_ROOT = _HERE.parent.parent
_SUFFIX = ".exe" if os.name == "nt" else ""


def _profile():
    return os.environ.get("NDJSON_CHECK_CARGO_PROFILE", "release")


def program():
    """Puts the program where maturin finds it."""
    built = os.environ.get("NDJSON_CHECK_PROGRAM")
    if not built:
        command = ["cargo", "build", "--locked", "--profile", _profile(), "--bin", "ndjson-check"]
        command += ["--message-format", "json-render-diagnostics"]
        output = subprocess.run(command, cwd=_ROOT, check=True, stdout=subprocess.PIPE, text=True)
        built = _executable(output.stdout)
    shutil.copy(built, _scripts() / f"ndjson-check{_SUFFIX}")


def _scripts():
    scripts = _HERE / "data" / "scripts"
    scripts.mkdir(parents=True, exist_ok=True)
    return scripts


def _executable(messages):
    found = (json.loads(line).get("executable") for line in messages.splitlines())
    return [file for file in found if file][-1]


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    program()
    settings = {"build-args": ["--profile", _profile()], **(config_settings or {})}
    return maturin.build_wheel(wheel_directory, settings, metadata_directory)


def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    program()
    settings = {"build-args": ["--profile", _profile()], **(config_settings or {})}
    return maturin.build_editable(wheel_directory, settings, metadata_directory)


def prepare_metadata_for_build_wheel(metadata_directory, config_settings=None):
    _scripts()
    return maturin.prepare_metadata_for_build_wheel(metadata_directory, config_settings)


get_requires_for_build_wheel = maturin.get_requires_for_build_wheel
get_requires_for_build_editable = maturin.get_requires_for_build_editable
prepare_metadata_for_build_editable = prepare_metadata_for_build_wheel


if __name__ == "__main__":
    program()
