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
from scenarios import ALL, PROMPT, SECOND, Scenario

LIMIT = 60  # seconds from the first request, and for the start
SETTLE = 2  # seconds between the stall and the signal
DRAIN = 5  # seconds for the last lines after the agent's exit
ROOT = "/tmp/lab"
# What the lab does to any agent, whatever the agent can.
UNREACHED = {"no-server", "no-tls", "no-name"}
ANY = set("no-key no-server no-tls no-name no-prompt full-disk full read-only-home broken-config absent slow".split())
OWN_DISK = {"full-disk", "full", "read-only-home"}
SLOW = 20  # seconds that a slow reader waits
DISK = "256m"
ALONE = "NDJSON_CHECK_LAB_ALONE"  # set where only this program and its children are


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
        self.url = {
            "no-server": "http://127.0.0.1:9",
            "no-tls": url.replace("http:", "https:"),
            "no-name": url.replace("127.0.0.1", "no-such-host.invalid"),
        }.get(plan.scenario.needs, url)
        self.place = install.place(plan.package)
        self.home = top / "home"
        self.work = top / "work"
        server = "no_such_server.py" if "absent" in plan.scenario.needs else "mcp_server.py"
        self.mcp = [sys.executable, str(Path(__file__).with_name(server))]
        self.wanted = {*plan.scenario.needs.split(), plan.variant} - {""}
        if not again:
            self.wanted -= {"resume"}
        self.key = "" if self.needs("no-key") else "test-key"

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
    if os.environ.get(ALONE):
        lo_up()
        return
    unshare = ["unshare", "--net", "--mount"]
    if os.geteuid() != 0:
        unshare += ["--map-current-user", "--keep-caps"]
    if subprocess.run([*unshare, "true"], capture_output=True).returncode == 0:
        os.execvpe(
            "unshare", [*unshare, sys.executable, *sys.argv], {**os.environ, ALONE: "1"}
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
    small = False
    try:
        with Model(plan.scenario.script) as model:
            if plan.scenario.needs in OWN_DISK:
                small = small_disk(top / "home")
                if not small:
                    model.missing = "no disk of our own, which can be full"
            if plan.scenario.needs in UNREACHED:
                model.asked = time.monotonic()
            again = plan.scenario.needs == "resume"
            if again:
                execute(Plan(plan.package, plan.scenario), Run(plan, model.url, top), model, top / "first")
                model.log.clear()
                model.asked = None
                model.count = 0
            happened = execute(plan, Run(plan, model.url, top, again), model, top / "out")
            happened["survivors"] = kill_survivors(top)
            happened["asked"] = bool(model.log)
            ended = happened["killed"] or happened["timed_out"]
            if ended and not model.log and plan.scenario.needs not in UNREACHED:
                model.missing = "it asked the model nothing before it was ended"
            if "hooks" in plan.scenario.needs.split() and not (top / "home/hooked").exists():
                model.missing = model.missing or "no hook ran"
            happened["missing"] = model.missing
            happened["made"] = (top / "work/made.txt").exists()
            save(plan, model, top, happened)
            return happened
    finally:
        kill_survivors(top)
        if small:
            subprocess.run(["umount", "--lazy", top / "home"])
        shutil.rmtree(top, ignore_errors=True)


def small_disk(folder):
    """Mounts a small disk, which only this program and its children see. False if that fails."""
    folder.mkdir()
    if not os.environ.get(ALONE):
        return False
    mount = ["mount", "-t", "tmpfs", "-o", f"size={DISK}", "lab", folder]
    return subprocess.run(mount, capture_output=True).returncode == 0


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
        path.write_text(content[: len(content) // 2] if run.needs("broken-config") else content)
    if run.needs("read-only-home"):
        subprocess.run(["mount", "-o", "remount,ro", run.home], check=True)
    if run.needs("full"):
        subprocess.run(f"cat /dev/zero > {run.home}/full", shell=True, stderr=subprocess.DEVNULL)
    if run.needs("no-prompt"):
        launch.args = ["" if arg == PROMPT else arg for arg in launch.args]
    # An empty key is no key.
    env = {name: value for name, value in {**environment(run), **launch.env}.items() if value}
    if launch.before:
        subprocess.run(
            launch.before, cwd=run.work, env=env, stdin=subprocess.DEVNULL, capture_output=True, timeout=LIMIT
        )

    begin = time.monotonic()
    with open(out / "stderr.txt", "wb") as stderr:
        agent, reader = start(plan, launch, run.work, env, stderr, out)
        if launch.input:
            threading.Thread(target=feed, args=(agent, launch.input, model, run), daemon=True).start()
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
        live = live_report(out / "live.json")
        # The agent's own.
        happened["exit_status"] = 128 + live["signal"] if "signal" in live else live.get("exit_status")
        happened["stopped"] = live.get("outcome") == "timed-out"
    return happened


def live_report(report):
    """What run mode said of the stream."""
    lines = [json.loads(line) for line in report.read_text().splitlines()] if report.exists() else []
    return next((line for line in lines if line["type"] == "stream"), {})


def feed(agent, steps, model, run):
    """Gives the agent its messages by standard input, each when its time has come."""
    try:
        for when, line in steps:
            wait_for(when, agent, model, run)
            agent.stdin.write(line.encode() + b"\n")
            agent.stdin.flush()
        wait_for("answer", agent, model, run)
        agent.stdin.close()
    except OSError:
        pass  # it ended


def wait_for(when, agent, model, run):
    """`answer`: one more answer of the model is given; `started`: a command runs."""
    before = model.ended
    while when and agent.poll() is None:
        if model.ended > before if when == "answer" else (run.work / "started").exists():
            time.sleep(SETTLE)
            return
        time.sleep(0.1)


def through_acp(run, args):
    client = [sys.executable, str(Path(__file__).with_name("acp.py"))]
    if run.needs("deny"):
        client += ["--deny"]
    if run.needs("mcp"):
        client += ["--mcp", json.dumps(run.mcp)]
    if run.needs("input"):
        client += ["--second", SECOND]
    if run.plan.scenario.calls == "interrupted":
        client += ["--cancel-at", "started"]
    return [*client, PROMPT, "--", *args]


class Reader(threading.Thread):
    """Keeps the stream, and in a pipe passes it to ndjson-check."""

    def __init__(self, source, target, check, wait=0):
        super().__init__(daemon=True)
        self.source, self.target, self.check = source, target, check
        self.wait = wait
        self.start()

    def run(self):
        if self.check:
            self.check.wait()
            return
        time.sleep(self.wait)
        with open(self.target, "wb") as target:
            while content := self.source.read1():
                target.write(content)


def start(plan, launch, work, env, stderr, out):
    args = launch.args
    stream = out / "stream.ndjson"
    report = ["--report", f"json={out / 'live.json'}", "--quiet", "--tee", stream]
    if plan.mode == "run":
        no_input = [] if launch.input else ["--no-stdin"]
        flags = [*no_input, *plan.scenario.flags.split(), "--timeout", f"{2 * LIMIT}s"]
        args = [checker(), *flags, *report, "--", *args]
    if plan.mode == "pipe":
        # The alarm comes early from us: see `kill`.
        args = ["timeout", "-s", plan.signal or "TERM", "-k", "12", str(2 * LIMIT), *args]
    agent = subprocess.Popen(
        args,
        cwd=work,
        env=env,
        stdin=subprocess.PIPE if launch.input else subprocess.DEVNULL,
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
    return agent, Reader(agent.stdout, target, check, SLOW if plan.scenario.needs == "slow" else 0)


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
        {**about, **happened, "date": time.strftime("%Y-%m-%d")},
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


def is_recorded(plan):
    """Whether there is a recording; a run that was dropped may be tried again."""
    file = plan.folder / "run.json"
    return file.exists() and not json.loads(file.read_text())["missing"]


def write_json(path, value):
    text = json.dumps(value, indent=1, ensure_ascii=False)
    if any("\ud800" <= one <= "\udfff" for one in text):
        text = json.dumps(value, indent=1)
    path.write_text(text + "\n")


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
            if not fits(scenario, entry, form, mode):
                continue
            if sign and not scenario.stalls:
                continue
            signals = (sign or "TERM") if scenario.stalls else ""
            for one in signals.split(","):
                yield Plan(package, scenario, form, mode, one)


def fits(scenario, entry, form, mode):
    """Whether this agent can run the scenario in this form of its stream."""
    can = entry.can | ANY
    if form == "acp":
        # What the client does; flags of the command line are not there.
        can = (can | {"input"}) - {"schema", "fallback", "steer", "resume"}
    if form == "app-server":
        can = can - {"resume"}
    if scenario.flags and mode != "run":
        return False
    return set(scenario.needs.split()) <= can
