#!/usr/bin/env python3
"""Writes an archive of recordings: archive.py FOLDER COUNT

The recordings are those of fixtures/agents and lab/recordings, many times, as
FOLDER/<repository>/<day>/<number>.ndjson; every fourth is compressed. There are 37 repositories and
a year of days. Three things are invented, for questions to have an answer: what a run of Claude
Code costs; its versions, of which 2.9.1 loses the results of calls in one run of two; and one
recording whose compressed file is cut. The same COUNT gives the same recordings everywhere.
"""

import datetime
import gzip
import pathlib
import random
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
REPOSITORIES = 37
FIRST_DAY = datetime.date(2025, 11, 1)
# The first day of each version.
VERSIONS = [("2025-11-01", b"2.9.0"), ("2026-06-01", b"2.9.1"), ("2026-09-01", b"2.9.2")]
LOSES_CALLS = b"2.9.1"


def sources():
    """The recordings that need no flag, by their paths."""
    paths = [*ROOT.glob("fixtures/agents/*/*.ndjson"), *ROOT.glob("lab/recordings/*/*.ndjson")]
    # These profiles are not detected.
    known = [it for it in paths if it.parent.name not in ("jsonl", "claude-like")]
    return sorted(it for it in known if not it.with_suffix(".args").exists())


def of_claude(recording, day, chance):
    """A run of Claude Code on this day."""
    version = [name for first, name in VERSIONS if first <= day][-1]
    cost = b"%.4f" % (0.01 * chance.paretovariate(1.5))
    for name, value in [(b"claude_code_version", b'"%s"' % version), (b"total_cost_usd", cost)]:
        recording = re.sub(rb'("%s": ?)("[^"]*"|[0-9.]+)' % name, rb"\g<1>" + value, recording)
    if version == LOSES_CALLS and chance.random() < 0.5 and not recording.startswith(b"["):
        lines = recording.splitlines(keepends=True)
        recording = b"".join(it for it in lines if b'"type":"tool_result"' not in it)
    return recording


def write(folder, count):
    chance = random.Random(37)
    recordings = [(it.parent.name, it.read_bytes()) for it in sources()]
    for number in range(count):
        repository = int(REPOSITORIES * chance.random() ** 2) + 1
        day = str(FIRST_DAY + datetime.timedelta(days=chance.randrange(365)))
        agent, recording = recordings[number % len(recordings)]
        if agent == "claude":
            recording = of_claude(recording, day, chance)
        place = folder / f"repository-{repository:02}" / day
        place.mkdir(parents=True, exist_ok=True)
        path = place / f"{number:07}.ndjson"
        if number % 4 == 3:
            path = path.with_suffix(".ndjson.gz")
            recording = gzip.compress(recording, mtime=0)
        if number == 3:
            recording = recording[: len(recording) // 2]
        path.write_bytes(recording)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    write(pathlib.Path(sys.argv[1]), int(sys.argv[2]))
