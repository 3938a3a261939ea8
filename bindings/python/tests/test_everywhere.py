"""Runs on every system: the agent is the program of the wheel, which plays recordings."""

import asyncio
import time

import ndjson_check as nc
import pytest


def agent(program: str, *arguments: str) -> list[str]:
    return [program, "replay", *arguments, "--speed", "max"]


def test_a_good_run_and_a_failed_one(program: str) -> None:
    good = nc.run(agent(program, "cursor", "plain", "--stderr-lines", "2000"), timeout=60).wait()
    assert (good.outcome, good.passed, good.exit_status) == ("succeeded", True, 0)
    said: list[str] = []
    command = agent(program, "claude", "not-logged-in", "--stderr-lines", "1")
    failed = nc.run(command, timeout=60, on_stderr=said.append).wait()
    assert (failed.outcome, failed.exit_status) == ("failed", 1)
    assert "".join(said).rstrip() == "replay: line 1 of standard error"


@pytest.mark.parametrize("fault, limits, headline", [
    (["--stall-at", "3"], {"idle_timeout": 1.0}, "timed out: "),
    (["--never-exit"], {"exit_grace": 0.5}, "succeeded"),
    (["--cut-at", "6"], {}, "cut short in the middle of line 6"),
])
def test_faults(program: str, fault: list[str], limits: dict[str, float], headline: str) -> None:
    run = nc.run(agent(program, "cursor", "plain", *fault), **limits)  # type: ignore[arg-type]
    assert run.wait().headline.startswith(headline)


def test_leaving_ends_the_command(program: str) -> None:
    async def leave() -> None:
        async with nc.run(agent(program, "cursor", "plain", "--never-exit")) as run:
            async for event in run:
                if event.type == "end":
                    break

    began = time.monotonic()
    asyncio.run(leave())
    with nc.run(agent(program, "cursor", "plain", "--stall-at", "3")) as run:
        next(iter(run))
    assert time.monotonic() - began < 30
