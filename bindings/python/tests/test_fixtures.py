"""Every fixture and every recording gives the events of the program, however its bytes are cut."""

import os
import subprocess
from collections.abc import Callable, Iterator
from itertools import cycle
from pathlib import Path
from typing import Any

import ndjson_check as nc
import pytest

from conftest import FIXTURES, ROOT

CASES = sorted(FIXTURES.rglob("*.ndjson"))
RECORDINGS = sorted((ROOT / "lab" / "recordings").rglob("*.ndjson"))


def profile_of(case: Path) -> str | None:
    if not case.is_relative_to(FIXTURES):
        return None
    parts = case.relative_to(FIXTURES).parts
    if parts[0] == "agents" and parts[1] != "cursor":
        return parts[1]
    if parts[0] == "profiles":
        return str(FIXTURES / "profiles" / parts[1] / "profile.json")
    return None


LEVELS = {"--deny": "error", "--warn": "warning", "--allow": "off"}


def options_of(case: Path, folder: Path) -> tuple[list[str], dict[str, object]]:
    """The flags of the case that the binding has as options, and these. Limits go to a file."""
    file = case.with_suffix(".args")
    flags = file.read_text().split() if file.exists() else []
    used: list[str] = []
    options: dict[str, object] = {}
    rules: dict[str, str] = {}
    limits = ""
    if (profile := profile_of(case)) is not None:
        flags = ["--profile", profile, *flags]
    while flags:
        flag = flags.pop(0)
        if flag == "--strict":
            used.append(flag)
            options["strict"] = True
            continue
        value = flags.pop(0)
        if flag in LEVELS:
            rules[value] = LEVELS[flag]
        elif flag == "--exit-status":
            options["exit_status"] = int(value)
        elif flag == "--profile":
            options["profile"] = value
        else:
            assert flag.startswith("--max-"), flag
            if flag == "--max-line-bytes":
                continue
            limits += f"limits.{flag.removeprefix('--max-')} = {value}\n"
        used += [flag, value]
    if rules:
        options["rules"] = rules
    if limits:
        config = folder / "ndjson-check.toml"
        config.write_text(limits)
        options["config"] = config
    return used, options


def test_there_are_cases() -> None:
    assert len(CASES) > 500 and len(RECORDINGS) > 90


@pytest.mark.parametrize("case", CASES + RECORDINGS, ids=lambda it: str(it.relative_to(ROOT)))
def test_events_are_those_of_the_program(case: Path, program: str, tmp_path: Path) -> None:
    flags, options = options_of(case, tmp_path)
    command = [program, "--no-config", "--quiet", "--raw", "--to", "events", *flags, "-"]
    data = case.read_bytes()
    done = subprocess.run(command, input=data, capture_output=True, cwd=ROOT)
    expected = done.stdout.decode().split("\n")[:-1]
    if done.returncode not in (0, 1, 3, 4, 5) and not expected:
        with pytest.raises(nc.NdjsonCheckError):
            list(nc.read(data, **options))  # type: ignore[arg-type]
        return
    events = [event.to_json() for event in nc.read(pieces(data), **options)]  # type: ignore[arg-type]
    assert events == expected


def pieces(data: bytes) -> Iterator[bytes]:
    """Small and large ones, so that every kind of place is cut."""
    at = 0
    for size in cycle((1, 7, 2, 300, 1, 64)):
        if at >= len(data):
            return
        yield data[at : at + size]
        at += size


CLASS_OF: Callable[[str], str] = lambda tag: "".join(it.title() for it in tag.split("_"))


def test_each_kind_has_its_class_and_the_members_of_json(tmp_path: Path) -> None:
    """Also by position."""
    seen: set[str] = set()
    for case in CASES:
        _, options = options_of(case, tmp_path)
        try:
            events = list(nc.read(case, **options))  # type: ignore[arg-type]
        except nc.NdjsonCheckError:
            continue
        for event in events:
            assert type(event).__name__ == CLASS_OF(event.type)
            members = event.to_dict()
            seen.add(event.type)
            for name, value in members.items():
                assert getattr(event, name) == value, (case, event, name)
            its_class: Any = type(event)
            match event:
                case its_class(first):
                    assert first == getattr(event, its_class.__match_args__[0])
                case _:
                    pytest.fail(f"{event} has no members by position")
    assert len(seen) >= 21, seen
