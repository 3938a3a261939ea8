import asyncio
import gzip
import io
import json
import os
import socket
import subprocess
import threading
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import ndjson_check as nc
import pytest

from conftest import FIXTURES

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
                       lines, iter(lines)):
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


def test_a_cut_stream_ends_with_cut() -> None:
    *_, last = nc.read(b"".join(DATA.splitlines(keepends=True)[:3]))
    assert isinstance(last, nc.Cut) and last.outcome == "truncated"


def test_errors_name_the_problem() -> None:
    with pytest.raises(nc.NdjsonCheckError, match="nosuch"):
        nc.read(DATA, profile="nosuch")
    with pytest.raises(ValueError, match="nosuch"):
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
    with pytest.raises(EOFError):
        list(nc.read(packed))


def test_frames_hold_calls_events_and_runs() -> None:
    tools = sorted((FIXTURES / "agents" / "cursor").glob("*.ndjson"))
    frames = nc.frame([*tools, "no/such/file"])
    assert len(nc.frame(tools, with_events=False).events) == 0
    assert len(frames.runs) == len(tools) + 1
    assert len(frames.calls) > 5 and len(frames.events) > len(frames.calls)
    assert "arrow_array_stream" in repr(frames.calls.__arrow_c_stream__())


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
