"""A program that uses the package, for mypy and pyright in strict mode; it is not run."""

import asyncio
import subprocess
from collections.abc import AsyncIterator
from contextlib import aclosing
from typing import Literal

from typing_extensions import assert_never, assert_type

import ndjson_check as nc
from ndjson_check.pytest import AgentRunner


def show(path: str) -> str | None:
    for event in nc.read(path, profile="cursor", exit_status=0):
        assert_type(event, nc.AnyEvent)
        match event:
            case nc.TextDelta(text=text):
                assert_type(text, str)
            case nc.CallCompleted(tool=tool, exit_code=code):
                assert_type(tool, str | None)
                assert_type(code, int | None)
            case nc.Text(text, segment):
                assert_type(text, str | None)
                assert_type(segment, int)
            case nc.Defect(severity=severity):
                assert_type(severity, Literal["error", "warning"])
            case nc.End(outcome=outcome) | nc.Cut(outcome=outcome):
                return outcome
            case _:
                pass
    return None


def every_end(event: nc.End | nc.Cut | nc.Answer) -> str | None:
    # A type checker complains if a kind is left out.
    match event:
        case nc.End() | nc.Cut():
            assert_type(event.type, Literal["end", "cut"])
            return event.outcome
        case nc.Answer(text=text):
            return text
        case _:
            assert_never(event)


def made() -> nc.AnyEvent:
    event = nc.TextDelta.from_dict({"type": "text_delta", "text": "hi", "segment": 1})
    assert_type(event, nc.TextDelta)
    assert_type(nc.Event.from_dict(event.to_dict()), nc.AnyEvent)
    return event


async def chunks() -> AsyncIterator[bytes]:
    yield b""


def summarized(process: subprocess.Popen[bytes]) -> str:
    assert process.stdout is not None
    nc.read(process.stdout, exit_status=process.wait)
    reader = nc.Reader()
    reader.feed_line("{}")
    assert_type(reader.is_complete, bool)
    reader.finish(exit_status=process.returncode)
    failed = [call for call in reader.summary["tool_calls"] if call["outcome"] == "failed"]
    assert_type(reader.summary.get("usage", {}).get("input_tokens"), int | None)
    return reader.answer if not failed else reader.summary["headline"]


async def harness() -> nc.RunEnd:
    nc.read([b"", bytearray(), memoryview(b"")])
    async for event in nc.aread(chunks()):
        assert_type(event.line, int | None)
    async for event in nc.aread(asyncio.StreamReader()):
        assert_type(event, nc.AnyEvent)
    process = await asyncio.create_subprocess_exec("agent", stdout=asyncio.subprocess.PIPE)
    assert process.stdout is not None
    nc.aread(process.stdout, exit_status=process.wait)
    async with aclosing(nc.aread(chunks())) as events:
        assert_type(await anext(events), nc.AnyEvent)
    async with nc.run(["agent"], cwd=".", env={"A": None}, timeout=1.5) as run:
        async for event in run:
            assert_type(event, nc.AnyEvent)
    assert_type(run.calls(kind="command").last.succeeded, bool)
    run.raise_for_outcome()
    assert_type(run.pid, int | None)
    assert_type(run.end.outcome, Literal["succeeded", "failed", "truncated", "timed-out"])
    error = nc.NdjsonCheckError()
    assert_type(error.exit_status, int | None)
    assert_type(error.signal, int | None)
    assert_type(error.stderr_tail, tuple[str, ...])
    assert_type(run.end.retryable, Literal["yes", "no", "later"] | None)
    assert_type(run.end.retry_after, int | str | None)
    return run.end


def check_agent(agent_run: AgentRunner) -> None:
    run = agent_run(["agent"], timeout=600, config="ndjson-check.toml")
    agent_run(["agent"], check=False)
    kind: nc.CallKind = "write"
    assert not run.calls(kind=kind)
    # Typing errors are found.
    agent_run(["agent"], time_out=600)  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
    run.calls(kind="writes")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    nc.report(b"", "junit")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]


if __name__ == "__main__":
    show("run.ndjson")
    asyncio.run(harness())
