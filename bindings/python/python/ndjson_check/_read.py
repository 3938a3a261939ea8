"""Reading streams."""

from __future__ import annotations

import gzip
import io
import json
import os
from collections.abc import AsyncIterable, AsyncIterator, Callable, Iterable, Iterator, Mapping
from typing import Any, Protocol, Union, cast

from . import _native
from ._events import Event

_CHUNK = 256 * 1024


class _Readable(Protocol):
    def read(self, size: int, /) -> bytes | None: ...


class _Receiving(Protocol):
    def recv(self, size: int, /) -> bytes: ...


Source = Union[str, "os.PathLike[str]", bytes, bytearray, memoryview, _Readable, _Receiving,
               Iterable[bytes]]


def _checker(
    profile: str | os.PathLike[str] | None,
    strict: bool,
    rules: Mapping[str, str] | None,
    config: str | os.PathLike[str] | None,
    max_line_bytes: int | None,
    *,
    stats: bool = False,
) -> _native.Checker:
    return _native.Checker(
        profile=None if profile is None else os.fspath(profile),
        strict=strict,
        rules=None if rules is None else list(rules.items()),
        config=None if config is None else os.fspath(config),
        max_line_bytes=max_line_bytes,
        stats=stats,
    )


class Reader:
    """Reads one stream, whose bytes come in pieces cut anywhere."""

    def __init__(
        self,
        *,
        name: str = "-",
        profile: str | os.PathLike[str] | None = None,
        strict: bool = False,
        rules: Mapping[str, str] | None = None,
        config: str | os.PathLike[str] | None = None,
        max_line_bytes: int | None = None,
    ) -> None:
        checker = _checker(profile, strict, rules, config, max_line_bytes)
        self._native = _native.NativeReader(checker, name)
        self._summary: dict[str, Any] | None = None

    def feed(self, data: bytes) -> list[Event]:
        """The events that these bytes complete."""
        return self._native.feed(data)

    def finish(self, *, exit_status: int | None = None, signal: int | None = None) -> list[Event]:
        """The last events. The very last is End or Cut. A negative exit status is a signal, as in
        `subprocess`."""
        events, summary = self._native.finish(*_exit(exit_status, signal))
        self._summary = json.loads(summary)
        return events

    @property
    def summary(self) -> dict[str, Any]:
        """The result, with the names of the JSON report, after `finish`. `passed` is the answer, and
        `headline` says it in one sentence."""
        if self._summary is None:
            raise RuntimeError("the stream is not finished")
        return self._summary


def _exit(exit_status: int | None, signal: int | None) -> tuple[int | None, int | None]:
    """A negative exit status is a signal, as in `subprocess`."""
    if exit_status is not None and exit_status < 0:
        return None, -exit_status
    return exit_status, signal


def _chunks(source: Source) -> Iterator[bytes]:
    if isinstance(source, (str, os.PathLike)):
        with open(source, "rb") as file:
            packed = file.peek(2)[:2] == b"\x1f\x8b"
            opened = cast(io.BufferedReader, gzip.open(file)) if packed else file
            while data := opened.read1(_CHUNK):
                yield data
    elif isinstance(source, (bytes, bytearray, memoryview)):
        whole = bytes(source)
        for start in range(0, len(whole), _CHUNK):
            yield whole[start : start + _CHUNK]
    elif (recv := getattr(source, "recv", None)) is not None:
        while data := recv(_CHUNK):
            yield data
    # `read1` of a pipe returns what is there; `read` waits until all that was asked for came.
    elif (read := getattr(source, "read1", getattr(source, "read", None))) is not None:
        while data := read(_CHUNK):
            if isinstance(data, str):
                raise TypeError("open the file in binary mode")
            yield data
    else:
        yield from source  # type: ignore[misc]


def _name(source: object) -> str:
    return os.fspath(source) if isinstance(source, (str, os.PathLike)) else "-"


def read(
    source: Source,
    *,
    profile: str | os.PathLike[str] | None = None,
    exit_status: int | None = None,
    signal: int | None = None,
    strict: bool = False,
    rules: Mapping[str, str] | None = None,
    config: str | os.PathLike[str] | None = None,
    max_line_bytes: int | None = None,
    on_summary: Callable[[dict[str, Any]], object] | None = None,
) -> Iterator[Event]:
    """The events of a stream: of a path, bytes, a binary file, a socket, or any iterable of bytes.
    A path may be a gzip file.

    `exit_status` or `signal` says how the agent's process ended. `config` is an `ndjson-check.toml`;
    the other options win over it. `on_summary` gets the `summary` of the reader after the last event.
    """
    reader = Reader(name=_name(source), profile=profile, strict=strict, rules=rules,
                    config=config, max_line_bytes=max_line_bytes)

    def events() -> Iterator[Event]:
        for chunk in _chunks(source):
            yield from reader.feed(chunk)
        yield from reader.finish(exit_status=exit_status, signal=signal)
        if on_summary is not None:
            on_summary(reader.summary)

    return events()


async def aread(
    source: AsyncIterable[bytes],
    *,
    profile: str | os.PathLike[str] | None = None,
    exit_status: int | None = None,
    signal: int | None = None,
    strict: bool = False,
    rules: Mapping[str, str] | None = None,
    config: str | os.PathLike[str] | None = None,
    max_line_bytes: int | None = None,
    on_summary: Callable[[dict[str, Any]], object] | None = None,
) -> AsyncIterator[Event]:
    """The same of an async iterable of bytes, such as `asyncio.StreamReader`."""
    reader = Reader(profile=profile, strict=strict, rules=rules, config=config,
                    max_line_bytes=max_line_bytes)
    async for chunk in source:
        for event in reader.feed(chunk):
            yield event
    for event in reader.finish(exit_status=exit_status, signal=signal):
        yield event
    if on_summary is not None:
        on_summary(reader.summary)
