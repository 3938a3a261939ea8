"""The harness of README.md, against a fake agent: what it says of each run, and how it exits."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

README = Path(__file__).resolve().parents[1] / "README.md"
HARNESS = re.search(r"A whole harness:\n\n```python\n(.*?)```", README.read_text(), re.DOTALL)

pytestmark = pytest.mark.skipif(os.name == "nt", reason="running an agent needs Unix")


@pytest.mark.parametrize(
    ("faults", "outcome"),
    [
        ([], "succeeded"),
        (["--exit", "1"], "failed"),
        (["--cut-at", "6"], "truncated"),
        (["--stall-at", "4"], "timed-out"),
        (["--stderr-lines", "20000"], "succeeded"),
        (["--never-exit"], "succeeded"),
        (["--split-writes"], "succeeded"),
    ],
    ids=" ".join,
)
def test_the_harness(program: str, tmp_path: Path, faults: list[str], outcome: str) -> None:
    assert HARNESS is not None
    harness = tmp_path / "harness.py"
    # Nobody waits for ten minutes.
    text = HARNESS[1].replace("idle_timeout=600", "idle_timeout=2, exit_grace=1")
    assert text != HARNESS[1]
    harness.write_text(text)
    agent = ["replay", "cursor", "plain", "--speed", "max", *faults, "--install", str(tmp_path)]
    subprocess.run([program, *agent], check=True, capture_output=True)
    env = {**os.environ, "PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}"}
    command = [sys.executable, str(harness), "fix it"]
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=60)
    assert done.stdout.rstrip().split("\n")[-1].split(",")[0] == outcome, done.stderr
    assert done.returncode == (0 if outcome == "succeeded" else 1)
