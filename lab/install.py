"""Installs pinned agents with npm and pip, each into a separate folder."""

import csv
import glob
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

TABLE = Path(__file__).with_name("agents.tsv")
LIMIT = 900


@dataclass
class Package:
    agent: str
    registry: str
    package: str
    version: str
    runtime: str
    licence: str
    size_mb: str

    @property
    def name(self):
        return f"{self.agent}-{self.version}"


def folder():
    default = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(os.environ.get("NDJSON_CHECK_LAB") or Path(default) / "ndjson-check-lab")


def place(package):
    return folder() / "agents" / package.name


def table():
    """Every package of the table; the first row of an agent is its main version."""
    with open(TABLE, newline="") as rows:
        return [Package(**row) for row in csv.DictReader(rows, delimiter="\t")]


def choose(names=(), versions=None):
    """The packages of the named agents, `claude` or `claude-2.1.197`; all main versions by default."""
    rows = [row for row in table() if row.agent != "node"]
    chosen = []
    for name in names or dict.fromkeys(row.agent for row in rows):
        fit = [row for row in rows if row.name == name]
        fit = fit or [row for row in rows if row.agent == name][: None if versions == "all" else 1]
        if not fit:
            raise SystemExit(f"lab: no agent {name} in {TABLE.name}")
        chosen += fit
    return chosen


def other_version(agent, version):
    """A version that the table does not have: for `drift`."""
    row = choose([agent])[0]
    return Package(row.agent, row.registry, row.package, version, row.runtime, row.licence, "")


def node():
    """The folder of the `node` that agents run with. It comes from npm too."""
    package = next(row for row in table() if row.agent == "node")
    return place(package) / "node_modules" / package.package / "bin"


def installed(package):
    return (place(package) / "installed").exists()


def install(packages):
    """Installs what is missing. Returns the packages that failed, with the reason."""
    failed = {}
    runtime = next(row for row in table() if row.agent == "node")
    for package in [runtime, *packages]:
        if installed(package):
            continue
        print(f"install {package.name}", file=sys.stderr, flush=True)
        reason = install_one(package)
        if reason:
            failed[package.name] = reason
            print(f"  failed: {reason}", file=sys.stderr, flush=True)
    return failed


def install_one(package):
    target = place(package)
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    with open(target / "install.log", "wb") as log:
        try:
            if package.registry == "npm":
                npm(package, target, log)
            else:
                pip(package, target, log)
        except (subprocess.SubprocessError, OSError, LookupError) as error:
            return f"{error or type(error).__name__}; see {target / 'install.log'}"
    (target / "installed").write_text(f"{size(target)}\n")
    return None


def npm(package, target, log):
    # An older node makes npm take an older agent without a word.
    path = f"{node()}:{os.environ['PATH']}" if node().exists() else os.environ["PATH"]
    command = [
        "npm",
        "install",
        "--no-audit",
        "--no-fund",
        "--prefix",
        target,
        f"{package.package}@{package.version}",
    ]
    if package.runtime == "bun":
        command.append("bun")
    if package.runtime == "node no-scripts":
        command.append("--ignore-scripts")
    subprocess.run(
        command,
        stdout=log,
        stderr=log,
        check=True,
        timeout=LIMIT,
        cwd=target,
        env={**os.environ, "PATH": path},
    )


def pip(package, target, log):
    python = find_python(package.runtime.split()[0])
    subprocess.run([python, "-m", "venv", target / "venv"], stdout=log, stderr=log, check=True, timeout=LIMIT)
    command = [target / "venv/bin/pip", "install", "--no-cache-dir"]
    name = f"{package.package}=={package.version}"

    def run(*what):
        subprocess.run([*command, *what], stdout=log, stderr=log, check=True, timeout=LIMIT)

    for word in package.runtime.split()[1:]:
        if word != "node":
            run("--no-deps", word)

    absent = set()
    while True:
        try:
            if not absent:
                return run(name)
            run("--no-deps", name)
            return run(*unpinned(requirements(target, package), absent))
        except subprocess.CalledProcessError:
            # Some agents pin a version of a library that an index may lack, such as the newest `certifi`.
            lacks = set(LACKS.findall((target / "install.log").read_text(errors="replace")))
            if not lacks - absent or package.package in lacks:
                raise
            absent |= lacks
            print(f"  not in the index, so another version: {', '.join(sorted(lacks))}", file=sys.stderr)


LACKS = re.compile(r"No matching distribution found for ([\w.-]+)==")


def requirements(target, package):
    """What the installed package says that it needs."""
    script = "import importlib.metadata as m, sys; print('\\n'.join(m.requires(sys.argv[1]) or ()))"
    python = target / "venv/bin/python"
    done = subprocess.run([python, "-c", script, package.package], capture_output=True, check=True, text=True)
    return [line for line in done.stdout.splitlines() if "extra ==" not in line]


def unpinned(wanted, absent):
    """The same requirements, with any version of those that the index lacks."""
    names = {name.lower().replace("_", "-") for name in absent}
    found = []
    for one in wanted:
        name = re.match(r"[\w.-]+", one)[0]
        marker = one.partition(";")[1:]
        loose = name.lower().replace("_", "-") in names
        found.append(f"{name} {''.join(marker)}".strip() if loose else one)
    return found


def find_python(name):
    """An interpreter that starts: a version manager's stand-in may not."""
    number = name.removeprefix("python")
    managed = glob.glob(os.path.expanduser(f"~/.pyenv/versions/{number}.*/bin/python"))
    for candidate in [shutil.which(name), *managed]:
        if candidate and subprocess.run([candidate, "--version"], capture_output=True).returncode == 0:
            return candidate
    raise LookupError(f"{name} is not installed")


def size(target):
    """The size of a folder in MB."""
    seen = sum(
        os.lstat(os.path.join(top, name)).st_size for top, _, names in os.walk(target) for name in names
    )
    return round(seen / 1e6)
