"""The harness of README.md, against a fake agent: what it says of each run, and how it exits."""

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import ndjson_check as nc
import pytest

from conftest import FIXTURES, is_alive

README = Path(__file__).resolve().parents[1] / "README.md"
EXAMPLE = re.search(r"## Read a stream\n\n```python\n(.*?)```", README.read_text(), re.DOTALL)
HARNESS = re.search(r"A whole harness:\n\n```python\n(.*?)```", README.read_text(), re.DOTALL)
CURSOR = FIXTURES / "agents" / "cursor"

pytestmark = pytest.mark.skipif(os.name == "nt", reason="its agents are scripts of a shell of Unix")


@pytest.mark.parametrize(
    ("faults", "headline"),
    [
        ([], "succeeded"),
        (["--exit", "1"], "failed"),
        (["--cut-at", "6"], "cut short"),
        (["--stall-at", "4"], "timed out"),
        (["--stderr-lines", "20000"], "succeeded"),
        (["--never-exit"], "succeeded"),
        (["--split-writes"], "succeeded"),
    ],
    ids=" ".join,
)
def test_the_harness(program: str, tmp_path: Path, faults: list[str], headline: str) -> None:
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
    last = done.stdout.rstrip().split("\n")[-1]
    assert last.startswith(headline) and last.endswith("USD)"), done.stderr
    assert done.returncode == (0 if headline == "succeeded" else 1)


def fake_agent(folder: Path, script: str) -> dict[str, str]:
    """The environment in which this script is the agent."""
    agent = folder / "agent"
    agent.write_text(f"#!/bin/sh\n{script}\n")
    agent.chmod(0o755)
    return {**os.environ, "PATH": f"{folder}{os.pathsep}{os.environ['PATH']}"}


# The second comes in deltas.
@pytest.mark.parametrize("recording", ["plain", "partial"])
@pytest.mark.parametrize("code", [EXAMPLE, HARNESS], ids=["example", "harness"])
def test_the_text_of_the_agent_is_printed_once(
    tmp_path: Path, code: re.Match[str] | None, recording: str
) -> None:
    assert code is not None
    stream = tmp_path / "run.ndjson"
    stream.write_bytes((CURSOR / f"{recording}.ndjson").read_bytes())
    (tmp_path / "example.py").write_text(code[1])
    env = fake_agent(tmp_path, f"cat {stream}")
    command = [sys.executable, "example.py", "fix it"]
    done = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    texts = [it.text for it in nc.read(stream) if isinstance(it, nc.Text)]
    assert len(texts) > 2
    for text in texts:
        assert text is not None and done.stdout.count(text) == 1, done.stdout


def test_a_broken_stream_does_not_pass_in_the_harness(tmp_path: Path) -> None:
    assert HARNESS is not None
    (tmp_path / "harness.py").write_text(HARNESS[1])
    plain = CURSOR / "plain.ndjson"
    env = fake_agent(tmp_path, f"head -3 {plain}; echo garbage; tail -n +4 {plain}")
    command = [sys.executable, "harness.py", "fix it"]
    done = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True)
    assert (done.returncode, "\nthe stream is broken: line 4" in done.stdout) == (1, True)


def test_a_signal_to_the_harness_ends_the_agent(tmp_path: Path) -> None:
    assert HARNESS is not None
    (tmp_path / "harness.py").write_text(HARNESS[1])
    plain, pid = CURSOR / "plain.ndjson", tmp_path / "pid"
    env = fake_agent(tmp_path, f"echo $$ > {pid}; head -4 {plain}; exec sleep 60")
    command = [sys.executable, "harness.py", "fix it"]
    with subprocess.Popen(command, cwd=tmp_path, env=env, stdout=subprocess.PIPE) as harness:
        assert harness.stdout is not None
        harness.stdout.readline()
        harness.send_signal(signal.SIGTERM)
        harness.communicate(timeout=20)
    assert harness.returncode == 143
    assert not is_alive(pid)
