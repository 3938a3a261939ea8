"""Copies small recordings, with their truth, to where the tests find them."""

import json
import shutil
from pathlib import Path

import judge
from record import write_json

SMALL = 8_000
HERE = {str(Path.home()), str(Path(__file__).resolve().parent.parent), "/home/"}
CLOSED = ("proprietary", "not stated")
SCENARIOS = (
    "text",
    "think",
    "tool",
    "tool-fails",
    "denied",
    "parallel",
    "mcp",
    "cut",
    "cut-once",
    "http-401",
    "http-500-after",
    "hang.kill-TERM",
    "hang-after.pipe.kill-TERM",
)


def copy(packages, folder, names=()):
    """Copies these recordings of agents whose licence allows it. Returns how many."""
    count = 0
    for package in packages:
        if package.licence in CLOSED:
            continue
        chosen = [one for one in judge.judge_all([package]) if is_chosen(one, names or SCENARIOS)]
        if chosen:
            copy_all(chosen, folder / package.name)
        count += len(chosen)
    return count


def is_chosen(one, names):
    """Whether the recording is judged right, small, and free of names of this machine."""
    stream = one.recording.stream
    if one.kind != "right" or one.recording.name not in names:
        return False
    text = stream.read_text(errors="replace")
    return len(text) <= SMALL and not any(path in text for path in HERE)


def copy_all(chosen, folder):
    """Copies the streams, and writes one file with what is true of all that are there."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "truth.json"
    truths = json.loads(file.read_text()) if file.exists() else {}
    for one in chosen:
        name, run, truth = one.recording.name, one.recording.run, one.recording.truth
        shutil.copy(one.recording.stream, folder / f"{name}.ndjson")
        known = {} if run["mode"] == "pipe" else {"exit_status": run["exit_status"]}
        truths[name] = known | {key: truth[key] for key in ("outcome", "answer", "calls")}
    write_json(file, dict(sorted(truths.items())))
