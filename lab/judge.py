"""Holds what ndjson-check says of each recording against the truth.

Each recording is judged twice: with its exit status, as in run mode, and without, as in a pipe.
"""

import csv
import json
import os
import re
import subprocess
import tempfile
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path

import agents
import install
import truth
import why
from record import checker
from scenarios import ALL

LISTED = Path(__file__).with_name("listed.tsv")

# What may be wrong with the stream of a run that failed.
FAIR = {
    "missing-terminal-event",
    "truncated-line",
    "missing-final-newline",
    "unfinished-call",
    "unfinished-text",
    "empty-stream",
    "empty-answer",
    "all-calls-refused",
    "run-failed",
    "stderr-in-stream",
    "silent-failure",
    "success-after-fatal-error",
    "pipe-held-open",
}


@dataclass
class Recording:
    folder: Path
    run: dict
    truth: dict

    @property
    def agent(self):
        return f"{self.run['agent']}-{self.run['version']}"

    @property
    def name(self):
        return self.folder.name

    @property
    def stream(self):
        return self.folder / "stream.ndjson"

    @property
    def refused(self):
        """Whether the scenario makes the agent refuse every call: `all-calls-refused` is right."""
        scenario = ALL[self.run["scenario"]]
        return scenario.calls == "refused" or "block" in scenario.needs.split()


@dataclass
class Fault:
    """One thing that we say and that is not so."""

    what: str
    said: str
    truth: str
    line: int | None = None
    why: str = ""  # from the list; empty if the fault is not listed


@dataclass
class Judgement:
    recording: Recording
    faults: list = field(default_factory=list)
    outcomes: dict = field(default_factory=dict)  # who says what: True is success

    @property
    def kind(self):
        if any(not fault.why for fault in self.faults):
            return "wrong"
        return "invisible" if self.faults else "right"


def runs(packages):
    """The folder of each run of these packages, and what is written of it."""
    for package in packages:
        for file in sorted((install.folder() / "rec" / package.name).glob("*/run.json")):
            run = json.loads(file.read_text())
            yield file.parent, run, lacks(file.parent, run)


def lacks(folder, run):
    """Why the run says nothing of its scenario. None if it does."""
    if run["scenario"] not in ALL:
        return "the lab has no such scenario any more"
    return run["missing"] or (None if (folder / "stream.ndjson").exists() else "it has no stream")


def recordings(packages):
    """The recordings that can be judged."""
    for folder, run, lack in runs(packages):
        if not lack:
            log = json.loads((folder / "requests.json").read_text())
            yield Recording(folder, run, truth.of(ALL[run["scenario"]], log, run))


@dataclass
class Dropped:
    """A run that says nothing of its scenario, and why."""

    agent: str
    name: str
    why: str

    def __str__(self):
        return f"{self.agent} {self.name}: {self.why}"


def dropped(packages):
    return [
        Dropped(f"{run['agent']}-{run['version']}", folder.name, lack)
        for folder, run, lack in runs(packages)
        if lack
    ]


def judge(recording):
    result = Judgement(recording)
    known = recording.run["mode"] != "pipe"
    entry = agents.expected(recording.run)
    if known:
        said = check(recording.stream, recording.run["exit_status"])
        result.faults += compare(said, recording, entry)
        result.outcomes["with status"] = passes(said, recording)
        result.outcomes["status"] = recording.run["exit_status"] == 0
    said = check(recording.stream, texts=not known)
    result.outcomes["stream"] = passes(said, recording)
    result.faults += compare_pipe(said, recording) if known else compare(said, recording, entry)
    if entry.jq:
        result.outcomes["jq"] = jq(entry.jq, recording.stream)
    if recording.run["survivors"]:
        names = ", ".join(sorted(set(recording.run["survivors"])))
        if recording.run["mode"] == "run":
            result.faults.append(Fault("survivors", names, "no process is left"))
    if recording.run.get("stopped"):
        result.faults.append(Fault("stopped", "timed out", "it was at work"))
    for fault in result.faults:
        fault.why = reason(recording, fault)
    return result


def passes(said, recording):
    return said.code == 0 or (said.code == 1 and recording.refused)


@dataclass
class Said:
    """What ndjson-check says of a stream."""

    code: int
    stream: dict
    diagnostics: list
    answer: str
    transcript: str

    def __str__(self):
        if self.code == 2:
            return "exit code 2"
        return f"{self.stream['verdict']}, {self.stream['outcome']}"

    @property
    def line(self):
        return next((one.get("line") for one in self.diagnostics if one["severity"] == "error"), None)


def check(stream, status=None, texts=True):
    known = [] if status is None else ["--exit-status", str(status)]
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        code, answer = convert("answer", ["--report", f"json={report}", *known, stream])
        transcript = convert("transcript", [*known, stream])[1] if texts else ""
        lines = [json.loads(line) for line in report.read_text().splitlines()] if report.exists() else []
    diagnostics = [line for line in lines if line["type"] == "diagnostic"]
    found = next((line for line in lines if line["type"] == "stream"), {})
    return Said(code, found, diagnostics, answer, transcript)


def convert(form, args):
    done = subprocess.run(
        [checker(), "--quiet", "--raw", "--to", form, *args],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    return done.returncode, done.stdout.decode(errors="replace")


def compare(said, recording, entry):
    """The faults of a verdict that had everything there is to know."""
    truth = recording.truth
    if said.code == 2:
        return [Fault("not recognised", str(said), f"a stream of {entry.profile}")]
    profile = said.stream.get("profile")
    if said.stream["events"] == 0 and said.code != 0:
        # Nothing shows which agent it was.
        return [Fault("false failure", str(said), "succeeded")] if truth["outcome"] == "succeeded" else []
    if profile not in entry.profile.split():
        # What else it says follows from that.
        return [Fault("profile", profile, entry.profile)]
    faults = []
    if truth["outcome"] == "succeeded":
        faults += compare_success(said, truth)
    elif truth["outcome"] == "failed" and said.code == 0:
        faults.append(Fault("false success", str(said), "failed"))
    elif truth["outcome"] == "failed" and said.answer:
        faults.append(Fault("answer of a failed run", repr(said.answer[:60]), "none"))
    faults += compare_calls(said, truth)
    faults += unfair(said, recording)
    return faults


def compare_success(said, truth):
    if said.code == 3:
        return [Fault("false failure", str(said), "succeeded", said.line)]
    if said.code != 0:
        return []  # each error is a separate fault
    faults = []
    if not same_text(said.answer, truth["answer"]):
        faults.append(Fault("answer", repr(said.answer[:60]), repr(truth["answer"][:60])))
    times = said.transcript.count(truth["answer"].rstrip())
    least, most = truth["times"]
    if not least <= times <= most:
        faults.append(Fault("transcript", f"the answer {times} times", f"{least} to {most} times"))
    return faults


def same_text(one, other):
    """Whether two answers are the same, but for white space at the end, or within JSON."""
    if one.rstrip() == other.rstrip():
        return True
    try:
        return json.loads(one) == json.loads(other)
    except ValueError:
        return False


def compare_calls(said, truth):
    counts = said.stream.get("tool_call_counts") or Counter()
    became, want = truth["became"], truth["calls"]
    if truth["outcome"] == "failed" and became != "unfinished":
        return []  # a call may have been on its way
    refused = counts["rejected"] + counts["denied"]
    failed, unfinished = counts["failed"], counts["unfinished"]
    got = f"{counts['total']} calls, {failed} failed, {refused} refused, {unfinished} unfinished"
    fault = Fault("calls", got, f"{want} {became}")
    if became == "any":
        return []
    if counts["total"] != want:
        return [fault]
    right = {
        "succeeded": counts["failed"] + refused + counts["unfinished"] == 0,
        "started": counts["failed"] + refused == 0,
        "failed": counts["failed"] + refused == want,
        "refused": refused == want,
        "unfinished": counts["succeeded"] == 0,
        "mixed": failed + refused == 1 and counts["unfinished"] == 0,
        "interrupted": counts["succeeded"] + refused == 0,
    }
    return [] if right[became] else [fault]


def unfair(said, recording):
    """Errors and unknown events that no run of the agent deserves."""
    faults = {}
    fair = FAIR if recording.truth["outcome"] != "succeeded" else {"stderr-in-stream"}
    if recording.refused:
        fair = fair | {"all-calls-refused"}
    for one in said.diagnostics:
        if one["rule"] == "unknown-event" or (one["severity"] == "error" and one["rule"] not in fair):
            faults.setdefault(
                (one["rule"], one["message"]), Fault(one["rule"], one["message"], "in order", one.get("line"))
            )
    return list(faults.values())


def compare_pipe(said, recording):
    """Without the exit status, only the outcome is compared."""
    truth = recording.truth["outcome"]
    if said.code == 2:
        return []  # told once
    if truth == "succeeded" and said.code == 3:
        return [Fault("false failure in a pipe", str(said), truth, said.line)]
    if truth == "succeeded" and not passes(said, recording):
        return [Fault("false error in a pipe", str(said), truth, said.line)]
    if truth == "failed" and said.code == 0:
        return [Fault("false success in a pipe", str(said), truth)]
    return []


def jq(filter, stream):
    """What the usual one-liner says of the last event that it finds. None without jq."""
    try:
        return (
            subprocess.run(["jq", "-es", f"[.[] | {filter}] | last", stream], capture_output=True).returncode
            == 0
        )
    except FileNotFoundError:
        return None


def listed():
    with open(LISTED, newline="") as rows:
        return list(csv.DictReader(rows, delimiter="\t"))


def reason(recording, fault):
    """The written reason of a fault that is listed."""
    keys = {"agent": recording.agent, "recording": recording.name, "fault": fault.what}
    for row in LIST:
        if all(fnmatchcase(value, row[key]) for key, value in keys.items()):
            return row["why"]
    return ""


LIST = listed()


# The table


def judge_all(packages):
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return list(pool.map(judge, recordings(packages)))


def report(judgements, dropped, everything=False):
    """The table, then the runs that were dropped, then each fault."""
    width = max((len(one.recording.agent) for one in judgements), default=0)
    lost = Counter(one.agent for one in dropped)
    lost["all"] = len(dropped)
    print(
        f"{'':{width}}  runs  right  wrong  invisible  dropped | false success: status  jq  pipe  ours | false alarm: status  jq  pipe  ours"
    )
    for agent, some in [*groups(judgements).items(), ("all", judgements)]:
        kinds = Counter(one.kind for one in some)
        good, bad = alarms(some)
        numbers = f"{len(some):4}  {kinds['right']:5}  {kinds['wrong']:5}  {kinds['invisible']:9}  {lost[agent]:7}"
        columns = [" ".join(f"{side[who]:5}" for who in WHO) for side in (bad, good)]
        print(f"{agent:{width}}  {numbers} | {columns[0]:>35} | {columns[1]:>33}")
    for one in dropped:
        print(f"dropped: {one}")
    for (agent, what, why, _), found in alike(judgements).items():
        if why and not everything:
            continue
        one, fault = found[0]
        line = f", line {fault.line}" if fault.line else ""
        print(f"\n{agent}: {what}: {fault.said}, but {fault.truth} ({one.recording.name}{line})")
        if len(found) > 1:
            print("  and " + ", ".join(other.recording.name for other, _ in found[1:]))
        if why:
            print(f"  listed: {why}")


def reasons(packages, everything):
    """How many runs have the right reason; with `everything`, those that have not."""
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        whys = [found for found in pool.map(why.of, recordings(packages)) if found]
    why.table(whys)
    if everything:
        print()
        why.faults(whys)


def alike(judgements):
    """The faults of each agent that are the same fault, with their recordings."""
    found = {}
    for one in judgements:
        for fault in one.faults:
            key = (one.recording.agent, fault.what, fault.why, likeness(fault))
            found.setdefault(key, []).append((one, fault))
    return found


def likeness(fault):
    """What two faults have in common: messages of rules differ only in numbers."""
    if fault.what == "calls":
        return fault.said
    return re.sub(r"\d+", "N", fault.said) if "-" in fault.what else ""


WHO = ("status", "jq", "stream", "with status")


def groups(judgements):
    found = {}
    for one in judgements:
        found.setdefault(one.recording.agent, []).append(one)
    return found


def alarms(judgements):
    """Good runs called bad, and bad runs called good, by each way of asking."""
    good, bad = Counter(), Counter()
    for one in judgements:
        truth = one.recording.truth["outcome"]
        for who, success in one.outcomes.items():
            good[who] += truth == "succeeded" and success is False
            bad[who] += truth == "failed" and success is True
    return good, bad


def markdown(judgements, dropped):
    """The tables of results.md: by agent, and by the form of the runs."""
    lost = Counter(one.agent for one in dropped)
    lost["all"] = len(dropped)
    head = "runs | right | wrong | invisible | dropped | passed as success: status | jq | pipe | run mode"
    print(f"| agent | version | date | {head} |\n|{'---|' * 12}")
    for agent, some in [*groups(judgements).items(), ("all", judgements)]:
        run = some[0].recording.run
        date = max(one.recording.run["date"] for one in some)
        who = ["all", "", ""] if agent == "all" else [run["agent"], run["version"], date]
        print(row([*who, *figures(some, lost[agent])]))
    print(f"\n| form | made by | {head.replace(' dropped |', '')} |\n|{'---|' * 10}")
    for (form, command), some in forms(judgements).items():
        cells = figures(some, 0)
        print(row([form, f"`{command}`", *cells[:4], *cells[5:]]))


def row(cells):
    return "| " + " | ".join(str(cell) for cell in cells) + " |"


def figures(some, lost):
    """The columns of the table: how many are right and so on, and what passed as success."""
    kinds = Counter(one.kind for one in some)
    failed = sum(one.recording.truth["outcome"] == "failed" for one in some)
    _, bad = alarms(some)
    passed = [f"{bad[who]} of {failed}" if who == "status" else bad[who] for who in WHO]
    return [len(some), kinds["right"], kinds["wrong"], kinds["invisible"], lost, *passed]


def forms(judgements):
    """The judgements by how the runs were made, each with the command that makes such runs."""
    found = {}
    for one in judgements:
        run = one.recording.run
        flags = []
        if run["variant"] and agents.ALL[run["agent"]].profile != run["variant"]:
            flags.append(f"--variant {run['variant']}")
        if run["mode"]:
            flags.append("--pipe" if run["mode"] == "pipe" else "--run-mode")
        if run["signal"] not in ("", "TERM"):
            flags.append(f"--kill {run['signal']}")
        form = " ".join(flag.removeprefix("--").removeprefix("variant ") for flag in flags) or "direct"
        found.setdefault((form, " ".join(["lab run", *flags])), []).append(one)
    return dict(sorted(found.items()))
