#!/usr/bin/env python3
"""How long a line takes from its producer to the reader of `--to text`, next to `cat`.

latency.py PROGRAM [LINES] [ROUNDS]

A producer writes a completed tool call each millisecond, with the time in the command; `cat` and
`PROGRAM --to text` pass it on in turn; a reader notes when its line arrives. The last line is the
ratio of the medians of the rounds' 99th percentiles.
"""

import json
import re
import statistics
import subprocess
import sys
import time

PRODUCER = """
import sys, time
start, done, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
out = sys.stdout.buffer
out.write(sys.argv[4].encode())
begin = time.monotonic_ns() + 50_000_000
for number in range(count):
    due = begin + number * 1_000_000
    while (wait := due - time.monotonic_ns()) > 0:
        time.sleep(wait / 2e9 if wait > 200_000 else 0)
    now = time.monotonic_ns()
    text = (start + done).replace("ID", str(number)).replace("TIME", f"t{now}t")
    out.write(text.encode())
    out.flush()
"""


def events():
    """The first event of a stream, and both halves of a call."""
    call = {"shellToolCall": {"args": {"command": "echo TIME"}}}
    done = {"shellToolCall": {**call["shellToolCall"], "result": {"success": {"exitCode": 0}}}}
    common = {"type": "tool_call", "call_id": "call_ID", "session_id": "s"}
    init = {"type": "system", "subtype": "init", "session_id": "s", "cwd": "/", "model": "m",
            "apiKeySource": "login", "permissionMode": "default"}
    rows = [init, {**common, "subtype": "started", "tool_call": call},
            {**common, "subtype": "completed", "tool_call": done}]
    return [json.dumps(row) + "\n" for row in rows]


def latencies(command, count):
    """The milliseconds that each completed call took through a command."""
    init, start, done = events()
    producer = [sys.executable, "-c", PRODUCER, start, done, str(count), init]
    with subprocess.Popen(producer, stdout=subprocess.PIPE) as source:
        with subprocess.Popen(command, stdin=source.stdout, stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, bufsize=0) as passed:
            source.stdout.close()
            found, rest = [], b""
            while chunk := passed.stdout.read(65536):
                now = time.monotonic_ns()
                *lines, rest = (rest + chunk).split(b"\n")
                whole = [line for line in lines if b'"started"' not in line]
                times = [re.search(rb"t(\d{9,})t", line) for line in whole]
                found += [(now - int(time[1])) / 1e6 for time in times if time]
    assert len(found) == count, f"{command}: {len(found)} of {count} lines"
    return sorted(found)


def main():
    program = sys.argv[1]
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 5000
    rounds = int(sys.argv[3]) if len(sys.argv) > 3 else 5
    commands = {"cat": ["cat"], "--to text": [program, "--profile", "cursor", "--to", "text"]}
    ends = {name: [] for name in commands}
    for _ in range(rounds):
        for name, command in commands.items():
            found = latencies(command, count)
            middle, end = found[count // 2], found[count * 99 // 100]
            ends[name].append(end)
            print(f"{name:10} median {middle:.3f} ms, 99th percentile {end:.3f} ms")
    cat, tool = (statistics.median(of) for of in ends.values())
    print(f"ratio of the 99th percentiles: {tool / cat:.2f}")


if __name__ == "__main__":
    main()
