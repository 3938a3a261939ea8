"""Tables of calls, events and runs."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from . import _options
from ._errors import NdjsonCheckError
from ._events import (
    AnyEvent,
    CallCompleted,
    CallCorrected,
    CallStarted,
    CallUnfinished,
    CallUpdated,
)
from ._native import Checker, NativeReader, Table
from ._read import _checker, _chunks, _shown

__all__ = ["Frames", "Table", "frame"]

_CALLS = {
    "file": "str", "call": "int", "id": "str", "parent": "int", "tool": "str", "kind": "str",
    "detail": "str", "outcome": "str", "exit_code": "int", "duration_ms": "int", "line": "int",
    "time_ms": "int", "arguments": "str", "result": "str",
}
_EVENTS = {"file": "str", "type": "str", "line": "int", "time_ms": "int", "json": "str"}
_RUNS = {
    "file": "str", "error": "str", "profile": "str", "session_id": "str", "model": "str",
    "agent_version": "str", "verdict": "str", "outcome": "str", "reason": "str",
    "cost_usd": "float", "turns": "int", "duration_ms": "int", "input_tokens": "int",
    "cache_read_tokens": "int", "cache_write_tokens": "int", "output_tokens": "int",
    "reasoning_tokens": "int", "calls": "int", "errors": "int", "warnings": "int",
    "summary": "str",
}
_IS_CALL = (CallStarted, CallUpdated, CallCompleted, CallCorrected, CallUnfinished)


@dataclass(frozen=True)
class Frames:
    """Three Arrow tables: pandas, polars, DuckDB and pyarrow take each of them as it is."""

    calls: Table
    events: Table
    runs: Table


def _table(columns: Mapping[str, str], rows: list[dict[str, Any]]) -> Table:
    return Table([(name, kind, [row.get(name) for row in rows]) for name, kind in columns.items()])


def frame(
    files: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
    *,
    profile: str | os.PathLike[str] | None = None,
    with_events: bool = True,
) -> Frames:
    """Reads files into tables. A file that cannot be checked is a row of `runs` with an `error`.
    In `runs`, `summary` has as JSON what is no column. A number above 2^63 - 1 is null. Without
    events this is faster."""
    if isinstance(files, (str, os.PathLike)):
        files = [files]
    _options.iterable("files", files)
    _options.flag("with_events", with_events)
    checker = _checker(profile, False, None, None, None)
    calls: list[dict[str, Any]] = []
    events: list[dict[str, Any]] = []
    runs: list[dict[str, Any]] = []
    for path in files:
        try:
            _add(path, checker, calls, events if with_events else None, runs)
        # A ValueError: a name that no file can have.
        except (OSError, EOFError, ValueError, NdjsonCheckError) as error:
            runs.append({"file": _shown(path), "error": str(error)})
    return Frames(_table(_CALLS, calls), _table(_EVENTS, events), _table(_RUNS, runs))


def _add(
    path: str | os.PathLike[str],
    checker: Checker,
    calls: list[dict[str, Any]],
    events: list[dict[str, Any]] | None,
    runs: list[dict[str, Any]],
) -> None:
    file = _shown(path)
    reader = NativeReader(checker, file)
    of_file: dict[int, dict[str, Any]] = {}

    def take(new: list[AnyEvent]) -> None:
        for event in new:
            if events is not None:
                events.append({"file": file, "type": event.type, "line": event.line,
                               "time_ms": event.time_ms, "json": event.to_json()})
            if isinstance(event, _IS_CALL):
                row = of_file.setdefault(event.call, {"line": event.line, "time_ms": event.time_ms})
                at_start = {name: row[name] for name in ("line", "time_ms")}
                row.update(event.to_dict(), file=file, **at_start)

    for chunk in _chunks(path):
        take(reader.feed(chunk))
    last, whole = reader.finish(None, None, None)
    take(last)
    for row in of_file.values():
        if row.get("arguments") is not None and not isinstance(row["arguments"], str):
            row["arguments"] = json.dumps(row["arguments"], ensure_ascii=False)
        calls.append(row)
    summary = json.loads(whole)
    counts = {"calls": summary["tool_call_counts"]["total"]}
    runs.append({**summary, **summary.get("usage", {}), **counts, "file": file, "summary": whole})
