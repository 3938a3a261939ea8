import asyncio
import contextlib
import gzip
import importlib.util
import io
import json
import os
import socket
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import ndjson_check as nc
import pytest

from conftest import FIXTURES
from ndjson_check import _frame, _native, _summary
from ndjson_check._read import _checker, _shown

PLAIN = FIXTURES / "agents" / "cursor" / "plain.ndjson"
DATA = PLAIN.read_bytes()
EXPECTED = [event.to_json() for event in nc.read(PLAIN)]


def test_every_source_gives_the_same_events() -> None:
    ours, theirs = socket.socketpair()
    theirs.sendall(DATA)
    theirs.close()
    read_end, write_end = os.pipe()
    os.write(write_end, DATA)
    os.close(write_end)
    lines = DATA.splitlines(keepends=True)
    with ours, open(read_end, "rb") as pipe, open(PLAIN, "rb") as file:
        for source in (str(PLAIN), DATA, bytearray(DATA), io.BytesIO(DATA), file, pipe, ours,
                       lines, iter(lines), map(bytearray, lines), map(memoryview, lines)):
            assert [event.to_json() for event in nc.read(source)] == EXPECTED, source


def test_a_pipe_gives_events_before_it_is_closed() -> None:
    read_end, write_end = os.pipe()
    with open(read_end, "rb") as pipe:
        events = nc.read(pipe, profile="cursor")
        os.write(write_end, DATA.splitlines(keepends=True)[0])
        assert isinstance(next(events), nc.Session)
        os.close(write_end)


def test_async_iterables_are_read() -> None:
    async def chunks() -> AsyncIterator[bytes]:
        for at in range(0, len(DATA), 100):
            await asyncio.sleep(0)
            yield DATA[at : at + 100]

    async def main() -> list[str]:
        return [event.to_json() async for event in nc.aread(chunks())]

    assert asyncio.run(main()) == EXPECTED


def codex(text: str, input_tokens: int = 1) -> bytes:
    item = {"id": "i1", "type": "agent_message", "text": text}
    usage = {"input_tokens": input_tokens, "cached_input_tokens": 0, "output_tokens": 1}
    lines: list[dict[str, Any]] = [
        {"type": "thread.started", "thread_id": "t1"},
        {"type": "turn.started"},
        {"type": "item.completed", "item": item},
        {"type": "turn.completed", "usage": usage},
    ]
    return b"".join(json.dumps(line).encode() + b"\n" for line in lines)


def test_a_stream_reader_has_lines_of_any_length() -> None:
    data = codex("x" * 70_000)

    async def main() -> list[str]:
        source = asyncio.StreamReader()
        source.feed_data(data)
        source.feed_eof()
        return [event.to_json() async for event in nc.aread(source)]

    assert asyncio.run(main()) == [event.to_json() for event in nc.read(data)]


def test_a_cancelled_wait_does_not_end_an_async_source() -> None:
    summaries: list[dict[str, Any]] = []

    async def main() -> tuple[list[str], int]:
        source = asyncio.StreamReader()

        async def write() -> None:
            for line in DATA.splitlines(keepends=True):
                await asyncio.sleep(0.05)
                source.feed_data(line)
            source.feed_eof()

        writing = asyncio.create_task(write())
        events = nc.aread(source, on_summary=summaries.append)
        seen, timeouts = [], 0
        while True:
            try:
                seen.append((await asyncio.wait_for(anext(events), 0.02)).to_json())
            except asyncio.TimeoutError:
                timeouts += 1
            except StopAsyncIteration:
                await writing
                return seen, timeouts

    seen, timeouts = asyncio.run(main())
    assert seen == EXPECTED and timeouts > 3
    assert [it["outcome"] for it in summaries] == ["succeeded"]


def test_an_async_generator_that_a_cancelled_wait_ends_is_no_end_of_the_stream() -> None:
    async def stalls() -> AsyncIterator[bytes]:
        yield DATA.splitlines(keepends=True)[0]
        await asyncio.sleep(60)

    async def main() -> None:
        events = nc.aread(stalls(), profile="cursor")
        assert isinstance(await anext(events), nc.Session)
        with pytest.raises(asyncio.TimeoutError):
            while True:
                await asyncio.wait_for(anext(events), 0.05)
        with pytest.raises(RuntimeError, match="async generator"):
            await anext(events)

    asyncio.run(main())


def test_closing_ends_an_async_generator() -> None:
    ended: list[bool] = []
    summaries: list[dict[str, Any]] = []

    async def stalls() -> AsyncIterator[bytes]:
        try:
            yield DATA
            await asyncio.sleep(60)
        finally:
            ended.append(True)

    async def main() -> None:
        events = nc.aread(stalls(), profile="cursor", on_summary=summaries.append)
        async with contextlib.aclosing(events):
            async for _ in events:
                break
        assert ended == [True]
        assert [event async for event in events] == []
        async with contextlib.aclosing(nc.aread(asyncio.StreamReader())):
            pass

    asyncio.run(main())
    assert summaries == []


def test_only_a_stream_reader_is_read_by_size() -> None:
    class Response:
        async def read(self) -> bytes:
            return DATA

        async def __aiter__(self) -> AsyncIterator[bytes]:
            yield DATA

    class OnlyRead:
        async def read(self, size: int) -> bytes:
            return DATA

    async def main() -> list[str]:
        return [event.to_json() async for event in nc.aread(Response())]

    assert asyncio.run(main()) == EXPECTED
    with pytest.raises(TypeError):
        nc.aread(OnlyRead())  # type: ignore[arg-type]


def test_events_can_be_matched() -> None:
    answers = []
    for event in nc.read(DATA):
        match event:
            case nc.Session(profile=profile):
                assert profile == "cursor"
            case nc.End(outcome=outcome, verdict="conforming"):
                answers.append(outcome)
            case nc.Event(type=tag):
                assert isinstance(tag, str)
    assert answers == ["succeeded"]


def test_events_are_values_and_frozen() -> None:
    first, second = next(nc.read(DATA)), next(nc.read(DATA))
    assert first == second and hash(first) == hash(second)
    assert repr(first).startswith("Session(")
    with pytest.raises(AttributeError):
        first.line = 3  # type: ignore[misc]


def test_the_exit_status_decides() -> None:
    *_, good = nc.read(DATA, exit_status=0)
    *_, failed = nc.read(DATA, exit_status=7)
    *_, killed = nc.read(DATA, exit_status=-9)
    assert isinstance(good, nc.End) and good.outcome == "succeeded"
    assert isinstance(failed, nc.End) and (failed.outcome, failed.exit_status) == ("failed", 7)
    assert isinstance(killed, nc.End) and (killed.outcome, killed.signal) == ("failed", 9)


def test_standard_error_says_why() -> None:
    said = "Not inside a trusted directory and --skip-git-repo-check was not specified."
    data = b'{"type":"thread.started","thread_id":"t"}\n'
    reader = nc.Reader(profile="codex")
    reader.feed(data)
    reader.finish(exit_status=1, stderr=said)
    assert reader.summary.get("reason") == "config" and said.rstrip(".") in reader.summary["headline"]
    *_, cut = nc.read(data, profile="codex", exit_status=1, stderr=lambda: said.encode())
    assert isinstance(cut, nc.End) and cut.reason == "config"

    async def later() -> list[nc.AnyEvent]:
        async def source() -> AsyncIterator[bytes]:
            yield data

        async def stderr() -> str:
            return said

        return [it async for it in nc.aread(source(), profile="codex", exit_status=1, stderr=stderr)]

    assert asyncio.run(later())[-1] == cut
    with pytest.raises(TypeError, match="^stderr: must be"):
        list(nc.read(data, stderr=3))  # type: ignore[arg-type]


def test_a_run_that_failed_has_a_last_message() -> None:
    reader = nc.Reader(profile="cursor")
    reader.feed(DATA)
    reader.finish(exit_status=1)
    summary = reader.summary
    assert summary["answer"] == "" != summary["last_message"]
    reader = nc.Reader()
    reader.feed((FIXTURES / "agents/claude/structured-answer.ndjson").read_bytes())
    reader.finish()
    assert reader.summary.get("structured") == {"ok": True} and reader.answer == '{"ok":true}'


def test_a_turn_says_how_it_ended() -> None:
    end = b'{"type":"turn.completed","usage":{"input_tokens":1,"cached_input_tokens":0,"output_tokens":1}}\n'
    failed = b'{"type":"turn.failed","error":{"message":"unexpected status 529: overloaded"}}\n'
    begin = b'{"type":"turn.started"}\n'
    data = b'{"type":"thread.started","thread_id":"t"}\n' + begin + failed + begin + end
    turns = [it for it in nc.read(data, profile="codex") if isinstance(it, nc.TurnEnded)]
    assert [(it.turn, it.outcome) for it in turns] == [(1, "failed"), (2, "succeeded")]
    assert [it.retryable for it in turns] == ["yes", None]
    assert turns[0].error_text == "unexpected status 529: overloaded"


def test_an_exit_status_may_be_known_after_the_last_bytes() -> None:
    is_read = False

    def source() -> Iterator[bytes]:
        nonlocal is_read
        yield DATA
        is_read = True

    def wait() -> int:
        assert is_read
        return 7

    *_, failed = nc.read(source(), exit_status=wait)
    assert isinstance(failed, nc.End) and (failed.outcome, failed.exit_status) == ("failed", 7)
    assert '"outcome":"failed"' in nc.convert(DATA, "events", exit_status=wait)
    assert nc.report(DATA, "human", exit_status=lambda: 1).startswith("✗")
    # It must not become a success.
    with pytest.raises(ValueError, match="^exit_status: the function returned None"):
        list(nc.read(DATA, exit_status=lambda: None))
    with pytest.raises(TypeError, match="^exit_status='0': must be a whole number"):
        list(nc.read(DATA, exit_status=lambda: "0"))  # type: ignore[arg-type, return-value]


@pytest.mark.skipif(os.name == "nt", reason="the agent is a script of a shell of Unix")
@pytest.mark.parametrize(
    ("script", "outcome"),
    [("exit 0", "succeeded"), ("exit 1", "failed"), ("kill -9 $$", "failed")],
)
def test_the_exit_status_of_a_process_that_the_program_has_started(script: str, outcome: str) -> None:
    command = ["sh", "-c", f"cat {PLAIN}; {script}"]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        *_, last = nc.read(process.stdout, exit_status=process.wait)
    assert isinstance(last, nc.End) and last.outcome == outcome

    async def main() -> nc.AnyEvent:
        process = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE)
        assert process.stdout is not None
        return [event async for event in nc.aread(process.stdout, exit_status=process.wait)][-1]

    assert asyncio.run(main()) == last


def test_a_cancelled_wait_for_the_exit_status_is_repeated() -> None:
    async def main() -> list[str]:
        is_over = asyncio.Event()

        async def wait() -> int:
            await is_over.wait()
            return 0

        source = asyncio.StreamReader()
        source.feed_data(DATA)
        source.feed_eof()
        events = nc.aread(source, exit_status=wait)
        seen = [await anext(events) for _ in EXPECTED[:-1]]
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(anext(events), 0.1)
        is_over.set()
        seen += [event async for event in events]
        return [event.to_json() for event in seen]

    seen = asyncio.run(main())
    assert seen[:-1] == EXPECTED[:-1] and len(seen) == len(EXPECTED)


def test_lines_may_have_no_ends() -> None:
    lines = DATA.splitlines()
    for given in (lines, [line.decode() for line in lines], DATA.splitlines(keepends=True)):
        reader = nc.Reader()
        seen = [event for line in given for event in reader.feed_line(line)]
        assert [it.to_json() for it in seen + reader.finish()] == EXPECTED
    # What is not UTF-8 is a defect of the stream.
    assert nc.Reader(profile="cursor").feed_line("\ud800") is not None
    with pytest.raises(TypeError):
        nc.Reader().feed_line(5)  # type: ignore[arg-type]


def test_a_reader_knows_that_the_terminal_event_has_come_and_the_answer() -> None:
    data = (FIXTURES / "agents" / "claude" / "plain.ndjson").read_bytes()
    lines = data.splitlines()
    reader = nc.Reader()
    complete: list[bool] = []
    for line in lines:
        reader.feed_line(line)
        complete.append(reader.is_complete)
    assert complete == [False] * (len(lines) - 1) + [True]
    with pytest.raises(RuntimeError, match="the stream is not finished"):
        _ = reader.answer
    reader.finish(exit_status=0)
    assert reader.is_complete
    assert reader.answer == reader.summary["answer"]
    assert reader.answer == nc.convert(data, "answer", raw=True).strip("\n") != ""
    failed = nc.Reader()
    failed.feed(data)
    failed.finish(exit_status=1)
    assert failed.answer == ""


def test_a_text_is_no_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for text in (DATA.decode(), '{"a":1}', " [1]", "a\nb"):
        with pytest.raises(ValueError, match="^a str is the path of a file; pass the text"):
            list(nc.read(text))
    monkeypatch.chdir(tmp_path)
    Path("[1].ndjson").write_bytes(DATA)
    assert [event.to_json() for event in nc.read("[1].ndjson")] == EXPECTED
    with pytest.raises(FileNotFoundError):
        list(nc.read("run.ndjson"))


def test_an_async_callback_is_refused() -> None:
    async def on_summary(summary: object) -> None:
        del summary

    for refused in (nc.read, nc.aread):
        with pytest.raises(TypeError, match="^on_summary: must be a plain function"):
            refused(DATA, on_summary=on_summary)  # type: ignore[operator]


def test_the_type_of_the_summary_is_that_of_the_schema() -> None:
    folder = Path(__file__).resolve().parents[1]
    spec = importlib.util.spec_from_file_location("summary", folder / "summary.py")
    assert spec is not None and spec.loader is not None
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    assert script.FILE.read_text() == script.Writer().write()
    summaries: list[nc.Summary] = []
    list(nc.read(DATA, exit_status=0, on_summary=summaries.append))
    known = {**_summary._Summary.__annotations__, **nc.Summary.__annotations__}
    assert set(_summary._Summary.__annotations__) <= set(summaries[0]) <= set(known)


@pytest.mark.parametrize(
    ("given", "exit_status", "signal"),
    [
        (255, 255, None),
        (256, 255, None),
        (0xFFFF_FFFF, 255, None),
        (0xC000_013A, None, 2),
        (0xC000_013A - 2**32, None, 2),
        (0xC000_0005, None, 11),
        (-15, None, 15),
        (-300, 255, None),
    ],
)
def test_each_number_of_a_process_is_an_exit_status(
    given: int, exit_status: int | None, signal: int | None
) -> None:
    *_, last = nc.read(DATA, exit_status=given)
    assert isinstance(last, nc.End) and last.outcome == "failed"
    assert (last.exit_status, last.signal) == (exit_status, signal)
    reader = nc.Reader()
    reader.feed(DATA)
    assert reader.finish(exit_status=given)[-1] == last
    assert nc.convert(DATA, "events", exit_status=given).splitlines()[-1] == last.to_json()


def test_a_cut_stream_ends_with_cut() -> None:
    *_, last = nc.read(b"".join(DATA.splitlines(keepends=True)[:3]))
    assert isinstance(last, nc.Cut) and last.outcome == "truncated"


def test_errors_name_the_problem() -> None:
    with pytest.raises(nc.NdjsonCheckError, match="nosuch"):
        nc.read(DATA, profile="nosuch")
    with pytest.raises(ValueError, match="^rules: nosuch: no such rule; `ndjson-check rules`"):
        nc.read(DATA, rules={"nosuch": "off"})
    with pytest.raises(FileNotFoundError):
        list(nc.read("no/such/file"))
    with pytest.raises(TypeError, match="binary"):
        list(nc.read(io.StringIO(DATA.decode())))  # type: ignore[arg-type]
    reader = nc.Reader()
    reader.feed(DATA)
    reader.finish()
    assert reader.summary["outcome"] == "succeeded" and reader.summary["passed"] is True
    summaries: list[dict[str, Any]] = []
    assert len(list(nc.read(DATA[:3_000], on_summary=summaries.append))) > 0
    assert summaries[0]["passed"] is False
    assert summaries[0]["headline"].startswith("cut short in the middle of line")
    with pytest.raises(ValueError, match="finished"):
        reader.feed(DATA)


def test_a_file_that_is_missing_is_named_without_a_number() -> None:
    missing = str(FIXTURES / "missing")
    with pytest.raises(nc.NdjsonCheckError, match="^failed to read the configuration .*missing: ") as config:
        nc.read(DATA, config=missing)
    with pytest.raises(nc.NdjsonCheckError, match="missing") as profile:
        nc.read(DATA, profile=missing + ".json")
    for raised in (config, profile):
        assert "(os error" not in str(raised.value)


def test_a_wrong_option_is_named() -> None:
    wrong: list[tuple[dict[str, Any], type[Exception], str]] = [
        ({"max_line_bytes": -1}, ValueError, "max_line_bytes=-1: must be from 1 to "),
        ({"max_line_bytes": 1.5}, TypeError, "max_line_bytes=1.5: must be a whole number"),
        ({"signal": 300}, ValueError, "signal=300: must be from 0 to 255"),
        ({"exit_status": "1"}, TypeError, "exit_status='1': must be a whole number"),
        ({"exit_status": 2**70}, ValueError, "exit_status=1180591620717411303424: "),
        ({"rules": {"empty-answer": "of"}}, ValueError, "rules: the level of 'empty-answer' is "),
        ({"rules": ["empty-answer"]}, TypeError, "rules: must be a mapping"),
        ({"profile": 5}, TypeError, "profile: expected str"),
        ({"config": 5}, TypeError, "config: expected str"),
    ]
    for options, kind, said in wrong:
        with pytest.raises(kind, match=f"^{said}"):
            nc.read(DATA, **options)
        with pytest.raises(kind, match=f"^{said}"):
            nc.convert(DATA, "text", **options)
    with pytest.raises(ValueError, match="^results=-1: must be from 0"):
        nc.convert(DATA, "text", results=-1)
    with pytest.raises(ValueError, match="^kind='junit': no such kind; there are human, json, "):
        nc.report(DATA, "junit")
    with pytest.raises(ValueError, match="^form='human-report': no such form; there are text, "):
        nc.convert(DATA, "human-report")
    reader = nc.Reader()
    reader.feed(DATA)
    with pytest.raises(ValueError, match="^signal=300: "):
        reader.finish(signal=300)
    # It is not lost.
    assert reader.finish(signal=9)[-1].type == "end"


def test_a_part_of_a_stream_must_be_bytes() -> None:
    async def parts() -> AsyncIterator[Any]:
        yield DATA.decode()

    async def main() -> None:
        async for _ in nc.aread(parts()):
            pass

    said = "^a part of a stream must be bytes, not str$"
    with pytest.raises(TypeError, match=said):
        list(nc.read([DATA.decode()]))  # type: ignore[list-item]
    with pytest.raises(TypeError, match=said):
        nc.Reader().feed(DATA.decode())  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=said):
        asyncio.run(main())


def test_an_error_says_what_to_do() -> None:
    with pytest.raises(nc.NdjsonCheckError, match="choose a `profile`.* \"jsonl\"") as raised:
        list(nc.read(b'{"a":1}\n'))
    error = raised.value
    assert (error.exit_status, error.signal, error.stderr_tail) == (None, None, ())


def test_a_source_without_waiting_is_refused() -> None:
    class Empty:
        def read(self, size: int, /) -> bytes | None:
            return None

    with pytest.raises(BlockingIOError):
        list(nc.read(Empty()))


@pytest.mark.skipif(os.name == "nt", reason="its pipes wait")
@pytest.mark.parametrize("buffering", [-1, 0])
def test_a_pipe_without_waiting_is_refused(buffering: int) -> None:
    read_end, write_end = os.pipe()
    os.set_blocking(read_end, False)
    with open(read_end, "rb", buffering) as pipe, pytest.raises(BlockingIOError):
        list(nc.read(pipe, profile="cursor"))
    os.close(write_end)


def test_a_socket_with_a_timeout_is_no_pipe_without_waiting() -> None:
    ours, theirs = socket.socketpair()
    ours.settimeout(60)
    theirs.sendall(DATA)
    theirs.close()
    with ours, ours.makefile("rb") as file:
        assert [event.to_json() for event in nc.read(file)] == EXPECTED


def test_a_zstandard_file_is_refused(tmp_path: Path) -> None:
    packed = tmp_path / "run.ndjson.zst"
    packed.write_bytes(b"\x28\xb5\x2f\xfd\x04\x00")
    with pytest.raises(nc.NdjsonCheckError, match="zst: unpack"):
        list(nc.read(packed))
    assert len(nc.frame([packed]).runs) == 1


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no such names")
def test_a_file_name_need_not_be_utf_8(tmp_path: Path) -> None:
    path = os.path.join(tmp_path, os.fsdecode(b"caf\xe9.ndjson"))
    with open(path, "wb") as file:
        file.write(DATA)
    assert [event.to_json() for event in nc.read(path)] == EXPECTED
    assert nc.convert(path, "answer") == nc.convert(DATA, "answer")
    assert "caf\ufffd.ndjson" in nc.report(path, "json")
    assert len(nc.frame([path]).runs) == 1

    class BytesPath(os.PathLike[bytes]):
        def __fspath__(self) -> bytes:
            return os.fsencode(path)

    assert len(list(nc.read(BytesPath()))) == len(EXPECTED)  # type: ignore[arg-type]
    reader = nc.Reader(name=path)
    reader.feed(b'{"a":1}\n')
    with pytest.raises(nc.NdjsonCheckError, match="caf\ufffd.ndjson: no known agent"):
        reader.finish()


@pytest.mark.parametrize("name", ["a\0b", "a\ud800b"])
def test_a_name_that_no_file_can_have_costs_no_table(name: str) -> None:
    frames = nc.frame([PLAIN, name])
    assert len(frames.runs) == 2 and len(frames.events) == len(EXPECTED)
    reader = nc.Reader(name=name)
    reader.feed(b'{"a":1}\n')
    with pytest.raises(nc.NdjsonCheckError):
        reader.finish()


def test_what_is_shown_of_a_name_is_utf_8() -> None:
    assert _shown("a\ud800b\udce9") == "a\ufffdb\ufffd"


def test_equal_options_share_what_is_compiled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def made(**options: Any) -> _native.Checker:
        options = {"profile": None, "strict": False, "rules": None, "config": None,
                   "max_line_bytes": None, **options}
        return _checker(**options)

    assert made() is made(rules={}) and made(profile="cursor") is made(profile="cursor")
    assert made() is not made(strict=True) and made() is not made(rules={"empty-answer": "off"})
    # Files can change.
    config = tmp_path / "ndjson-check.toml"
    config.write_text("limits.calls = 0")
    assert made(config=config) is not made(config=config)
    profile = next((FIXTURES / "profiles").rglob("profile.json"))
    assert made(profile=profile) is not made(profile=profile)
    # But the files of one table have one.
    count = 0

    def counted(*args: Any) -> _native.Checker:
        nonlocal count
        count += 1
        return _checker(*args)

    monkeypatch.setattr(_frame, "_checker", counted)
    nc.frame([PLAIN, PLAIN], profile=profile)
    assert count == 1


def test_a_configuration_has_limits_and_expectations(tmp_path: Path) -> None:
    config = tmp_path / "ndjson-check.toml"
    config.write_text('limits.calls = 0\nexpect.answer = { matches = "^never" }\n')
    rules = {it.rule for it in nc.read(DATA, config=config) if isinstance(it, nc.Defect)}
    assert {"limit-exceeded", "expectation-failed"} <= rules
    off = nc.read(DATA, config=config, rules={rule: "off" for rule in rules})
    assert not any(isinstance(it, nc.Defect) for it in off)
    assert "over the limit" in nc.report(DATA, "human", config=config)
    rules_of = lambda text: {json.loads(line).get("rule") for line in text.splitlines()}
    assert "limit-exceeded" in rules_of(nc.convert(DATA, "events", config=config))
    levels = {rule: "off" for rule in rules}
    assert rules_of(nc.convert(DATA, "events", config=config, rules=levels)) == {None}
    too_long = next(it for it in nc.read(DATA, max_line_bytes=500) if isinstance(it, nc.Defect))
    assert too_long.rule == "line-too-long"
    config.write_text("limits.trns = 40")
    with pytest.raises(nc.NdjsonCheckError, match=r":1:8: unknown key `trns`"):
        nc.read(DATA, config=config)


def test_forms_and_reports_are_those_of_the_program(program: str, tmp_path: Path) -> None:
    def said(*flags: str) -> str:
        command = [program, "--no-config", *flags, "-"]
        return subprocess.run(command, input=DATA, capture_output=True).stdout.decode()

    for form in ("text", "transcript", "answer", "json", "stream-json", "events",
                 "chrome-trace", "otlp-json", "atif"):
        assert nc.convert(DATA, form) == said("--quiet", "--to", form), form
    log = said("--quiet", "--to", "text", "--results", "2", "--thinking")
    assert nc.convert(DATA, "text", results=2, thinking=True) == log
    assert nc.report(DATA, "markdown") == said("--report", "markdown")
    page = tmp_path / "run.html"
    said("--report", f"html={page}")
    assert nc.report(DATA, "html") == page.read_text()
    assert nc.report(DATA, "human", exit_status=3).startswith("✗ ")
    assert '"headline":' in nc.report(PLAIN, "json")
    with pytest.raises(ValueError, match="no such form"):
        nc.convert(DATA, "pdf")


def test_other_threads_run_while_bytes_are_read() -> None:
    """One call that takes long: without the release of the GIL the other thread has no turn."""
    first, *rest = DATA.splitlines(keepends=True)
    line = next(it for it in rest if b'"assistant"' in it)
    big = first + line * 30_000
    turns, done = 0, threading.Event()

    def count() -> None:
        nonlocal turns
        while not done.wait(0.0005):
            turns += 1

    reader = nc.Reader(profile="cursor")
    other = threading.Thread(target=count)
    other.start()
    native = reader._native
    before = turns
    native.feed(big)
    during = turns - before
    done.set()
    other.join()
    assert during > 5


def test_a_path_may_be_a_gzip_file(tmp_path: Path) -> None:
    packed = tmp_path / "run.ndjson.gz"
    packed.write_bytes(gzip.compress(DATA[:2_000]) + gzip.compress(DATA[2_000:]))
    assert [event.to_json() for event in nc.read(packed)] == EXPECTED
    packed.write_bytes(gzip.compress(DATA)[:-20])
    assert len(nc.frame(packed).runs) == 1
    with pytest.raises(EOFError, match="run.ndjson.gz: the gzip archive is truncated"):
        list(nc.read(packed))


def test_each_source_may_be_a_gzip_archive(tmp_path: Path) -> None:
    # With members, and with padding as of a tape.
    packed = gzip.compress(DATA[:2_000]) + gzip.compress(DATA[2_000:]) + b"\0\0"
    path = tmp_path / "packed"
    path.write_bytes(packed)
    single = [packed[at : at + 1] for at in range(len(packed))]

    async def parts() -> AsyncIterator[bytes]:
        for part in single:
            yield part

    async def main() -> list[str]:
        return [event.to_json() async for event in nc.aread(parts())]

    assert asyncio.run(main()) == EXPECTED
    with open(path, "rb") as file:
        for source in (path, packed, io.BytesIO(packed), file, single):
            assert [event.to_json() for event in nc.read(source)] == EXPECTED
    assert nc.convert(packed, "answer") == nc.convert(DATA, "answer")
    assert nc.report(packed, "human") == nc.report(DATA, "human")
    long = codex("x" * 3_000_000)
    assert list(nc.read(gzip.compress(long))) == list(nc.read(long))


@pytest.mark.parametrize(
    ("packed", "kind", "said"),
    [
        (gzip.compress(DATA)[:-20], EOFError, "^the gzip archive is truncated$"),
        (b"\x1f\x8b", EOFError, "^the gzip archive is truncated$"),
        (b"\x1f\x8b" + DATA, gzip.BadGzipFile, "^the gzip archive is damaged: "),
        (gzip.compress(DATA) + DATA, gzip.BadGzipFile, "is followed by something else$"),
        (b"\x28\xb5\x2f\xfd\x04\x00", nc.NdjsonCheckError, "^unpack this Zstandard file first$"),
    ],
)
def test_an_archive_that_cannot_be_unpacked(
    packed: bytes, kind: type[Exception], said: str
) -> None:
    with pytest.raises(kind, match=said):
        list(nc.read(packed))
    with pytest.raises(kind, match=said):
        nc.convert(io.BytesIO(packed), "text", profile="cursor")


def test_the_first_byte_alone_is_no_archive() -> None:
    for begin in (b"\x1f", b"\x28\xb5", b""):
        *_, last = nc.read(begin, profile="cursor")
        assert isinstance(last, nc.Cut)


def test_frames_hold_calls_events_and_runs() -> None:
    tools = sorted((FIXTURES / "agents" / "cursor").glob("*.ndjson"))
    frames = nc.frame([*tools, "no/such/file"])
    assert len(nc.frame(tools, with_events=False).events) == 0
    assert len(frames.runs) == len(tools) + 1
    assert len(frames.calls) > 5 and len(frames.events) > len(frames.calls)
    assert "arrow_array_stream" in repr(frames.calls.__arrow_c_stream__())
    assert "arrow_schema" in repr(frames.calls.__arrow_c_schema__())
    said = f"<Table of {len(frames.events)} rows: file, type, line, time_ms, json>"
    assert repr(frames.events) == said


def test_pandas_and_pyarrow_read_tables() -> None:
    calls = nc.frame([PLAIN]).calls
    pandas = pytest.importorskip("pandas", minversion="3")
    pyarrow = pytest.importorskip("pyarrow")
    names = list(pandas.DataFrame.from_arrow(calls).columns)
    assert pyarrow.schema(calls).names == names == pyarrow.table(calls).column_names


def test_a_number_that_is_too_large_is_null_in_tables(tmp_path: Path) -> None:
    big = tmp_path / "big.ndjson"
    big.write_bytes(codex("hi", input_tokens=2**64 - 1))
    frames = nc.frame([big, PLAIN])
    assert len(frames.runs) == 2
    polars = pytest.importorskip("polars")
    table = polars.DataFrame(frames.runs)
    assert table["input_tokens"][0] is None and table["output_tokens"][0] == 1
    assert f'"input_tokens":{2**64 - 1}' in table["summary"][0].replace(" ", "")


def test_polars_and_duckdb_read_frames() -> None:
    polars = pytest.importorskip("polars")
    frames = nc.frame(PLAIN)
    table = polars.DataFrame(frames.runs)
    assert table["outcome"].to_list() == ["succeeded"]
    duckdb = pytest.importorskip("duckdb")
    events = frames.events
    assert duckdb.sql("select count(*) from events").fetchall() == [(len(events),)]
    runs = frames.runs
    counts = "select outcome, summary->'$.rule_counts' from runs"
    assert duckdb.sql(counts).fetchall() == [("succeeded", "{}")]


def test_pandas_and_pyarrow_read_frames() -> None:
    pyarrow = pytest.importorskip("pyarrow")
    frames = nc.frame(PLAIN)
    assert pyarrow.table(frames.calls).num_rows == len(frames.calls)
    pandas = pytest.importorskip("pandas", "3")
    assert list(pandas.DataFrame.from_arrow(frames.runs)["outcome"]) == ["succeeded"]
