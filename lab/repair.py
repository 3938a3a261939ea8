"""Damages a saved session, repairs it with ndjson-check, and lets the real agent go on with it."""

import shutil
import subprocess
import tempfile
from pathlib import Path

import agents
import record
from model import Model
from scenarios import ALL

FIRST = ALL["five"]
AGAIN = ALL["resume"]
PROFILES = {"claude": "claude-session", "codex": "codex-rollout"}


def repair(package, line=None):
    """Prints what the agent still knows: from the whole session, the damaged, and the repaired one."""
    Path(record.ROOT).mkdir(exist_ok=True)
    top = Path(tempfile.mkdtemp(prefix="run-", dir=record.ROOT))
    try:
        whole = save_session(package, top)
        number = line or middle(whole)
        kept = shutil.copytree(top / "home", top / "kept")
        for name, content in forms(package, whole, number).items():
            shutil.rmtree(top / "home")
            shutil.copytree(kept, top / "home")
            session(package, top).write_bytes(content)
            print(f"{package.name} {name} (line {number} of {len(lines(whole))}): {go_on(package, top)}")
    finally:
        record.kill_survivors(top)
        shutil.rmtree(top)


def save_session(package, top):
    with Model(FIRST.script) as model:
        plan = record.Plan(package, FIRST)
        record.execute(plan, record.Run(plan, model.url, top), model, top / "out")
    return session(package, top).read_bytes()


def session(package, top):
    """The file that the agent saved."""
    run = record.Run(record.Plan(package, FIRST), "", top)
    pattern = agents.ALL[package.agent](run).sessions
    return max(run.home.glob(pattern), key=lambda path: path.stat().st_size)


def forms(package, whole, number):
    """The session as it was, with half a line, without that line, and repaired."""
    all_lines = lines(whole)
    bad = all_lines[number - 1]
    before, after = all_lines[: number - 1], all_lines[number:]
    damaged = b"".join([*before, bad[: len(bad) // 2] + b"\n", *after])
    return {
        "whole": whole,
        "damaged": damaged,
        "without the line": b"".join(before + after),
        "repaired": repaired(package, damaged),
    }


def repaired(package, damaged):
    command = [
        record.checker(),
        "--quiet",
        "--profile",
        PROFILES[package.agent],
        "--to",
        "stream-json",
        "--only-valid",
    ]
    return subprocess.run(command, input=damaged, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout


def go_on(package, top):
    """Lets the agent go on with its session. Says how much of it the model got to see."""
    with Model(AGAIN.script) as model:
        plan = record.Plan(package, AGAIN)
        happened = record.execute(plan, record.Run(plan, model.url, top, again=True), model, top / "again")
        main = [entry for entry in model.log if entry["main"]]
    seen = f"{main[0]['results']} of 5 tool results" if main else "no request"
    return f"exit status {happened['exit_status']}, {seen}"


def lines(content):
    return content.splitlines(keepends=True)


def middle(content):
    """The line of the third command's result, or the middle."""
    marks = (b'"function_call_output"', b'"tool_result"')
    found = [number for number, line in enumerate(lines(content), 1) if any(mark in line for mark in marks)]
    return found[2] if len(found) > 2 else len(lines(content)) // 2
