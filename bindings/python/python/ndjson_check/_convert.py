"""A stream in another form, or as a report."""

from __future__ import annotations

import os
from collections.abc import Mapping

from . import _native, _options
from ._options import Status
from ._read import Source, _checker, _chunks, _name
from ._words import Form, ReportKind


def convert(
    source: Source,
    form: Form,
    *,
    raw: bool = False,
    results: int = 0,
    thinking: bool = False,
    profile: str | os.PathLike[str] | None = None,
    exit_status: Status = None,
    signal: int | None = None,
    strict: bool = False,
    rules: Mapping[str, str] | None = None,
    config: str | os.PathLike[str] | None = None,
    max_line_bytes: int | None = None,
) -> str:
    """The stream as `--to FORM` writes it: `text`, `transcript`, `answer`, `json`, `stream-json`,
    `events`, `chrome-trace`, `otlp-json` or `atif`. `stream-json` has only the valid events, as with
    `--only-valid`.

    `raw` leaves control characters as they are. `results` is how many lines of each call's result
    `text` and `transcript` have; `thinking` adds reasoning and notices to them. The other options are
    those of `read`. The text is in memory.
    """
    _options.choice("form", form, Form)
    _options.whole("results", results)
    _options.flag("raw", raw)
    _options.flag("thinking", thinking)
    checker = _checker(profile, strict, rules, config, max_line_bytes)
    return _written(source, checker, form, exit_status, signal, raw, results, thinking)


def report(
    source: Source,
    kind: ReportKind,
    *,
    profile: str | os.PathLike[str] | None = None,
    exit_status: Status = None,
    signal: int | None = None,
    strict: bool = False,
    rules: Mapping[str, str] | None = None,
    config: str | os.PathLike[str] | None = None,
    max_line_bytes: int | None = None,
) -> str:
    """A report about the stream: `human`, `json`, `markdown`, or `html`, the page of the run."""
    _options.choice("kind", kind, ReportKind)
    checker = _checker(profile, strict, rules, config, max_line_bytes, stats=kind == "html")
    return _written(source, checker, f"{kind}-report", exit_status, signal)


def _written(
    source: Source,
    checker: _native.Checker,
    output: str,
    exit_status: Status,
    signal: int | None,
    raw: bool = False,
    results: int = 0,
    thinking: bool = False,
) -> str:
    _options.process_end(exit_status, signal)
    data = b"".join(_chunks(source))
    return _native.write(checker, _name(source), output, data, _options.ended(exit_status), signal,
                         raw, results, thinking)
