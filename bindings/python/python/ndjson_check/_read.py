"""Reading streams."""

from __future__ import annotations

import asyncio
import gzip
import io
import json
import os
import re
import sys
import zlib
from collections import deque
from collections.abc import (
    AsyncGenerator,
    AsyncIterable,
    AsyncIterator,
    Awaitable,
    Callable,
    Iterable,
    Iterator,
    Mapping,
)
from functools import lru_cache
from typing import Protocol, Union, cast

from . import _native, _options
from ._errors import NdjsonCheckError
from ._events import AnyEvent
from ._options import AsyncStatus, AsyncStderr, Status, Stderr
from ._summary import Summary

_CHUNK = 256 * 1024
_GZIP, _ZSTANDARD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"


class _Readable(Protocol):
    def read(self, size: int, /) -> bytes | None: ...


class _Receiving(Protocol):
    def recv(self, size: int, /) -> bytes: ...


_Bytes = Union[bytes, bytearray, memoryview]
Source = Union[str, "os.PathLike[str]", _Bytes, _Readable, _Receiving, Iterable[_Bytes]]
AsyncSource = Union[asyncio.StreamReader, AsyncIterable[_Bytes]]


def _checker(
    profile: str | os.PathLike[str] | None,
    strict: bool,
    rules: Mapping[str, str] | None,
    config: str | os.PathLike[str] | None,
    max_line_bytes: int | None,
    *,
    stats: bool = False,
    command: str | None = None,
    directory: str | None = None,
) -> _native.Checker:
    """`command` is the program that writes the stream, `directory` where it is started, for the
    expectations of a `config`."""
    name = None if profile is None else _options.path("profile", profile)
    file = None if config is None else _options.path("config", config)
    _options.flag("strict", strict)
    _options.whole("max_line_bytes", max_line_bytes, least=1)
    # Files may change between two calls.
    has_files = file is not None or (name is not None and os.path.exists(name))
    levels = _options.levels(rules)
    if has_files:
        return _shared.__wrapped__(
            name, strict, levels, file, max_line_bytes, stats, command, directory)
    # Without a `config` nothing asks for the directory.
    return _shared(name, strict, levels, file, max_line_bytes, stats, command, None)


@lru_cache(maxsize=64)
def _shared(
    profile: str | None,
    strict: bool,
    rules: tuple[tuple[str, str], ...],
    config: str | None,
    max_line_bytes: int | None,
    stats: bool,
    command: str | None,
    directory: str | None,
) -> _native.Checker:
    """One for all streams with these options: it compiles the schemas."""
    return _native.Checker(profile=profile, strict=strict, rules=list(rules), config=config,
                           max_line_bytes=max_line_bytes, stats=stats,
                           command=command, directory=directory)


class Reader:
    """Reads one stream, whose bytes come in pieces cut anywhere. It unpacks no archive."""

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
        self._native = _native.NativeReader(checker, _shown(name))
        self._summary: Summary | None = None

    def feed(self, data: _Bytes) -> list[AnyEvent]:
        """The events that these bytes complete. Lines need their line ends; `feed_line` adds them."""
        return self._native.feed(_bytes(data))

    def feed_line(self, line: str | _Bytes) -> list[AnyEvent]:
        """The events of one whole line, with or without its line end."""
        data = line.encode("utf-8", "surrogatepass") if isinstance(line, str) else _bytes(line)
        return self._native.feed(data if data.endswith(b"\n") else data + b"\n")

    @property
    def is_complete(self) -> bool:
        """Whether the terminal event has come, so that the agent has only to exit. A new turn takes
        that back. Always False for an agent that writes no terminal event."""
        return self._native.is_complete()

    def finish(
        self,
        *,
        exit_status: int | None = None,
        signal: int | None = None,
        stderr: str | bytes | None = None,
    ) -> list[AnyEvent]:
        """The last events. The very last is End or Cut. A negative exit status is a signal, as in
        `subprocess`; one above 255, which Windows has, counts as 255, or as the signal that other
        systems have for it. `stderr` is what the agent wrote there, or the end of it."""
        _options.process_end(exit_status, signal)
        events, summary = self._native.finish(exit_status, signal, _options.text_of(stderr))
        self._summary = json.loads(summary)
        return events

    @property
    def summary(self) -> Summary:
        """The result, with the names of the JSON report, after `finish`. `passed` says whether the
        run passed, and `headline` why in one sentence. `answer` is empty unless the run succeeded."""
        if self._summary is None:
            raise RuntimeError("the stream is not finished")
        return self._summary

    @property
    def answer(self) -> str:
        """That of the summary: the last message of a run that succeeded."""
        return self.summary["answer"]


def _bytes(data: object) -> bytes:
    if isinstance(data, bytes):
        return data
    try:
        return bytes(memoryview(cast(bytearray, data)))
    except TypeError:
        said = f"a part of a stream must be bytes, not {type(data).__name__}"
        raise TypeError(said) from None


class _Unpacker:
    """Unpacks a gzip archive that comes in pieces cut anywhere, and passes all else on. No event
    begins as an archive does."""

    def __init__(self, name: str) -> None:
        self._place = "" if name == "-" else f"{name}: "
        # The first bytes, until these show what it is.
        self._begin = b""
        self._is_gzip: bool | None = None
        # The open member of the archive.
        self._member: zlib._Decompress | None = None

    def feed(self, data: bytes) -> Iterator[bytes]:
        if self._is_gzip is None:
            data = self._begin + data
            if len(data) < 4 and (_GZIP.startswith(data) or _ZSTANDARD.startswith(data)):
                self._begin = data
                return
            if data.startswith(_ZSTANDARD):
                raise NdjsonCheckError(f"{self._place}unpack this Zstandard file first")
            self._is_gzip = data.startswith(_GZIP)
        if self._is_gzip:
            yield from self._unpacked(data)
        else:
            yield data

    def finish(self) -> Iterator[bytes]:
        """What is left."""
        if self._member is not None or (self._is_gzip is None and self._begin == _GZIP):
            raise EOFError(f"{self._place}the gzip archive is truncated")
        if self._is_gzip is None and self._begin:
            yield self._begin

    def _unpacked(self, data: bytes) -> Iterator[bytes]:
        is_more_inside = False
        while data or is_more_inside:
            if self._member is None:
                # Zeros are padding.
                data = data.lstrip(b"\0")
                if not data:
                    return
                if not data.startswith(_GZIP[:1]):
                    said = "the gzip archive is followed by something else"
                    raise gzip.BadGzipFile(self._place + said)
                self._member = zlib.decompressobj(wbits=16 + zlib.MAX_WBITS)
            member = self._member
            try:
                part = member.decompress(data, _CHUNK)
            except zlib.error as error:
                said = f"the gzip archive is damaged: {error}"
                raise gzip.BadGzipFile(self._place + said) from None
            if member.eof:
                data, self._member, is_more_inside = member.unused_data, None, False
            else:
                data, is_more_inside = member.unconsumed_tail, len(part) == _CHUNK
            if part:
                yield part


def _chunks(source: Source) -> Iterator[bytes]:
    unpacker = _Unpacker(_name(source))
    for piece in _pieces(source):
        yield from unpacker.feed(_bytes(piece))
    yield from unpacker.finish()


def _pieces(source: Source) -> Iterator[_Bytes]:
    if isinstance(source, (str, os.PathLike)):
        if isinstance(source, str) and _is_text(source):
            raise ValueError("a str is the path of a file; pass the text of a stream as bytes: "
                             "`text.encode()`")
        with open(source, "rb") as file:
            while data := file.read1(_CHUNK):
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
        # Its buffer would give the end when nothing has come yet.
        if isinstance(raw := getattr(source, "raw", None), io.FileIO) and not _waits(raw):
            raise BlockingIOError("the source is in non-blocking mode")
        while True:
            data = read(_CHUNK)
            if data is None:
                raise BlockingIOError("the source is in non-blocking mode")
            if isinstance(data, str):
                raise TypeError("open the file in binary mode")
            if not data:
                return
            yield data
    elif isinstance(source, Iterable):
        yield from source
    else:
        raise TypeError(f"a {type(source).__name__} is no path, bytes, file, socket or iterable of "
                        "bytes")


def _is_text(path: str) -> bool:
    """Whether it is a stream, not the path of one."""
    return ("\n" in path or path.lstrip()[:1] in ("{", "[")) and not os.path.exists(path)


def _waits(file: io.FileIO) -> bool:
    return sys.platform == "win32" or os.get_blocking(file.fileno())


def _shown(path: str | os.PathLike[str]) -> str:
    """A path in a text. What is not UTF-8 in it becomes U+FFFD."""
    return re.sub("[\ud800-\udfff]", "\ufffd", os.fsdecode(path))


def _name(source: object) -> str:
    if isinstance(source, (str, os.PathLike)):
        return _shown(cast("str | os.PathLike[str]", source))
    return "-"


def read(
    source: Source,
    *,
    profile: str | os.PathLike[str] | None = None,
    exit_status: Status = None,
    signal: int | None = None,
    stderr: Stderr = None,
    strict: bool = False,
    rules: Mapping[str, str] | None = None,
    config: str | os.PathLike[str] | None = None,
    max_line_bytes: int | None = None,
    on_summary: Callable[[Summary], object] | None = None,
) -> Iterator[AnyEvent]:
    """The events of a stream: of a path, bytes, a binary file, a socket, or any iterable of bytes.
    A gzip archive is unpacked.

    `exit_status` or `signal` says how the agent's process ended. If the process still runs,
    `exit_status` is the `wait` of it, or another function that returns the number; it is called
    after the last bytes. `stderr` is what the agent wrote there, which may say why it failed, or a
    function that returns it at the end. `config` is an `ndjson-check.toml`;
    the other options win over it. `on_summary` gets the `summary` of the reader after the last event.
    """
    reader = Reader(name=_name(source), profile=profile, strict=strict, rules=rules,
                    config=config, max_line_bytes=max_line_bytes)
    _options.process_end(exit_status, signal)
    _options.said("stderr", stderr)
    _options.callback("on_summary", on_summary)
    if hasattr(source, "__aiter__"):
        raise TypeError("the source is asynchronous; use `aread`")

    def events() -> Iterator[AnyEvent]:
        for chunk in _chunks(source):
            yield from reader.feed(chunk)
        # First: a process may wait until this is read.
        said = stderr() if callable(stderr) else stderr
        number = _options.ended(exit_status)
        yield from reader.finish(exit_status=number, signal=signal, stderr=said)
        if on_summary is not None:
            on_summary(reader.summary)

    return events()


class _AsyncEvents:
    """No generator: the first wait that is cancelled would be its end."""

    def __init__(
        self,
        source: AsyncSource,
        reader: Reader,
        finish: Callable[[], Awaitable[list[AnyEvent]]],
        on_summary: Callable[[Summary], object] | None,
    ) -> None:
        self._reader = reader
        self._finish = finish
        self._on_summary = on_summary
        self._unpacker = _Unpacker("-")
        self._events: deque[AnyEvent] = deque()
        # Whether all bytes were read, and whether the last events are there.
        self._is_read = False
        self._is_finished = False
        # Not the lines of a StreamReader: their length has a limit.
        self._read = source.read if isinstance(source, asyncio.StreamReader) else None
        self._pieces = None if self._read else aiter(source)
        self._is_broken = False

    def __aiter__(self) -> AsyncIterator[AnyEvent]:
        return self

    async def __anext__(self) -> AnyEvent:
        while not self._events:
            if self._is_finished:
                listener, self._on_summary = self._on_summary, None
                if listener is not None:
                    listener(self._reader.summary)
                raise StopAsyncIteration
            if not self._is_read:
                data = await self._piece()
                self._is_read = data is None
                unpacker = self._unpacker
                for part in unpacker.finish() if data is None else unpacker.feed(_bytes(data)):
                    self._events.extend(self._reader.feed(part))
            if self._is_read:
                # If this wait is cancelled, the next one asks again.
                self._events.extend(await self._finish())
                self._is_finished = True
        return self._events.popleft()

    async def aclose(self) -> None:
        """Ends it, and an async generator that it reads."""
        self._is_finished, self._on_summary = True, None
        self._events.clear()
        pieces: object = self._pieces
        if isinstance(pieces, AsyncGenerator):
            await cast("AsyncGenerator[_Bytes, None]", pieces).aclose()

    async def _piece(self) -> _Bytes | None:
        """The next bytes; None at the end."""
        if self._read is not None:
            return await self._read(_CHUNK) or None
        assert self._pieces is not None
        try:
            return await anext(self._pieces)
        except StopAsyncIteration:
            if self._is_broken:
                said = "a cancelled wait or an error has ended the source, an async generator"
                raise RuntimeError(said) from None
            return None
        except BaseException:
            self._is_broken = isinstance(self._pieces, AsyncGenerator)
            raise


def aread(
    source: AsyncSource,
    *,
    profile: str | os.PathLike[str] | None = None,
    exit_status: AsyncStatus = None,
    signal: int | None = None,
    stderr: AsyncStderr = None,
    strict: bool = False,
    rules: Mapping[str, str] | None = None,
    config: str | os.PathLike[str] | None = None,
    max_line_bytes: int | None = None,
    on_summary: Callable[[Summary], object] | None = None,
) -> _AsyncEvents:
    """The same of an `asyncio.StreamReader` or of an async iterable of bytes. `exit_status` may be
    the `wait` of an asyncio process. `aclose` ends it, as with `contextlib.aclosing`.

    If a wait for the next event is cancelled, such as by `asyncio.wait_for`, the next wait goes on
    where it was. But an async generator ends with a cancelled wait; then the next one raises
    RuntimeError.
    """
    reader = Reader(profile=profile, strict=strict, rules=rules, config=config,
                    max_line_bytes=max_line_bytes)
    _options.process_end(exit_status, signal)
    _options.said("stderr", stderr)
    _options.callback("on_summary", on_summary)
    if not hasattr(source, "__aiter__"):
        raise TypeError(f"a {type(source).__name__} is not asynchronous; use `read`")

    async def finish() -> list[AnyEvent]:
        # First: a process may wait until this is read.
        said = await _options.said_later(stderr)
        number = await _options.ended_later(exit_status)
        return reader.finish(exit_status=number, signal=signal, stderr=said)

    return _AsyncEvents(source, reader, finish, on_summary)
