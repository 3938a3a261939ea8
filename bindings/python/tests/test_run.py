import asyncio
import copy
import gc
import html
import inspect
import json
import os
import pickle
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, get_args

import ndjson_check as nc
import pytest

from conftest import FIXTURES, ROOT, is_alive
from ndjson_check import _native, _run, _words

pytestmark = pytest.mark.skipif(os.name == "nt", reason="its agents are scripts of a shell of Unix")
PLAIN = FIXTURES / "agents" / "cursor" / "plain.ndjson"
TOOLS = FIXTURES / "agents" / "qwen" / "plain.ndjson"
# Longer than any test. A signal to the group ends one `sleep`, not the loop.
WAITS = "i=0; while [ $i -lt 3000 ]; do sleep 0.1; i=$((i+1)); done"


def shell(script: str) -> list[str]:
    return ["sh", "-c", script]


def ends_slowly(pid: Path) -> list[str]:
    """An agent that needs a second to end after SIGTERM."""
    return shell(f"trap 'sleep 1; exit' TERM; echo $$ > {pid}; head -2 {PLAIN}; {WAITS}")


def never_ends(pid: Path, asked: Path) -> list[str]:
    """An agent that writes a file at SIGTERM, and goes on. It has two events; if one is not read, it
    is killed before."""
    return shell(f"trap 'echo > {asked}' TERM; echo $$ > {pid}; head -1 {PLAIN}; {WAITS}")


def python(program: str, *args: str | Path) -> None:
    """Runs it until Python has exited, and without a message."""
    command = [sys.executable, "-c", program, *map(str, args)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")


class SlowStart:
    """Agents start only when they may."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.has_begun, self.may_go_on = threading.Event(), threading.Event()
        self.count = 0
        start = _native.NativeRun

        def slow(*args: Any) -> _native.NativeRun:
            self.count += 1
            self.has_begun.set()
            assert self.may_go_on.wait(60)
            return start(*args)

        monkeypatch.setattr(_native, "NativeRun", slow)


def wait_until(is_so: Callable[[], bool]) -> None:
    until = time.monotonic() + 30
    while not is_so():
        assert time.monotonic() < until
        time.sleep(0.02)


def page(run: nc.Run) -> str:
    """What a notebook shows, without its frame."""
    shown = run._repr_html_()
    assert shown is not None
    frame = re.fullmatch(r'<iframe [^>"]*"[^"]*"[^<>]* srcdoc="([^"<>]*)"></iframe>', shown)
    assert frame is not None and ' sandbox="allow-scripts"' in shown
    document = html.unescape(frame[1])
    assert document.startswith("<!DOCTYPE html>")
    return document


def shown_headline(run: nc.Run) -> str:
    title = re.search("<title>(.*?) – [^–]*</title>", page(run), re.DOTALL)
    assert title is not None
    return html.unescape(title[1])


def test_a_good_run() -> None:
    with nc.run(["cat", PLAIN], timeout=30) as run:
        events = list(run)
    assert [event.to_json() for event in events[:-1]] == [
        event.to_json() for event in list(nc.read(PLAIN))[:-1]
    ]
    assert (run.end.outcome, run.end.verdict, run.end.exit_status) == ("succeeded", "conforming", 0)
    assert run.end.answer and run.end.passed and run.end.headline.startswith("succeeded")
    run.raise_for_outcome()
    assert "succeeded" in page(run)


def test_a_call_that_only_standard_error_shows() -> None:
    refused = FIXTURES / "agents" / "codex" / "calls-refused-on-stderr.ndjson"
    run = nc.run(shell(f"grep '^{{' {refused}; grep -v '^{{' {refused} >&2"), timeout=30)
    run.wait()
    assert (run.end.passed, run.end.outcome) == (False, "succeeded")
    assert run.end.headline.startswith("every tool call was refused")


def test_a_failed_run() -> None:
    with nc.run(shell(f"cat {PLAIN}; echo no money >&2; exit 3"), timeout=30) as run:
        run.wait()
    assert (run.end.outcome, run.end.exit_status) == ("failed", 3)
    assert "no money" in run.end.stderr_tail
    assert not run.end.passed and "no money" in run.end.headline
    with pytest.raises(nc.RunFailed, match="failed") as raised:
        run.raise_for_outcome()
    assert raised.value.end is run.end
    # As between processes.
    for again in (pickle.loads(pickle.dumps(raised.value)), copy.copy(raised.value)):
        assert type(again) is nc.RunFailed
        assert (again.end, str(again)) == (run.end, str(raised.value))


@pytest.mark.parametrize("name", ["plain", "overloaded", "truncated"])
def test_the_answer_is_that_of_the_program(name: str) -> None:
    stream = FIXTURES / "agents" / "claude" / f"{name}.ndjson"
    with nc.run(["cat", stream], timeout=30) as run:
        end = run.wait()
    assert end.answer == nc.convert(stream, "answer", raw=True).strip("\n")
    assert bool(end.answer) == (end.outcome == "succeeded")


@pytest.mark.parametrize("script, limits", [
    (f"cat {PLAIN}", {}),
    (f"head -3 {PLAIN}", {}),
    ("echo boom >&2; exit 4", {"profile": "claude"}),
    (f"head -2 {PLAIN}; sleep 60", {"timeout": 0.5}),
    (f"cat {FIXTURES}/agents/claude/parallel-calls.ndjson", {"config": "limits.toml"}),
])
def test_the_page_says_what_the_end_says(
    script: str, limits: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("limits.toml").write_text("limits.calls = 1\n")
    run = nc.run(shell(script), **limits)
    # It has no page until it ends: that would say that it was cut short.
    assert run._repr_html_() is None
    with run:
        next(iter(run))
        assert run._repr_html_() is None
        end = run.wait()
    assert shown_headline(run) == end.headline
    assert re.search(f'<span class="found">[a-z -]*, {end.verdict}[<:]', page(run))
    name = {"cursor": "Cursor CLI", "claude": "Claude Code"}.get(end.summary["profile"], "")
    agent = f'{name} {end.summary.get("agent_version", "")}'
    assert not end.summary["events"] or f"<dt>agent</dt><dd>{agent.strip()}" in page(run)
    assert f"{end.summary['events']} event" in page(run)


def test_when_a_retry_is_worth_it(tmp_path: Path) -> None:
    failed = FIXTURES / "agents" / "codex" / "at-capacity.ndjson"
    said = "Selected model is at capacity. Please try a different model."
    limited = tmp_path / "limited.ndjson"
    limit = "Rate limit reached for gpt-5. Please try again in 11.4s."
    limited.write_text(failed.read_text().replace(said, limit))
    ends = [nc.run(["cat", stream], timeout=30).wait() for stream in (PLAIN, failed, limited)]
    assert [(end.reason, end.retryable, end.retry_after) for end in ends] == [
        ("completed", None, None), ("overloaded", "yes", None), ("rate-limit", "later", 12)
    ]


def test_a_cut_run() -> None:
    with nc.run(["head", "-3", PLAIN], timeout=30) as run:
        run.wait()
    assert run.end.outcome == "truncated"
    with pytest.raises(nc.RunTruncated, match="^cut short after line 3"):
        run.raise_for_outcome()


def test_a_broken_stream_does_not_pass() -> None:
    script = f"head -3 {PLAIN}; echo garbage; tail -n +4 {PLAIN}"
    with nc.run(shell(script), timeout=30) as run:
        end = run.wait()
    assert (end.outcome, end.passed, end.exit_status) == ("succeeded", False, 0)
    with pytest.raises(nc.OutcomeError, match="^the stream is broken: line 4: ") as raised:
        run.raise_for_outcome()
    assert type(raised.value) is nc.OutcomeError and raised.value.end is end


def test_a_demand_that_is_not_met_does_not_pass(tmp_path: Path) -> None:
    config = tmp_path / "ndjson-check.toml"
    config.write_text('expect.answer = { matches = "^never" }')
    with nc.run(["cat", PLAIN], config=config) as run:
        end = run.wait()
    assert (end.outcome, end.passed) == ("succeeded", False)
    with pytest.raises(nc.OutcomeError) as raised:
        run.raise_for_outcome()
    assert str(raised.value) == end.headline


def test_a_stalled_run(tmp_path: Path) -> None:
    pid = tmp_path / "pid"
    script = f"echo $$ > {pid}; head -2 {PLAIN}; sleep 60"
    with nc.run(shell(script), idle_timeout=0.5, profile="cursor") as run:
        run.wait()
    assert run.end.outcome == "timed-out"
    assert not is_alive(pid)
    with pytest.raises(nc.RunTimedOut, match="^timed out: .* 500ms"):
        run.raise_for_outcome()


def test_a_run_that_floods_standard_error() -> None:
    script = f"head -c 20000000 /dev/zero | tr '\\0' 'x' >&2; cat {PLAIN}"
    with nc.run(shell(script), timeout=60) as run:
        run.wait()
    assert run.end.outcome == "succeeded"


def test_a_run_that_never_exits(tmp_path: Path) -> None:
    pid = tmp_path / "pid"
    script = f"echo $$ > {pid}; cat {PLAIN}; sleep 60"
    started = time.monotonic()
    with nc.run(shell(script), exit_grace=0.3) as run:
        run.wait()
    assert run.end.outcome == "succeeded"
    assert time.monotonic() - started < 20 and not is_alive(pid)


def test_events_arrive_while_the_agent_runs_and_leaving_ends_it(tmp_path: Path) -> None:
    pid = tmp_path / "pid"
    script = f"echo $$ > {pid}; cat {PLAIN} | head -2; sleep 60"
    started = time.monotonic()
    with nc.run(shell(script), profile="cursor") as run:
        assert isinstance(next(run), nc.Session)
        assert is_alive(pid)
    assert time.monotonic() - started < 20 and not is_alive(pid)
    with pytest.raises(RuntimeError):
        run.end


def test_a_run_that_was_left_says_why_it_has_no_end(tmp_path: Path) -> None:
    with nc.run(ends_slowly(tmp_path / "pid"), profile="cursor") as run:
        next(iter(run))
        with pytest.raises(RuntimeError, match="^the run has not ended"):
            run.end
    with pytest.raises(RuntimeError, match="^the run was closed .* call `stop\\(\\)` and then `wait"):
        run.end
    with nc.run(ends_slowly(tmp_path / "pid"), profile="cursor") as run:
        next(iter(run))
        run.stop()
        assert run.wait().headline.startswith("stopped")


def test_a_slow_reader_that_leaves_does_not_hang(tmp_path: Path) -> None:
    first = PLAIN.read_bytes().splitlines(keepends=True)[0]
    stream = tmp_path / "big.ndjson"
    stream.write_bytes(PLAIN.read_bytes() * 3_000)
    assert first
    with nc.run(["cat", stream], profile="cursor") as run:
        next(run)


def test_a_limit_that_is_exceeded_ends_the_command(tmp_path: Path) -> None:
    pid, config = tmp_path / "pid", tmp_path / "ndjson-check.toml"
    config.write_text("limits.calls = 0")
    script = f"echo $$ > {pid}; head -4 {PLAIN}; sleep 60"
    started = time.monotonic()
    with nc.run(shell(script), config=config, profile="cursor") as run:
        run.wait()
    assert run.end.verdict == "non-conforming"
    assert time.monotonic() - started < 20 and not is_alive(pid)


def test_options_reach_the_command(tmp_path: Path) -> None:
    script = f'[ "$A,$HOME,$PWD,$(cat)" = "b,,{tmp_path},hi" ] && cat {PLAIN}'
    env = {"A": "b", "HOME": None}
    with nc.run(shell(script), cwd=tmp_path, env=env, stdin="hi", timeout=30) as run:
        run.wait()
    assert run.end.outcome == "succeeded"


def test_a_command_that_does_not_start() -> None:
    with pytest.raises(nc.NdjsonCheckError, match="no-such-agent"):
        nc.run(["no-such-agent"]).wait()
    with pytest.raises(nc.NdjsonCheckError, match="^failed to start /no/such/agent: [^(]*$"):
        nc.run(["/no/such/agent"]).wait()
    with pytest.raises(TypeError):
        nc.run("agent --print")


def test_a_wrong_option_is_named_before_the_command_starts(tmp_path: Path) -> None:
    async def tell(data: object) -> None:
        del data

    wrong: list[tuple[dict[str, Any], type[Exception], str]] = [
        ({"stdin": "x", "inherit_stdin": True}, ValueError, "inherit_stdin: cannot be used"),
        ({"open_stdin": True, "inherit_stdin": True}, ValueError, "inherit_stdin: cannot be used"),
        ({"stdin": 5}, TypeError, "stdin: must be a str or bytes, not int"),
        ({"on_stdout": tell}, TypeError, "on_stdout: must be a plain function; an async one"),
        ({"on_stderr": 5}, TypeError, "on_stderr: must be a function, not int"),
        ({"timeout": "5m"}, TypeError, "timeout='5m': must be a number of seconds"),
        ({"timeout": -1}, ValueError, "timeout=-1: must be at least 0.001 s"),
        ({"idle_timeout": float("nan")}, ValueError, "idle_timeout=nan: "),
        ({"exit_grace": -0.5}, ValueError, "exit_grace=-0.5: must be at least 0 s"),
        ({"cwd": 5}, TypeError, "cwd: expected str, bytes or os.PathLike object, not int"),
        ({"env": {"A=B": "1"}}, ValueError, "env: 'A=B' cannot be the name of a variable"),
        ({"env": {"": "1"}}, ValueError, "env: '' cannot be"),
        ({"env": {"A": 1}}, TypeError, r"env\['A'\]: expected str"),
        ({"env": {1: "A"}}, TypeError, "env: expected str"),
    ]
    for options, kind, said in wrong:
        with pytest.raises(kind, match=f"^{said}"):
            nc.run(["touch", tmp_path / "started"], **options)
    with pytest.raises(TypeError, match="^command: expected str"):
        nc.run(["touch", 5])  # type: ignore[list-item]
    assert list(tmp_path.iterdir()) == []


def test_a_callback_that_returns_a_coroutine_is_refused() -> None:
    async def tell(data: object) -> None:
        del data

    with pytest.raises(TypeError, match="^on_stdout: its result would have to be awaited"):
        with nc.run(["cat", PLAIN], on_stdout=lambda data: tell(data)) as run:
            run.wait()


def test_the_input_may_be_bytes_and_the_command_has_a_number() -> None:
    script = f'test "$(od -An -tx1)" = " ff 0a" && echo $$ >&2 && cat {PLAIN}'
    said: list[str] = []
    run = nc.run(shell(script), stdin=b"\xff\n", on_stderr=said.append)
    assert run.pid is None
    with run:
        run.wait()
    assert run.end.passed and "".join(said) == f"{run.pid}\n"


TURNS = FIXTURES / "agents" / "claude" / "several-turns.ndjson"
LISTENS = f"read one; head -12 {TURNS}; read two; sed -n 13,23p {TURNS}; cat > /dev/null"


def texts(events: list[nc.AnyEvent]) -> str:
    return "".join(event.text or "" for event in events if isinstance(event, nc.Text))


def test_a_harness_writes_to_a_running_agent() -> None:
    asked = {"stdin": "Count to three\n", "open_stdin": True, "exit_grace": 0.05, "timeout": 60}
    run = nc.run(shell(LISTENS), **asked)  # type: ignore[arg-type]
    with pytest.raises(RuntimeError, match="standard input is not open"):
        run.write("too early\n")
    with run:
        assert texts(list(run.turn())) == "one two three"
        # The agent waits for us: it does not linger.
        time.sleep(0.5)
        run.write("And on\n")
        assert texts(list(run.turn())) == "four five"
        end = run.wait()
    assert end.passed and end.answer == "four five", end
    with pytest.raises(RuntimeError, match="standard input is not open"):
        run.write("too late\n")
    assert list(run.turn()) == []


def test_no_message_is_lost_by_a_command_that_has_ended() -> None:
    with nc.run(shell(f"read one; head -12 {TURNS}"), stdin="one\n", open_stdin=True) as run:
        assert texts(list(run.turn())) == "one two three"
        assert isinstance(list(run.turn())[-1], nc.End)
        with pytest.raises(RuntimeError, match="the command has ended"):
            run.write("And on\n")
        assert run.wait().passed


def test_a_harness_writes_to_a_running_agent_in_asyncio() -> None:
    async def harness() -> nc.RunEnd:
        async with nc.run(shell(LISTENS), open_stdin=True, timeout=60) as run:
            # It is not read meanwhile: more than a pipe holds.
            for message in (b"Count to three\n", b"And on\n" + b"x" * 1_000_000):
                run.write(message)
                async for event in run.turn():
                    assert not isinstance(event, nc.End)
            run.close_stdin()
            assert [type(event) async for event in run.turn()] == [nc.End]
            return run.end

    assert asyncio.run(harness()).answer == "four five"


def test_turns_that_come_together_are_apart() -> None:
    script = f"read both; sed 23q {TURNS}; cat > /dev/null"
    with nc.run(shell(script), stdin="both\n", open_stdin=True, timeout=60) as run:
        assert texts([event for event, _ in zip(run.turn(), "ab")]) == ""
        assert texts(list(run.turn())) == "one two three"
        assert texts(list(run.turn())) == "four five"
        assert run.wait().passed


def test_a_message_needs_an_answer() -> None:
    script = f"read one; head -12 {TURNS}; read two"
    with nc.run(shell(script), stdin="one\n", open_stdin=True, timeout=60) as run:
        list(run.turn())
        run.write("two\n")
        end = run.wait()
    assert (end.passed, end.outcome, end.exit_status) == (False, "truncated", 0)
    assert end.headline == "cut short after line 12"


def test_an_agent_that_does_not_answer_a_message_is_idle() -> None:
    script = f"read one; head -12 {TURNS}; read two; {WAITS}"
    with nc.run(shell(script), stdin="one\n", open_stdin=True, idle_timeout=0.5) as run:
        list(run.turn())
        time.sleep(1)
        run.write("two\n")
        assert run.wait().outcome == "timed-out"


def test_words_of_a_command_may_be_bytes() -> None:
    with nc.run([b"cat", os.fsencode(PLAIN)]) as run:  # type: ignore[list-item]
        assert run.wait().passed


def test_a_missing_directory_is_named(tmp_path: Path) -> None:
    with pytest.raises(nc.NdjsonCheckError, match="no directory .*/missing"):
        nc.run(["cat", PLAIN], cwd=tmp_path / "missing").wait()


def test_a_time_may_be_infinite() -> None:
    infinite = float("inf")
    command = ["cat", PLAIN]
    with nc.run(command, timeout=infinite, idle_timeout=infinite, exit_grace=infinite) as run:
        assert run.wait().outcome == "succeeded"
    with pytest.raises(ValueError, match="idle_timeout=-1: "):
        nc.run(["cat", PLAIN], idle_timeout=-1).wait()


def test_there_may_be_no_time_after_the_terminal_event(tmp_path: Path) -> None:
    pid = tmp_path / "pid"
    started = time.monotonic()
    with nc.run(shell(f"echo $$ > {pid}; cat {PLAIN}; exec sleep 60"), exit_grace=0) as run:
        assert run.wait().outcome == "succeeded"
    assert time.monotonic() - started < 9 and not is_alive(pid)


@pytest.mark.parametrize("option", ["timeout", "idle_timeout"])
@pytest.mark.parametrize("limit", [0, 0.0009])
def test_a_time_that_is_too_short_is_refused(option: str, limit: float) -> None:
    options: dict[str, Any] = {option: limit}
    with pytest.raises(ValueError, match=rf"^{option}={limit}: must be at least 0\.001 s$"):
        nc.run(["cat", PLAIN], **options).wait()


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no such names")
def test_a_command_may_have_a_name_that_is_not_utf_8(tmp_path: Path) -> None:
    command = os.path.join(tmp_path, os.fsdecode(b"caf\xe9"))
    os.symlink("/bin/cat", command)
    with nc.run([command, PLAIN]) as run:
        run.wait()
    assert "caf\ufffd" in page(run)


@pytest.mark.parametrize("names_cwd", [True, False])
@pytest.mark.parametrize(("file", "passes"), [(".github/w.yml", False), ("src/a.rs", True)])
def test_a_run_knows_its_own_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, names_cwd: bool, file: str, passes: bool
) -> None:
    """Codex writes absolute paths, and not its directory."""
    here, link = tmp_path / "here", tmp_path / "link"
    here.mkdir()
    link.symlink_to(here)
    item = {"id": "i", "type": "file_change", "status": "completed",
            "changes": [{"path": str(here.resolve() / file), "kind": "add"}]}
    usage = {"input_tokens": 1, "cached_input_tokens": 0, "output_tokens": 1}
    events: list[dict[str, Any]] = [
        {"type": "thread.started", "thread_id": "t"},
        {"type": "turn.started"},
        {"type": "item.completed", "item": item},
        {"type": "item.completed", "item": {"id": "m", "type": "agent_message", "text": "Done."}},
        {"type": "turn.completed", "usage": usage},
    ]
    (here / "run.ndjson").write_text("".join(json.dumps(event) + "\n" for event in events))
    config = tmp_path / "ndjson-check.toml"
    config.write_text('expect.writes.never = [".github/**"]')
    monkeypatch.chdir(tmp_path if names_cwd else link)
    with nc.run(["cat", "run.ndjson"], cwd="link" if names_cwd else None, config=config) as run:
        end = run.wait()
    assert end.passed is passes
    assert "expectation-unobservable" not in json.dumps(end.summary)
    assert ("expectation-failed" in json.dumps(end.summary)) is not passes


def test_an_unknown_agent_is_no_reason_to_lose_standard_error() -> None:
    said: list[str] = []
    lines = "echo '{\"a\":1}'; echo 'Error: not logged in' >&2; exit 3"
    with nc.run(shell(lines), on_stderr=said.append) as run:
        said_last = "`profile`.*; the command ended with exit status 3; .*: Error: not logged in$"
        with pytest.raises(nc.NdjsonCheckError, match=said_last) as raised:
            run.wait()
    for error in (raised.value, pickle.loads(pickle.dumps(raised.value))):
        assert (error.exit_status, error.signal) == (3, None)
        assert error.stderr_tail == ("Error: not logged in",)
    assert "".join(said) == "Error: not logged in\n"


@pytest.mark.parametrize(
    ("script", "exit_status", "signal", "said"),
    [
        ("echo '{}'; exit 1", 1, None, "; the command ended with exit status 1$"),
        ("echo '{}'; kill -9 $$", None, 9, "; the command was ended by signal 9$"),
        (f"yes '{{}}' | head -50; {WAITS}", None, None, '"jsonl" for any JSON Lines$'),
    ],
)
def test_an_unknown_agent_is_no_reason_to_lose_the_exit_status(
    script: str, exit_status: int | None, signal: int | None, said: str
) -> None:
    with nc.run(shell(script)) as run, pytest.raises(nc.NdjsonCheckError, match=said) as raised:
        run.wait()
    error = raised.value
    assert (error.exit_status, error.signal, error.stderr_tail) == (exit_status, signal, ())


def test_plain_text_instead_of_events_is_the_reason() -> None:
    with nc.run(shell("echo Error: not logged in; exit 1")) as run:
        assert run.wait().exit_status == 1
    with pytest.raises(nc.RunFailed, match=": Error: not logged in$"):
        run.raise_for_outcome()


def test_the_name_of_the_command_decides_the_agent_where_no_event_does(tmp_path: Path) -> None:
    agent = tmp_path / "claude"
    agent.write_text("#!/bin/sh\necho 'All done.'\n")
    agent.chmod(0o755)
    with nc.run([agent, "-p", "hi"]) as run:
        end = run.wait()
    assert (end.passed, end.summary["profile"]) == (False, "claude")
    assert "for events, call it as `claude -p --output-format stream-json" in json.dumps(end.summary)


def test_asyncio_reads_the_same_events() -> None:
    async def main() -> nc.Run:
        async with nc.run(["cat", PLAIN], timeout=30) as run:
            async for _ in run:
                pass
        return run

    run = asyncio.run(main())
    assert run.end.outcome == "succeeded"
    assert len(run.events) == len(list(nc.read(PLAIN)))


def test_a_wait_with_a_timeout_loses_no_event() -> None:
    lines = f"while read -r line; do sleep 0.1; printf '%s\\n' \"$line\"; done < {PLAIN}"

    async def main() -> tuple[nc.Run, list[nc.Event], int]:
        events, timeouts = [], 0
        async with nc.run(shell(lines), timeout=60) as run:
            while True:
                try:
                    events.append(await asyncio.wait_for(run.__anext__(), 0.03))
                except asyncio.TimeoutError:
                    timeouts += 1
                except StopAsyncIteration:
                    return run, events, timeouts

    run, events, timeouts = asyncio.run(main())
    assert timeouts > 3
    assert [it.to_json() for it in events[:-1]] == [it.to_json() for it in list(nc.read(PLAIN))[:-1]]
    assert run.events == tuple(events)


def test_what_the_command_writes_can_be_kept() -> None:
    recording, said = bytearray(), []
    script = f"printf '\\342\\202' >&2; sleep 0.2; printf '\\254 left' >&2; cat {PLAIN}"
    run = nc.run(shell(script), on_stdout=recording.extend, on_stderr=said.append)
    with run:
        run.wait()
    assert recording == PLAIN.read_bytes()
    assert "".join(said) == "\u20ac left"

    half: list[str] = []
    with nc.run(shell(f"printf 'a\\342\\202' >&2; cat {PLAIN}"), on_stderr=half.append) as run:
        run.wait()
    assert "".join(half) == "a\ufffd"

    def fail(_: bytes) -> None:
        raise OSError("the disk is full")

    with nc.run(["cat", PLAIN], on_stdout=fail) as run, pytest.raises(OSError, match="disk"):
        run.wait()


def test_what_came_before_a_failure_is_delivered() -> None:
    recording = bytearray()
    with nc.run(["echo", "{}"], on_stdout=recording.extend) as run:
        with pytest.raises(nc.NdjsonCheckError):
            run.wait()
        assert recording == b"{}\n"
        with pytest.raises(nc.NdjsonCheckError, match="no known agent"):
            run.wait()


def test_many_runs_at_once_do_not_wait_for_each_other(tmp_path: Path) -> None:
    all_are_there = f"[ $(ls {tmp_path} | wc -l) -eq 20 ]"
    script = f"touch {tmp_path}/$$; until {all_are_there}; do sleep 0.1; done; cat {PLAIN}"

    async def one() -> str:
        async with nc.run(shell(script), timeout=60) as run:
            async for _ in run:
                pass
        return run.end.outcome

    async def main() -> list[str]:
        return await asyncio.gather(*(one() for _ in range(20)))

    assert set(asyncio.run(main())) == {"succeeded"}


def test_cancelling_a_task_ends_the_process_group(tmp_path: Path) -> None:
    pid, child = tmp_path / "pid", tmp_path / "child"
    script = f"sleep 60 & echo $! > {child}; echo $$ > {pid}; head -2 {PLAIN}; wait"

    async def work(is_ready: asyncio.Event) -> None:
        async with nc.run(shell(script), profile="cursor") as run:
            async for _ in run:
                is_ready.set()

    async def main() -> None:
        is_ready = asyncio.Event()
        task = asyncio.create_task(work(is_ready))
        await asyncio.wait_for(is_ready.wait(), 10)
        assert is_alive(pid) and is_alive(child)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert not is_alive(pid) and not is_alive(child)

    asyncio.run(main())


def test_cancelling_again_does_not_leave_the_process_group(tmp_path: Path) -> None:
    pid = tmp_path / "pid"

    async def work(is_ready: asyncio.Event) -> None:
        async with nc.run(ends_slowly(pid), profile="cursor") as run:
            async for _ in run:
                is_ready.set()

    async def main() -> None:
        is_ready = asyncio.Event()
        task = asyncio.create_task(work(is_ready))
        await asyncio.wait_for(is_ready.wait(), 10)
        for _ in range(3):
            task.cancel()
            await asyncio.sleep(0.1)
        with pytest.raises(asyncio.CancelledError):
            await task
        assert not is_alive(pid)

    asyncio.run(main())


def test_leaving_needs_no_thread_of_the_event_loop(tmp_path: Path) -> None:
    pid = tmp_path / "pid"

    async def main() -> None:
        loop = asyncio.get_running_loop()
        loop.set_default_executor(ThreadPoolExecutor(1))
        has_left = threading.Event()
        busy = loop.run_in_executor(None, has_left.wait, 60)
        script = f"echo $$ > {pid}; head -2 {PLAIN}; exec sleep 300"
        async with nc.run(shell(script), profile="cursor") as run:
            await run.__anext__()
        assert not is_alive(pid) and not busy.done()
        has_left.set()
        await busy

    asyncio.run(main())


def says_the_rest_when_it_is_stopped() -> list[str]:
    return shell(f"trap 'tail -n +3 {PLAIN}; exit 0' TERM; head -2 {PLAIN}; sleep 60 & wait")


async def read_for_a_second(run: nc.Run) -> None:
    async def read() -> None:
        async for _ in run:
            pass

    with pytest.raises(asyncio.TimeoutError):
        await asyncio.wait_for(read(), 1)


def test_a_wait_without_asyncio_takes_over_from_a_cancelled_one() -> None:
    recording = bytearray()

    async def main() -> nc.RunEnd:
        run = nc.run(says_the_rest_when_it_is_stopped(), profile="cursor",
                     on_stdout=recording.extend)
        await read_for_a_second(run)
        run.stop()
        return run.wait()

    assert asyncio.run(main()).outcome == "succeeded"
    assert bytes(recording) == PLAIN.read_bytes()


def test_a_second_event_loop_reads_on() -> None:
    run = nc.run(says_the_rest_when_it_is_stopped(), profile="cursor")

    async def read_the_rest() -> None:
        run.stop()
        async for _ in run:
            pass

    asyncio.run(read_for_a_second(run))
    asyncio.run(read_the_rest())
    assert run.end.outcome == "succeeded"
    assert len(run.events) == len(list(nc.read(PLAIN)))


def test_a_cancelled_run_without_a_context_ends(tmp_path: Path) -> None:
    pid = tmp_path / "pid"
    script = f"echo $$ > {pid}; head -2 {PLAIN}; exec sleep 300"

    async def work(is_ready: asyncio.Event) -> None:
        async for _ in nc.run(shell(script), profile="cursor"):
            is_ready.set()

    async def main() -> None:
        is_ready = asyncio.Event()
        task = asyncio.create_task(work(is_ready))
        await asyncio.wait_for(is_ready.wait(), 30)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())
    gc.collect()
    wait_until(lambda: not is_alive(pid))


@pytest.mark.parametrize("is_async", [False, True], ids=["sync", "async"])
def test_no_agent_outlives_python(tmp_path: Path, is_async: bool) -> None:
    """Although something refers to the run, and a thread waits for it."""
    pid = tmp_path / "pid"
    agent = f"{ends_slowly(pid)}, profile='cursor'"
    program = f"import asyncio, ndjson_check as nc\nrun = nc.run({agent})\n"
    if is_async:
        program += (
            "async def work(is_ready):\n"
            "    async for _ in run: is_ready.set()\n"
            "async def main():\n"
            "    is_ready = asyncio.Event()\n"
            "    task = asyncio.create_task(work(is_ready))\n"
            "    await is_ready.wait()\n"
            "asyncio.run(main())\n"
        )
    else:
        program += "next(run)\n"
    python(program)
    assert not is_alive(pid)


STARTS_AT_EXIT = """
import asyncio, os, sys, time
import ndjson_check as nc
from ndjson_check import _native, _run
pid, *command = sys.argv[1:]
start = _native.NativeRun
has_begun = False
def slow(*args):
    global has_begun
    has_begun = True
    while not _run._is_exiting: time.sleep(0.02)
    native = start(*args)
    while not os.path.exists(pid): time.sleep(0.02)
    return native
_native.NativeRun = slow
run = nc.run(command, profile="cursor")
async def main():
    task = asyncio.create_task(anext(run))
    while not has_begun: await asyncio.sleep(0.02)
asyncio.run(main())
"""


@pytest.mark.parametrize("is_silent", [False, True])
def test_an_agent_that_starts_while_python_exits_ends(tmp_path: Path, is_silent: bool) -> None:
    pid = tmp_path / "pid"
    silent = shell(f"echo $$ > {pid}; exec sleep 300")
    python(STARTS_AT_EXIT, pid, *(silent if is_silent else ends_slowly(pid)))
    assert not is_alive(pid)


def test_no_agent_starts_when_python_exits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_run, "_is_exiting", True)
    with pytest.raises(RuntimeError, match="Python exits"):
        nc.run(["touch", tmp_path / "started"]).wait()
    assert list(tmp_path.iterdir()) == []


INTERRUPTED = """
import os, signal, sys, threading, time
import ndjson_check as nc
asked, *command = sys.argv[1:]
runs = [nc.run([word.replace("NUMBER", it) for word in command], profile="cursor") for it in "12"]
for run in runs: next(run), next(run)
def interrupt():
    while not os.path.exists(asked): time.sleep(0.02)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGINT):
        os.kill(os.getpid(), number)
        time.sleep(0.2)
signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
threading.Thread(target=interrupt, daemon=True).start()
"""


def test_no_agent_outlives_python_that_gets_signals_at_its_exit(tmp_path: Path) -> None:
    command = never_ends(tmp_path / "pidNUMBER", tmp_path / "askedNUMBER")
    python(INTERRUPTED, tmp_path / "asked1", *command)
    assert not is_alive(tmp_path / "pid1") and not is_alive(tmp_path / "pid2")


WORKER = """
import multiprocessing, sys
import ndjson_check as nc
runs = []
def work():
    runs.append(nc.run(sys.argv[1:], profile="cursor"))
    next(runs[0])
work_of_fork = multiprocessing.get_context("fork").Process(target=work)
work_of_fork.start()
work_of_fork.join()
sys.exit(work_of_fork.exitcode)
"""


def test_no_agent_outlives_its_worker(tmp_path: Path) -> None:
    pid = tmp_path / "pid"
    python(WORKER, *shell(f"echo $$ > {pid}; head -2 {PLAIN}; exec sleep 300"))
    assert not is_alive(pid)


FORKS = """
import os, signal, sys, threading, warnings
import ndjson_check as nc
warnings.simplefilter("ignore", DeprecationWarning)
runs = [nc.run(sys.argv[1:], profile="cursor")]
agent = runs[0]._agent
next(runs[0])
def read():
    while agent.next_batch(): pass
threading.Thread(target=read, daemon=True).start()
for number in range(20):
    child = os.fork()
    if child == 0:
        signal.alarm(20)
        if number % 2: runs[0].stop()
        else: runs[0].close()
        runs.clear()
        agent.leave()
        del agent
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0, number
assert agent.native is not None and not agent.native.is_over()
"""


def test_a_fork_neither_ends_the_agent_nor_hangs(tmp_path: Path) -> None:
    pid = tmp_path / "pid"
    python(FORKS, *shell(f"echo $$ > {pid}; head -2 {PLAIN}; exec sleep 300"))
    assert not is_alive(pid)


def test_a_fork_cannot_read_the_run_of_its_parent() -> None:
    script = """
import os, signal, sys, warnings
import ndjson_check as nc
warnings.simplefilter("ignore", DeprecationWarning)
run = nc.run(sys.argv[1:])
next(run)
child = os.fork()
if child == 0:
    signal.alarm(20)
    try:
        run.wait()
    except RuntimeError as error:
        os._exit(0 if "the process that started it" in str(error) else 1)
assert os.waitpid(child, 0)[1] == 0
assert run.wait().passed
"""
    python(script, *shell(f"head -3 {PLAIN}; sleep 1; tail -n +4 {PLAIN}"))


def test_a_run_that_is_being_closed_stops_nothing_else(tmp_path: Path) -> None:
    pid, asked = tmp_path / "pid", tmp_path / "asked"
    run = nc.run(never_ends(pid, asked), profile="cursor")
    assert isinstance(next(run), nc.Session) and isinstance(next(run), nc.Usage)
    closing = threading.Thread(target=run.close)
    closing.start()
    wait_until(asked.exists)
    # Every start asks this.
    native = run._agent.native
    assert native is not None and not native.is_over()
    assert closing.is_alive()
    closing.join()
    assert native.is_over() and not is_alive(pid)


def test_two_threads_start_one_agent(monkeypatch: pytest.MonkeyPatch) -> None:
    start = SlowStart(monkeypatch)
    run = nc.run(["cat", PLAIN])
    with ThreadPoolExecutor(2) as threads:
        begun = [threads.submit(run._agent.begin)]
        assert start.has_begun.wait(30)
        begun.append(threads.submit(run._agent.begin))
        # Time for a second start, if there were one.
        time.sleep(0.2)
        start.may_go_on.set()
        assert begun[0].result() is begun[1].result()
    assert start.count == 1 and run.wait().outcome == "succeeded"


def test_a_stop_during_the_start_is_not_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    start = SlowStart(monkeypatch)
    run = nc.run(["sleep", "300"], profile="cursor")
    with ThreadPoolExecutor(1) as threads:
        end = threads.submit(run.wait)
        assert start.has_begun.wait(30)
        run.stop()
        start.may_go_on.set()
        assert end.result(60).signal == signal.SIGTERM


def test_a_closed_run_does_not_start(tmp_path: Path) -> None:
    run = nc.run(["touch", tmp_path / "started"])
    run.close()
    with pytest.raises(RuntimeError, match="the run is closed"):
        run.wait()
    assert list(tmp_path.iterdir()) == []


def test_a_run_that_was_stopped_before_does_not_start(tmp_path: Path) -> None:
    run = nc.run(shell(f"touch {tmp_path / 'started'}; cat {PLAIN}"))
    run.stop()
    with pytest.raises(RuntimeError, match="the run was stopped before its start"):
        run.wait()
    assert list(tmp_path.iterdir()) == []


def test_the_error_of_an_abandoned_wait_is_not_logged(tmp_path: Path) -> None:
    go = tmp_path / "go"
    script = f"until [ -e {go} ]; do sleep 0.1; done; echo '{{\"a\":1}}'"
    logged: list[dict[str, Any]] = []

    async def main() -> None:
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(lambda _, context: logged.append(context))
        run = nc.run(shell(script))
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(run.__anext__(), 0.1)
        go.touch()
        assert run._reading is not None
        while not run._reading.batch.done():
            await asyncio.sleep(0.1)
        del run
        gc.collect()

    asyncio.run(main())
    gc.collect()
    assert logged == []


def test_calls_are_found() -> None:
    with nc.run(["cat", TOOLS], timeout=30) as run:
        run.wait()
    calls = run.calls()
    assert len(calls) == 2
    kind = calls.last.kind
    assert run.calls(kind=kind).last == calls.last
    assert isinstance(calls.last.succeeded, bool)
    with pytest.raises(AssertionError, match="no call with matches='cargo bench'; the run has"):
        run.calls(matches="cargo bench").last
    with pytest.raises(AssertionError, match="no call with kind='read' and matches='nope';"):
        run.calls(kind="read", matches="nope").first
    nope = run.calls(matches="nope")
    assert not nope.succeeded
    assert "with matches='nope': none; the run has" in repr(nope)
    assert str(calls.last.tool) in repr(nope)


def test_a_wrong_word_for_a_call_is_named() -> None:
    with nc.run(["head", "-1", TOOLS], timeout=30) as run:
        run.wait()
    with pytest.raises(ValueError, match="^kind='writes': no such kind; there are read, write, "):
        run.calls(kind="writes")  # type: ignore[arg-type]
    with pytest.raises(re.error):
        run.calls(matches="(")


def test_the_types_have_the_words_of_the_schema() -> None:
    schema = json.loads((ROOT / "crates/core/src/profile/builtin/events/schema.json").read_text())
    of = schema["$defs"]
    of["notice_kind"] = of["notice"]["properties"]["kind"]
    words = {"kind": _words.CallKind, "reason": _words.EndReason,
             "retryable": _words.Retryable, "notice_kind": _words.NoticeKind}
    for name, literal in words.items():
        assert list(get_args(literal)) == of[name]["enum"], name


def test_the_options_of_a_run_have_a_type() -> None:
    options = inspect.signature(nc.run).parameters
    hints = {name: it.annotation for name, it in options.items() if name != "command"}
    assert {name: it.__forward_arg__ for name, it in nc.RunOptions.__annotations__.items()} == hints


def test_the_plugin_has_the_fixture(agent_run) -> None:  # type: ignore[no-untyped-def]
    run = agent_run([sys.executable, "-c", f"print(open({str(PLAIN)!r}).read(), end='')"])
    assert run.end.outcome == "succeeded"


def test_an_agent_that_fails_fails_the_test(agent_run) -> None:  # type: ignore[no-untyped-def]
    command = shell(f"cat {PLAIN}; exit 1")
    with pytest.raises(nc.RunFailed, match="^failed: the stream says that the run succeeded, but"):
        agent_run(command)
    broken = shell(f"head -3 {PLAIN}; echo garbage; tail -n +4 {PLAIN}")
    with pytest.raises(nc.OutcomeError, match="^the stream is broken: line 4"):
        agent_run(broken)
    assert agent_run(command, check=False).end.outcome == "failed"


def test_the_program_is_on_the_path(program: str) -> None:
    done = subprocess.run([program, "--version"], capture_output=True, text=True, check=True)
    assert nc.__version__ in done.stdout
    assert ROOT.exists()


def test_standard_error_of_a_run_that_succeeds_is_known() -> None:
    run = nc.run(shell(f"cat {PLAIN}; echo a warning >&2"))
    assert run.wait().passed
    assert run.end.stderr_tail == ("a warning",)


def test_a_run_that_failed_to_be_read_says_so_again() -> None:
    run = nc.run(shell("echo '{\"a\":1}'; exit 3"))
    for _ in range(2):
        with pytest.raises(nc.NdjsonCheckError, match="no known agent"):
            list(run)
    assert repr(run) == "<Run of sh: the stream cannot be read, 0 events>"
    with nc.run(["cat", PLAIN]) as left:
        next(iter(left))
    assert repr(left) == "<Run of cat: closed, 1 event>"


def test_a_wrong_type_is_named() -> None:
    command = ["cat", PLAIN]
    wrong = [
        (lambda: nc.run(command, open_stdin="no"), "open_stdin='no': must be True or False"),
        (lambda: nc.run(command, inherit_stdin=1), "inherit_stdin=1: must be True or False"),
        (lambda: nc.run(command, env="x"), "env: must be a mapping, not str"),
        (lambda: nc.run(None), "the command is a list of arguments, not a NoneType"),
        (lambda: nc.run([""]), "the command is empty"),
        (lambda: list(nc.read(b"", strict="yes")), "strict='yes': must be True or False"),
        (lambda: list(nc.read(None)), "a NoneType is no path, bytes"),
        (lambda: nc.convert(b"", "text", thinking=None), "thinking=None: must be True or False"),
        (lambda: nc.frame(5), "files: must be a list, not int"),
        (lambda: nc.aread(b""), "a bytes is not asynchronous; use `read`"),
        (lambda: nc.read(_pieces()), "the source is asynchronous; use `aread`"),
    ]
    for call, message in wrong:
        with pytest.raises((TypeError, ValueError), match=f"^{re.escape(message)}"):
            call()


async def _pieces() -> AsyncIterator[bytes]:
    yield b""
