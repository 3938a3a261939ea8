import asyncio
import copy
import gc
import os
import pickle
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import ndjson_check as nc
import pytest

from conftest import FIXTURES, ROOT, is_alive

pytestmark = pytest.mark.skipif(os.name == "nt", reason="running an agent needs Unix")
PLAIN = FIXTURES / "agents" / "cursor" / "plain.ndjson"
TOOLS = FIXTURES / "agents" / "qwen" / "plain.ndjson"


def shell(script: str) -> list[str]:
    return ["sh", "-c", script]


def ends_slowly(pid: Path) -> list[str]:
    """An agent that needs a second to end after SIGTERM."""
    waits = "for i in $(seq 300); do sleep 0.1; done"
    return shell(f"trap 'sleep 1; exit' TERM; echo $$ > {pid}; head -2 {PLAIN}; {waits}")


def wait_until(is_so: Callable[[], bool]) -> None:
    until = time.monotonic() + 10
    while not is_so():
        assert time.monotonic() < until
        time.sleep(0.02)


def test_a_good_run() -> None:
    with nc.run(["cat", PLAIN], timeout=30) as run:
        events = list(run)
    assert [event.to_json() for event in events[:-1]] == [
        event.to_json() for event in list(nc.read(PLAIN))[:-1]
    ]
    assert (run.end.outcome, run.end.verdict, run.end.exit_status) == ("succeeded", "conforming", 0)
    assert run.end.answer and run.end.passed and run.end.headline.startswith("succeeded")
    run.raise_for_outcome()
    page = run._repr_html_()
    assert page.lstrip().lower().startswith("<!doctype html") and "succeeded" in page


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


def test_a_cut_run() -> None:
    with nc.run(["head", "-3", PLAIN], timeout=30) as run:
        run.wait()
    assert run.end.outcome == "truncated"
    with pytest.raises(nc.RunTruncated):
        run.raise_for_outcome()


def test_a_stalled_run(tmp_path: Path) -> None:
    pid = tmp_path / "pid"
    script = f"echo $$ > {pid}; head -2 {PLAIN}; sleep 60"
    with nc.run(shell(script), idle_timeout=0.5, profile="cursor") as run:
        run.wait()
    assert run.end.outcome == "timed-out"
    assert not is_alive(pid)
    with pytest.raises(nc.RunTimedOut):
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
    with pytest.raises(TypeError):
        nc.run("agent --print")


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


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no such names")
def test_a_command_may_have_a_name_that_is_not_utf_8(tmp_path: Path) -> None:
    command = os.path.join(tmp_path, os.fsdecode(b"caf\xe9"))
    os.symlink("/bin/cat", command)
    with nc.run([command, PLAIN]) as run:
        run.wait()
    assert "caf\ufffd" in run._repr_html_()


def test_an_unknown_agent_is_no_reason_to_lose_standard_error() -> None:
    said: list[str] = []
    lines = "echo '{\"a\":1}'; echo 'Error: not logged in' >&2; exit 3"
    with nc.run(shell(lines), on_stderr=said.append) as run:
        said_last = "`profile`.*: Error: not logged in$"
        with pytest.raises(nc.NdjsonCheckError, match=said_last) as raised:
            run.wait()
    assert raised.value.stderr_tail == ("Error: not logged in",)
    assert pickle.loads(pickle.dumps(raised.value)).stderr_tail == raised.value.stderr_tail
    assert "".join(said) == "Error: not logged in\n"


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
        assert list(run) == []


def test_many_runs_at_once_do_not_wait_for_each_other() -> None:
    async def one() -> str:
        async with nc.run(shell(f"sleep 0.5; cat {PLAIN}"), timeout=60) as run:
            async for _ in run:
                pass
        return run.end.outcome

    async def main() -> list[str]:
        return await asyncio.gather(*(one() for _ in range(20)))

    started = time.monotonic()
    assert set(asyncio.run(main())) == {"succeeded"}
    assert time.monotonic() - started < 8


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

    async def main() -> float:
        loop = asyncio.get_running_loop()
        loop.set_default_executor(ThreadPoolExecutor(1))
        busy = loop.run_in_executor(None, time.sleep, 4)
        script = f"echo $$ > {pid}; head -2 {PLAIN}; exec sleep 60"
        async with nc.run(shell(script), profile="cursor") as run:
            await run.__anext__()
            started = time.monotonic()
        took = time.monotonic() - started
        assert not is_alive(pid)
        await busy
        return took

    assert asyncio.run(main()) < 2


def test_a_cancelled_run_without_a_context_ends(tmp_path: Path) -> None:
    pid = tmp_path / "pid"
    script = f"echo $$ > {pid}; head -2 {PLAIN}; exec sleep 60"

    async def work() -> None:
        async for _ in nc.run(shell(script), profile="cursor"):
            pass

    async def main() -> None:
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(work(), 1)

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
            "async def work():\n"
            "    async for _ in run: pass\n"
            "async def main():\n"
            "    try: await asyncio.wait_for(work(), 1)\n"
            "    except asyncio.TimeoutError: pass\n"
            "asyncio.run(main())\n"
        )
    else:
        program += "next(run)\n"
    started = time.monotonic()
    python = [sys.executable, "-c", program]
    done = subprocess.run(python, capture_output=True, text=True, timeout=30)
    assert (done.returncode, done.stderr) == (0, "")
    assert not is_alive(pid) and time.monotonic() - started < 10


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


def test_the_plugin_has_the_fixture(agent_run) -> None:  # type: ignore[no-untyped-def]
    run = agent_run([sys.executable, "-c", f"print(open({str(PLAIN)!r}).read(), end='')"])
    assert run.end.outcome == "succeeded"


def test_the_program_is_on_the_path(program: str) -> None:
    done = subprocess.run([program, "--version"], capture_output=True, text=True, check=True)
    assert nc.__version__ in done.stdout
    assert ROOT.exists()
