"""Holds the reasons that ndjson-check gives against the truth.

Each run is asked about three times: its stream as in a pipe, with its exit status, and in run
mode, where its standard error is read, too.
"""

import json
import subprocess
import tempfile
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from record import checker

# What the model server did, and the reasons that this can have.
TRUE = {
    "http-401": {"auth"},
    "http-402": {"billing"},
    "http-404": {"model-not-found"},
    "http-429": {"rate-limit"},
    "http-500": {"overloaded"},
    "no-key": {"auth"},
    "no-server": {"network"},
    "cut": {"network"},
    "reset": {"network"},
    "error": {"overloaded"},
    "length": {"output-limit"},
    "filter": {"content-filter", "refusal"},
    "refusal": {"content-filter", "refusal"},
    "http-403": {"auth"},
    "http-413": {"context-overflow"},
    "http-529": {"overloaded"},
    "http-429-hour": {"rate-limit", "billing"},
    "http-400-credit": {"billing"},
    "html-502": {"overloaded", "network"},
    "error-200": {"billing", "network", "overloaded", "rate-limit"},
    "html-200": {"network", "overloaded"},
    "empty-200": {"network", "overloaded"},
    "config-broken": {"config"},
    "no-prompt": {"config"},
    "quit": {"network"},
    "context": {"context-overflow"},
    "max-turns": {"max-turns"},
    "hook-blocks-prompt": {"permission"},
    "hook-halts": {"permission"},
    "kill-parent": {"killed"},
    "term-parent": {"interrupted"},
    "hup-parent": {"interrupted"},
    "server-gone": {"network"},
    "garbage": {"network", "overloaded"},
    "spoof": {"overloaded"},
    "forge": {"network"},
    "plan": {"permission"},
    "http-401-late": {"auth"},
    "no-tls": {"network"},
    "no-dns": {"network"},
    "html-504": {"overloaded", "network"},
    "html-407": {"config", "network"},
    "error-429": {"rate-limit"},
    "error-context": {"context-overflow"},
    "error-402": {"billing", "rate-limit"},
    "compact-fails": {"overloaded"},
    "length-empty": {"output-limit"},
    "quit-call": {"network"},
}

# A signal that the lab sent, and the reasons that its end can have.
ENDED = {"TERM": "interrupted", "INT": "interrupted", "KILL": "killed"}

# The three ways to ask.
WAYS = ("pipe", "status", "run mode")


def true_reasons(run, outcome):
    """The reasons that a run can have; none if the lab does not know."""
    if outcome != "failed":
        return {"completed"} if outcome == "succeeded" else set()
    scenario = run["scenario"]
    found = next((TRUE[name] for name in sorted(TRUE, key=len, reverse=True) if begins(scenario, name)), None)
    if run["killed"]:
        return {ENDED[run["signal"]]}
    if found and run["timed_out"]:
        # It asked again and again until the lab ended it: both are true.
        return found | {ENDED["TERM"]}
    return found or set()


def begins(scenario, name):
    return scenario == name or scenario.startswith(name + "-")


@dataclass
class Why:
    """What is said of one run, by each way to ask."""

    agent: str
    name: str
    true: set
    said: dict

    @property
    def is_good(self):
        return self.true == {"completed"}

    def kind(self, way):
        said = self.said[way]
        if said in self.true:
            return "right"
        return "silent" if said in ("unknown", "none") else "hidden" if said == "completed" else "wrong"


def of(recording):
    """What is said of a run; none if its reason is not known."""
    run = recording.run
    true = true_reasons(run, recording.truth["outcome"])
    if not true or run["mode"]:
        return None
    status = str(run["exit_status"])
    stream, stderr = str(recording.stream), str(recording.folder / "stderr.txt")
    script = f'cat "$1"; cat "$2" >&2; exit {status}'
    with tempfile.TemporaryDirectory() as folder:
        # The name of a program says who was silent.
        agent = Path(folder) / run["agent"]
        agent.symlink_to("/bin/sh")
        said = {
            "pipe": reason([stream]),
            "status": reason(["--exit-status", status, stream]),
            "run mode": reason(["--no-stdin", "--", str(agent), "-c", script, "sh", stream, stderr]),
        }
    return Why(run["agent"], recording.name, true, said)


def reason(arguments):
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        command = [checker(), "--quiet", "--report", f"json={report}", *arguments]
        subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        lines = [json.loads(line) for line in report.read_text().splitlines()]
    return next((line["reason"] for line in lines if line["type"] == "stream"), "none")


def table(whys):
    """How many reasons of each agent are right, by each way to ask, as Markdown; then how many good
    runs have a reason for a failure."""
    good = [why for why in whys if why.is_good]
    whys = [why for why in whys if not why.is_good]
    ways = " | ".join(f"{way}: right | silent | wrong" for way in WAYS)
    print(f"| agent | failures | kinds | {ways} |\n|{'---|' * (3 + 3 * len(WAYS))}")
    agents = sorted({why.agent for why in whys})
    for agent, some in [*((agent, [why for why in whys if why.agent == agent]) for agent in agents), ("all", whys)]:
        kinds = len({why.name.split(".")[0].removesuffix("-after") for why in some})
        cells = [agent, len(some), kinds]
        for way in WAYS:
            count = Counter(why.kind(way) for why in some)
            # A failure that the agent reports as a success is silent, too.
            cells += [count["right"], count["silent"] + count["hidden"], count["wrong"]]
        print("| " + " | ".join(str(cell) for cell in cells) + " |")
    named = [f"{way} {sum(why.kind(way) == 'wrong' for why in good)}" for way in WAYS]
    print(f"\n{len(good)} good runs; with a reason for a failure: {', '.join(named)}")


def faults(whys):
    """Each wrong reason, and those that run mode does not find."""
    for why in whys:
        kinds = [why.kind(way) for way in WAYS]
        if "wrong" in kinds or kinds[-1] != "right":
            said = "; ".join(f"{way} {why.said[way]}" for way in WAYS)
            print(f"{why.agent} {why.name}: {', '.join(sorted(why.true))}, but {said}")
