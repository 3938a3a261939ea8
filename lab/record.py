"""One run of one agent: starts it against the scripted model, ends it, and saves its stream."""

import fcntl
import json
import os
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass
from pathlib import Path

import agents
import install
import truth
from model import Model
from scenarios import ALL, PROMPT, Scenario

LIMIT = 60  # seconds from the first request, and for the start
SETTLE = 2  # seconds between the stall and the signal
DRAIN = 5  # seconds for the last lines after the agent's exit
ROOT = "/tmp/lab"


@dataclass
class Plan:
    """What to run, and how: directly, in a pipe, or in run mode."""

    package: install.Package
    scenario: Scenario
    variant: str = ""
    mode: str = ""  # "", "pipe" or "run"
    signal: str = ""

    @property
    def name(self):
        ending = f"kill-{self.signal}" if self.signal else ""
        return ".".join(part for part in (self.scenario.name, self.variant, self.mode, ending) if part)

    @property
    def folder(self):
        return install.folder() / "rec" / self.package.name / self.name


class Run:
    """One run as an agent's entry sees it."""

    def __init__(self, plan, url, top, again=False):
        self.plan = plan
        self.url = url
        self.place = install.place(plan.package)
        self.home = top / "home"
        self.work = top / "work"
        self.mcp = [sys.executable, str(Path(__file__).with_name("mcp_server.py"))]
        self.wanted = {plan.scenario.needs, plan.variant} - {""}
        if not again:
            self.wanted -= {"resume"}

    def needs(self, what):
        return what in self.wanted

    def beside(self, agent):
        """The folder of another agent that this one starts."""
        return install.place(install.choose([agent])[0])


def checker():
    """The ndjson-check to judge."""
    repository = Path(__file__).resolve().parent.parent
    built = [repository / "target" / kind / "ndjson-check" for kind in ("release", "debug")]
    found = os.environ.get("NDJSON_CHECK") or shutil.which("ndjson-check")
    found = found or next((str(path) for path in built if path.exists()), None)
    if not found:
        raise SystemExit("lab: no ndjson-check; set NDJSON_CHECK to its path")
    if not shutil.which(found):
        raise SystemExit(f"lab: {found} is no program; NDJSON_CHECK names it")
    return found


def isolate():
    """Starts this program again in a separate network, where only 127.0.0.1 exists."""
    if os.environ.get("NDJSON_CHECK_LAB_ALONE"):
        lo_up()
        return
    unshare = (
        ["unshare", "--net"]
        if os.geteuid() == 0
        else ["unshare", "--net", "--map-current-user", "--keep-caps"]
    )
    if subprocess.run([*unshare, "true"], capture_output=True).returncode == 0:
        os.execvpe(
            "unshare", [*unshare, sys.executable, *sys.argv], {**os.environ, "NDJSON_CHECK_LAB_ALONE": "1"}
        )
    print("lab: no private network here; the agents could reach the internet", file=sys.stderr)


def lo_up():
    SIOCSIFFLAGS, IFF_UP = 0x8914, 1
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as some:
        fcntl.ioctl(some, SIOCSIFFLAGS, struct.pack("16sh22x", b"lo", IFF_UP))


def record(plan):
    """Runs the plan and saves the stream with its truth. Returns what happened."""
    os.makedirs(ROOT, exist_ok=True)
    top = Path(tempfile.mkdtemp(prefix="run-", dir=ROOT))
    try:
        with Model(plan.scenario.script) as model:
            again = plan.scenario.needs == "resume"
            if again:
                execute(Plan(plan.package, plan.scenario), Run(plan, model.url, top), model, top / "first")
                model.log.clear()
                model.asked = None
                model.count = 0
            happened = execute(plan, Run(plan, model.url, top, again), model, top / "out")
            happened["survivors"] = kill_survivors(top)
            happened["asked"] = bool(model.log)
            if model.log or not (happened["killed"] or happened["timed_out"]):
                save(plan, model, top, happened)
            return happened
    finally:
        kill_survivors(top)
        shutil.rmtree(top, ignore_errors=True)


def execute(plan, run, model, out):
    """Runs one command to its end, or to ours."""
    for folder in (run.home, run.work, out):
        folder.mkdir(exist_ok=True)
    launch = agents.ALL[plan.package.agent](run)
    if run.needs("acp"):
        launch.args = through_acp(run, launch.args)
    for name, content in launch.files.items():
        path = run.home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    env = {**environment(run), **launch.env}
    if launch.before:
        subprocess.run(
            launch.before, cwd=run.work, env=env, stdin=subprocess.DEVNULL, capture_output=True, timeout=LIMIT
        )

    begin = time.monotonic()
    with open(out / "stderr.txt", "wb") as stderr:
        agent, reader = start(plan, launch.args, run.work, env, stderr, out)
        killed = timed_out = False
        if plan.signal:
            killed = wait_for_stall(plan, model, run, agent, begin)
            if killed:
                kill(plan, agent)
        if not ends(agent, model, begin):
            timed_out = True
            stop(agent)
        reader.join(DRAIN)
        kill_group(agent.pid)
        reader.join(DRAIN)
    if launch.sessions:
        for number, session in enumerate(sorted(run.home.glob(launch.sessions)), 1):
            shutil.copy(session, out / f"session-{number}.jsonl")
    status = agent.returncode if agent.returncode >= 0 else 128 - agent.returncode
    happened = {
        "exit_status": status,
        "seconds": round(time.monotonic() - begin, 1),
        "killed": killed,
        "timed_out": timed_out,
    }
    if plan.mode == "run":
        happened["exit_status"] = status_in(out / "live.json")
    return happened


def status_in(report):
    """The agent's own exit status, from the report of run mode."""
    lines = [json.loads(line) for line in report.read_text().splitlines()] if report.exists() else []
    found = next((line for line in lines if line["type"] == "stream"), {})
    return 128 + found["signal"] if "signal" in found else found.get("exit_status")


def through_acp(run, args):
    client = [sys.executable, str(Path(__file__).with_name("acp.py"))]
    if run.needs("deny"):
        client += ["--deny"]
    if run.needs("mcp"):
        client += ["--mcp", json.dumps(run.mcp)]
    return [*client, PROMPT, "--", *args]


class Reader(threading.Thread):
    """Keeps the stream, and in a pipe passes it to ndjson-check."""

    def __init__(self, source, target, check):
        super().__init__(daemon=True)
        self.source, self.target, self.check = source, target, check
        self.start()

    def run(self):
        if self.check:
            self.check.wait()
            return
        with open(self.target, "wb") as target:
            while content := self.source.read1():
                target.write(content)


def start(plan, args, work, env, stderr, out):
    stream = out / "stream.ndjson"
    report = ["--report", f"json={out / 'live.json'}", "--quiet", "--tee", stream]
    if plan.mode == "run":
        args = [checker(), "--no-stdin", "--timeout", f"{2 * LIMIT}s", *report, "--", *args]
    if plan.mode == "pipe":
        # The alarm comes early from us: see `kill`.
        args = ["timeout", "-s", plan.signal or "TERM", "-k", "12", str(2 * LIMIT), *args]
    agent = subprocess.Popen(
        args,
        cwd=work,
        env=env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=stderr,
        start_new_session=True,
    )
    check = None
    if plan.mode == "pipe":
        check = subprocess.Popen(
            [checker(), *report], stdin=agent.stdout, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        agent.stdout.close()
    target = out / "stdout.txt" if plan.mode == "run" else stream
    return agent, Reader(agent.stdout, target, check)


def deadline(model, begin):
    """When the run must have ended. On a busy machine the start takes long."""
    return (model.asked or begin + LIMIT) + LIMIT


def ends(agent, model, begin):
    """Waits until the agent ends. False if it does not."""
    while agent.poll() is None:
        if time.monotonic() > deadline(model, begin):
            return False
        time.sleep(0.05)
    return True


def wait_for_stall(plan, model, run, agent, begin):
    """Waits until the scenario stands still. False if the agent ended before."""
    while time.monotonic() < deadline(model, begin) - 10 and agent.poll() is None:
        if model.stalled.is_set() or (run.work / "started").exists():
            time.sleep(SETTLE)
            return agent.poll() is None
        time.sleep(0.1)
    return agent.poll() is None


def kill(plan, agent):
    """Ends the agent as `timeout`, a supervisor or a terminal does."""
    if plan.mode == "pipe":
        # `timeout` does on SIGALRM what it does when its time is over.
        agent.send_signal(signal.SIGALRM)
    else:
        agent.send_signal(getattr(signal, f"SIG{plan.signal}"))


def stop(agent):
    agent.terminate()
    try:
        agent.wait(8)
    except subprocess.TimeoutExpired:
        kill_group(agent.pid)
        agent.wait()


def kill_group(pid):
    try:
        os.killpg(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


def kill_survivors(top):
    """Kills what left the group, known by its HOME. Returns their names."""
    mark = f"HOME={top}/home".encode()
    names = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if mark in (process / "environ").read_bytes().split(b"\0"):
                names.append((process / "comm").read_text().strip())
                os.kill(int(process.name), signal.SIGKILL)
        except OSError:
            continue
    return names


def environment(run):
    home = str(run.home)
    return {
        "PATH": f"{install.node()}:{os.environ['PATH']}",
        "HOME": home,
        "TMPDIR": str(run.home.parent),
        "XDG_CONFIG_HOME": f"{home}/.config",
        "XDG_DATA_HOME": f"{home}/.local/share",
        "XDG_CACHE_HOME": f"{home}/.cache",
        "XDG_STATE_HOME": f"{home}/.local/state",
        "LANG": "C.UTF-8",
        "TERM": "dumb",
        "SHELL": "/bin/bash",
        "NO_PROXY": "127.0.0.1,localhost",
        "no_proxy": "127.0.0.1,localhost",
        "DO_NOT_TRACK": "1",
        "NO_UPDATE_NOTIFIER": "1",
        "PYTHONUNBUFFERED": "1",
    }


def save(plan, model, top, happened):
    """Saves the recording without the paths and ports of this machine."""
    folder = plan.folder
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for source in (top / "out").iterdir():
        (folder / source.name).write_bytes(neutral(source.read_bytes(), top, model.port))
    write_json(folder / "requests.json", model.log)
    write_json(folder / "truth.json", truth.of(plan.scenario, model.log, happened))
    about = {
        "agent": plan.package.agent,
        "version": plan.package.version,
        "scenario": plan.scenario.name,
        "variant": plan.variant,
        "mode": plan.mode,
        "signal": plan.signal,
    }
    write_json(
        folder / "run.json",
        {**about, **happened, "missing": model.missing, "date": time.strftime("%Y-%m-%d")},
    )


def neutral(content, top, port):
    names = {
        top.name: "run",
        str(install.folder()): "/opt/lab",
        f"127.0.0.1:{port}": "127.0.0.1:8080",
        sys.executable: "python3",
        str(Path(__file__).parent): "/opt/lab",
        str(Path.home()): "/home/user",
        os.uname().release: "6.0.0",
    }
    for old, new in names.items():
        content = content.replace(old.encode(), new.encode())
    return content


def write_json(path, value):
    path.write_text(json.dumps(value, indent=1, ensure_ascii=False) + "\n")


def plans(packages, names=(), variant="", mode="", sign=""):
    """The runs of these packages: the named scenarios, or all that fit."""
    unknown = [name for name in names if name not in ALL]
    if unknown:
        raise SystemExit(f"lab: no scenario {', '.join(unknown)}; there are {', '.join(ALL)}")
    unknown = [one for one in sign.split(",") if one and not hasattr(signal, f"SIG{one}")]
    if unknown:
        raise SystemExit(f"lab: no signal {', '.join(unknown)}")
    for package in packages:
        entry = agents.ALL[package.agent]
        can = entry.can
        form = "acp" if entry.profile == "acp" else variant
        for scenario in ALL.values():
            if form and form not in can:
                continue
            if names and scenario.name not in names:
                continue
            if scenario.needs and scenario.needs not in can:
                continue
            if sign and not scenario.stalls:
                continue
            signals = (sign or "TERM") if scenario.stalls else ""
            for one in signals.split(","):
                yield Plan(package, scenario, form, mode, one)
