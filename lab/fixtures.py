"""Copies small recordings, with their truth, to where the tests find them."""

import shutil

import judge
from record import write_json

SMALL = 40_000
CLOSED = ("proprietary", "not stated")


def copy(packages, folder):
    """Copies the recordings of agents whose licence allows it. Returns how many."""
    count = 0
    for package in packages:
        if package.licence in CLOSED:
            continue
        for one in judge.judge_all([package]):
            if one.kind != "wrong" and one.recording.stream.stat().st_size <= SMALL:
                copy_one(one, folder / package.name)
                count += 1
    return count


def copy_one(one, folder):
    folder.mkdir(parents=True, exist_ok=True)
    run, truth = one.recording.run, one.recording.truth
    shutil.copy(one.recording.stream, folder / f"{one.recording.name}.ndjson")
    known = {} if run["mode"] == "pipe" else {"exit_status": run["exit_status"]}
    facts = {name: truth[name] for name in ("outcome", "answer", "calls", "became")}
    listed = {fault.what: fault.why for fault in one.faults}
    write_json(folder / f"{one.recording.name}.truth.json", {**known, **facts, "listed": listed})
