"""Runs of an agent."""

from __future__ import annotations

import asyncio
import atexit
import codecs
import inspect
import json
import os
import re
import signal
import sys
import weakref
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from html import escape
from threading import Lock, Thread, current_thread, main_thread
from types import TracebackType
from typing import Any, Callable, Literal, TypedDict, TypeVar, Union, overload

from . import _native, _options
from ._errors import NdjsonCheckError, raise_for
from ._events import (
    AnyEvent,
    CallCompleted,
    CallCorrected,
    CallStarted,
    CallUnfinished,
    CallUpdated,
    Event,
)
from ._read import _checker, _shown
from ._summary import Summary, Usage
from ._words import CallKind, EndReason, Retryable

_T = TypeVar("_T")
# None is the end of a turn.
_Item = Union[AnyEvent, tuple[str, bytes], None]
_Batch = list[_Item]


@dataclass(frozen=True)
class Call:
    """A tool call, as far as the run has shown it. `outcome` is None while it is open."""

    number: int
    id: str
    tool: str | None
    kind: CallKind | None
    detail: str | None
    files: tuple[str, ...]
    arguments: Any
    outcome: Literal["succeeded", "failed", "rejected", "denied", "unknown"] | None
    exit_code: int | None
    result: str | None
    line: int | None

    @property
    def succeeded(self) -> bool:
        return self.outcome == "succeeded"


class Calls(Sequence[Call]):
    """Some calls of a run, in the order of their starts."""

    def __init__(self, calls: Sequence[Call], asked: str, all_calls: Sequence[Call]) -> None:
        self._calls = tuple(calls)
        self._asked = asked
        self._all = tuple(all_calls)

    @overload
    def __getitem__(self, index: int) -> Call: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Call, ...]: ...
    def __getitem__(self, index: int | slice) -> Call | tuple[Call, ...]:
        return self._calls[index]

    def __len__(self) -> int:
        return len(self._calls)

    def __repr__(self) -> str:
        shown = _listed(self._calls) if self._calls else f"none; the run has {_listed(self._all)}"
        return f"<{len(self)} of {len(self._all)} calls{self._asked}: {shown}>"

    def _one(self, index: int) -> Call:
        if not self._calls:
            raise AssertionError(f"no call{self._asked}; the run has {_listed(self._all)}")
        return self._calls[index]

    @property
    def first(self) -> Call:
        return self._one(0)

    @property
    def last(self) -> Call:
        return self._one(-1)

    @property
    def succeeded(self) -> bool:
        """Whether there are calls, and all succeeded."""
        return bool(self._calls) and all(call.succeeded for call in self._calls)


def _listed(calls: Sequence[Call]) -> str:
    shown = [f"{c.tool or c.kind} {c.detail or ''!s} ({c.outcome or 'open'})" for c in calls[:20]]
    more = f", and {len(calls) - 20} more" if len(calls) > 20 else ""
    return (", ".join(shown) or "no calls") + more


@dataclass(frozen=True)
class RunEnd:
    """How a run ended. `headline` says it in one sentence, and `passed` whether the stream conforms
    and the run succeeded. `answer` is empty unless the run succeeded. What the agent does not say is
    None. `retry_after` is a number of seconds, or a time as in RFC 3339. `summary` has the names of
    the JSON report."""

    passed: bool
    headline: str
    outcome: Literal["succeeded", "failed", "truncated", "timed-out"]
    verdict: Literal["conforming", "non-conforming"]
    reason: EndReason | None
    retryable: Retryable | None
    retry_after: int | str | None
    answer: str
    usage: Usage
    cost_usd: float | None
    turns: int | None
    duration_ms: int | None
    error_text: str | None
    exit_status: int | None
    signal: int | None
    stderr_tail: tuple[str, ...]
    summary: Summary

    @classmethod
    def _of(cls, summary: Summary, stderr_tail: Sequence[str]) -> RunEnd:
        return cls(
            passed=summary["passed"],
            headline=summary["headline"],
            outcome=summary["outcome"],
            verdict=summary["verdict"],
            reason=summary.get("reason"),
            retryable=summary.get("retryable"),
            retry_after=summary.get("retry_after"),
            answer=summary["answer"],
            usage=summary.get("usage", {}),
            cost_usd=summary.get("cost_usd"),
            turns=summary.get("turns"),
            duration_ms=summary.get("duration_ms"),
            error_text=summary.get("error_text"),
            exit_status=summary.get("exit_status"),
            signal=summary.get("signal"),
            # Of a run that succeeded, the summary has none.
            stderr_tail=tuple(summary.get("stderr_tail", stderr_tail)),
            summary=summary,
        )


# The commands that have not ended, as far as we know, and the threads that wait for them.
_running: set[_native.NativeRun] = set()
_threads: weakref.WeakSet[Thread] = weakref.WeakSet()
_is_exiting = False


@atexit.register
def _end_all() -> None:
    """Afterwards nobody would end them."""
    global _is_exiting
    _is_exiting = True
    handlers: dict[signal.Signals, Any] = {}
    if current_thread() is main_thread():
        # One that raises would end the wait. After 5 s the commands are killed anyway.
        for number in (signal.SIGINT, signal.SIGTERM):
            if callable(signal.getsignal(number)):
                handlers[number] = signal.signal(number, lambda number, frame: None)
    # Again: a thread may have been starting one.
    while _running or any(thread.is_alive() for thread in list(_threads)):
        for native in list(_running):
            native.stop()
        for native in list(_running):
            native.close()
            _running.discard(native)
        for thread in list(_threads):
            thread.join()
    for number, handler in handlers.items():
        signal.signal(number, handler)


@lru_cache(maxsize=1)
def _end_with_worker(process: int) -> None:
    """A worker of multiprocessing that is a fork ends without atexit."""
    if "multiprocessing.util" in sys.modules:
        from multiprocessing.util import Finalize

        Finalize(None, _end_all, exitpriority=0)


if hasattr(os, "register_at_fork"):
    # They are those of the parent.
    os.register_at_fork(after_in_child=_running.clear)


def _in_thread(work: Callable[[], _T]) -> Future[_T]:
    """In a thread of its own: a wait must not use up the threads of the event loop. At exit, Python
    does not wait for such a thread; `_end_all` first ends what the thread waits for."""
    done: Future[_T] = Future()
    # From here on it cannot be cancelled.
    done.set_running_or_notify_cancel()

    def do() -> None:
        try:
            result = work()
        except BaseException as error:
            done.set_exception(error)
        else:
            done.set_result(result)

    thread = Thread(target=do, name="ndjson-check", daemon=True)
    thread.start()
    _threads.add(thread)
    return done


class _Reading:
    """A wait for the next events, in a thread. An event loop that waits for it may be cancelled or
    closed; the wait goes on, and the next one takes what it gets."""

    def __init__(self, batch: Future[_Batch]) -> None:
        self.batch = batch
        self._process = os.getpid()
        self._waiters: set[tuple[asyncio.AbstractEventLoop, asyncio.Future[None]]] = set()
        batch.add_done_callback(self._wake)

    def is_of_parent(self) -> bool:
        """Whether the thread is in the process that this one is a fork of."""
        return self._process != os.getpid()

    async def done(self) -> None:
        loop = asyncio.get_running_loop()
        waiter: tuple[asyncio.AbstractEventLoop, asyncio.Future[None]] = (loop, loop.create_future())
        self._waiters.add(waiter)
        try:
            if not self.batch.done():
                await waiter[1]
        finally:
            self._waiters.discard(waiter)

    def _wake(self, _: Future[_Batch]) -> None:
        for loop, waiter in list(self._waiters):
            with suppress(RuntimeError):  # The event loop is closed.
                loop.call_soon_threadsafe(_resolve, waiter)


def _resolve(waiter: asyncio.Future[None]) -> None:
    if not waiter.done():
        waiter.set_result(None)


class _Agent:
    """The command of a Run. A thread that waits for it must not keep the Run alive."""

    def __init__(self, start: Callable[[], _native.NativeRun]) -> None:
        self._start = start
        # Only for the start: a signal handler or a finalizer may stop or leave it at any time.
        self._starting = Lock()
        self._is_stopped = False
        self.is_left = False
        self.native: _native.NativeRun | None = None
        # Why the stream could not be read.
        self.failure: NdjsonCheckError | None = None

    def begin(self) -> _native.NativeRun:
        with self._starting:
            if self.native is None:
                for other in list(_running):
                    if other.is_over():
                        _running.discard(other)
                if self.is_left or _is_exiting:
                    raise RuntimeError("the run is closed" if self.is_left else "Python exits")
                if self._is_stopped:
                    raise RuntimeError("the run was stopped before its start")
                _end_with_worker(os.getpid())
                native = self._start()
                _running.add(native)
                self.native = native
                # What was asked for meanwhile.
                if self.is_left or _is_exiting:
                    native.leave()
                elif self._is_stopped:
                    native.stop()
            return self.native

    def next_batch(self) -> _Batch:
        if self.failure is not None:
            raise self.failure
        native = self.begin()
        try:
            return native.next_batch()
        except NdjsonCheckError as error:
            self.failure = error
            raise

    def stop(self) -> None:
        self._is_stopped = True
        if self.native is not None:
            self.native.stop()

    def leave(self) -> None:
        """Ends the command, and waits for nothing."""
        self.is_left = True
        if self.native is not None:
            self.native.leave()

    def close(self) -> None:
        """Ends the command, and waits for its end."""
        self.is_left = True
        if self.native is not None:
            self.native.close()
            _running.discard(self.native)


class Run:
    """A run of an agent: a context manager, and an iterator of its events. Leaving the context
    ends the command and its process group. Works with `with` and `async with`. Without a context
    they end when nothing refers to the run any more, or with Python."""

    def __init__(
        self,
        name: str,
        start: Callable[[], _native.NativeRun],
        listeners: Mapping[str, Callable[[bytes], object]],
    ) -> None:
        self.name = name
        self._agent = _Agent(start)
        weakref.finalize(self, self._agent.leave).atexit = False
        self._listeners = listeners
        self._batch: Iterator[_Item] = iter(())
        self._ended_turns = 0
        self._events: list[AnyEvent] = []
        self._end: RunEnd | None = None
        self._reading: _Reading | None = None

    @property
    def events(self) -> tuple[AnyEvent, ...]:
        """The events that were read so far."""
        return tuple(self._events)

    @property
    def end(self) -> RunEnd:
        """How the run ended. Raises RuntimeError while events are left to be read, and the
        NdjsonCheckError that ended the reading."""
        if self._end is None:
            if self._agent.failure is not None:
                raise self._agent.failure
            if self._agent.is_left:
                # Such as by a `break` in the loop: nobody read how the command ended.
                raise RuntimeError("the run was closed before its events were read to the end; to "
                                   "end it and know how, call `stop()` and then `wait()`")
            raise RuntimeError("the run has not ended, or its events were not read to the end")
        return self._end

    @property
    def pid(self) -> int | None:
        """The number of the command's process; None before its start."""
        native = self._agent.native
        return None if native is None else native.pid()

    def stop(self) -> None:
        """Asks the command to end. Its last events can still be read. A run that has not started
        does not start any more."""
        self._agent.stop()

    def write(self, data: str | bytes) -> None:
        """Writes to the command, whose standard input `open_stdin` keeps open. It does not wait
        until the command reads; what the command no longer reads is dropped. A RuntimeError says
        that the command has ended."""
        given = _options.data("data", data) or b""
        native = self._agent.native
        if native is None:
            raise RuntimeError("standard input is not open: the run has not begun")
        native.write(given)

    def close_stdin(self) -> None:
        """The command gets the end of its input. An agent whose turn is complete then ends."""
        if self._agent.native is not None:
            self._agent.native.close_stdin()

    def turn(self) -> TurnEvents:
        """The events up to the terminal event of the current turn; of an agent that writes none, up
        to the end of the run. For `for` and `async for`; leaving the loop ends nothing."""
        return TurnEvents(self)

    def calls(self, *, kind: CallKind | None = None, tool: str | None = None,
              matches: str | None = None) -> Calls:
        """The calls so far; `matches` is a regular expression that is searched in the detail."""
        if kind is not None:
            _options.choice("kind", kind, CallKind)
        found: dict[int, dict[str, Any]] = {}
        for event in self._events:
            if isinstance(event, (CallStarted, CallUpdated, CallCompleted, CallCorrected,
                                  CallUnfinished)):
                call = found.setdefault(event.call, {"line": event.line})
                call.update(event.to_dict(), line=call["line"])
        every = [_call(it) for it in found.values()]
        pattern = re.compile(matches or "")
        some = [
            call for call in every
            if (kind is None or call.kind == kind)
            and (tool is None or call.tool == tool)
            and pattern.search(call.detail or "") is not None
        ]
        asked = [("kind", kind), ("tool", tool), ("matches", matches)]
        words = " and ".join(f"{name}={it!r}" for name, it in asked if it is not None)
        return Calls(some, f" with {words}" if words else "", every)

    def raise_for_outcome(self) -> None:
        """Raises an OutcomeError unless `end.passed`."""
        __tracebackhide__ = True
        raise_for(self.end)

    def _repr_html_(self) -> str | None:
        """The page of the run for notebooks, which show the `repr` until the run has ended."""
        if self._end is None:
            return None
        page = self._agent.begin().page(self.name)
        # In a frame of its own: its style and its keys must not reach the notebook.
        return None if page is None else (
            f'<iframe title="{escape(f"The run of {self.name}")}" sandbox="allow-scripts"'
            f' style="width: 100%; height: 40rem; border: 0" srcdoc="{escape(page)}"></iframe>'
        )

    def __repr__(self) -> str:
        if self._end is not None:
            state: str = self._end.outcome
        elif self._agent.failure is not None:
            state = "the stream cannot be read"
        else:
            state = "closed" if self._agent.is_left else "not ended"
        events = "1 event" if len(self._events) == 1 else f"{len(self._events)} events"
        return f"<Run of {self.name}: {state}, {events}>"

    def _take(self, batch: _Batch) -> bool:
        """Whether there is more."""
        if batch:
            self._batch = iter(batch)
            return True
        native = self._agent.begin()
        result = native.result()
        if result is not None and self._end is None:
            self._end = RunEnd._of(json.loads(result), native.stderr_tail())
            if (on_stderr := self._listeners.get("stderr")) is not None:
                on_stderr(b"")
        return False

    def _take_next(self) -> bool:
        """Whether there is more."""
        if (reading := self._reading) is None or reading.is_of_parent():
            return self._take(self._agent.next_batch())
        batch = reading.batch.result()
        if self._reading is not reading:
            return True
        self._reading = None
        return self._take(batch)

    def _next(self, *, of_turn: bool = False) -> AnyEvent | None:
        """The next event of the batch; of a turn, none follows its end."""
        for item in self._batch:
            if item is None:
                self._ended_turns += 1
                if of_turn:
                    return None
                continue
            if isinstance(item, Event):
                self._events.append(item)
                return item
            output, data = item
            if inspect.isawaitable(told := self._listeners[output](data)):
                if inspect.iscoroutine(told):
                    told.close()
                raise TypeError(f"on_{output}: its result would have to be awaited; nothing waits "
                                "for it")
        return None

    def __enter__(self) -> Run:
        self._agent.begin()
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None,
                 trace: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Ends the command and its process group, and waits for that."""
        self._agent.close()

    def wait(self) -> RunEnd:
        """Closes standard input, and reads all events."""
        self.close_stdin()
        for _ in self:
            pass
        return self.end

    def __iter__(self) -> Iterator[AnyEvent]:
        return self

    def __next__(self) -> AnyEvent:
        while (event := self._next()) is None:
            if not self._take_next():
                raise StopIteration
        return event

    async def __aenter__(self) -> Run:
        try:
            await asyncio.wrap_future(_in_thread(self._agent.begin))
        except BaseException:
            # Then nobody leaves the context.
            self._agent.leave()
            raise
        return self

    async def __aexit__(self, kind: type[BaseException] | None, value: BaseException | None,
                        trace: TracebackType | None) -> None:
        # At once, even if there are too many threads.
        self.stop()
        closing = asyncio.wrap_future(_in_thread(self._agent.close))
        # However often this is cancelled: the process group must have ended when we return.
        cancelled: asyncio.CancelledError | None = None
        while not closing.done():
            try:
                await asyncio.wait([closing])
            except asyncio.CancelledError as error:
                cancelled = error
        if cancelled is not None:
            raise cancelled

    def __aiter__(self) -> AsyncIterator[AnyEvent]:
        return self

    async def __anext__(self) -> AnyEvent:
        while (event := self._next()) is None:
            if not await self._take_later():
                raise StopAsyncIteration
        return event

    async def _take_later(self) -> bool:
        """Whether there is more, or another wait took it."""
        if self._reading is None:
            self._reading = _Reading(_in_thread(self._agent.next_batch))
        reading = self._reading
        await reading.done()
        if self._reading is not reading:
            return True
        self._reading = None
        return self._take(reading.batch.result())


class TurnEvents:
    """The events of one turn of a run."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._before = run._ended_turns

    def _is_over(self) -> bool:
        return self._run._ended_turns > self._before

    def __iter__(self) -> Iterator[AnyEvent]:
        return self

    def __next__(self) -> AnyEvent:
        while not self._is_over():
            if (event := self._run._next(of_turn=True)) is not None:
                return event
            if not self._is_over() and not self._run._take_next():
                break
        raise StopIteration

    def __aiter__(self) -> AsyncIterator[AnyEvent]:
        return self

    async def __anext__(self) -> AnyEvent:
        while not self._is_over():
            if (event := self._run._next(of_turn=True)) is not None:
                return event
            if not self._is_over() and not await self._run._take_later():
                break
        raise StopAsyncIteration


def _call(it: dict[str, Any]) -> Call:
    get = it.get
    return Call(
        number=it["call"], id=it["id"], tool=get("tool"), kind=get("kind"), detail=get("detail"),
        files=tuple(get("files", ())), arguments=get("arguments"), outcome=get("outcome"),
        exit_code=get("exit_code"), result=get("result"), line=get("line"),
    )


class RunOptions(TypedDict, total=False):
    """The options of `run`, for functions that take them as `**options: Unpack[RunOptions]`."""

    cwd: str | os.PathLike[str] | None
    env: Mapping[str, str | None] | None
    stdin: str | bytes | None
    inherit_stdin: bool
    open_stdin: bool
    timeout: float | None
    idle_timeout: float | None
    exit_grace: float | None
    profile: str | os.PathLike[str] | None
    strict: bool
    rules: Mapping[str, str] | None
    config: str | os.PathLike[str] | None
    max_line_bytes: int | None
    on_stdout: Callable[[bytes], object] | None
    on_stderr: Callable[[str], object] | None


def run(
    command: Sequence[str | os.PathLike[str]],
    *,
    cwd: str | os.PathLike[str] | None = None,
    env: Mapping[str, str | None] | None = None,
    stdin: str | bytes | None = None,
    inherit_stdin: bool = False,
    open_stdin: bool = False,
    timeout: float | None = None,
    idle_timeout: float | None = None,
    exit_grace: float | None = None,
    profile: str | os.PathLike[str] | None = None,
    strict: bool = False,
    rules: Mapping[str, str] | None = None,
    config: str | os.PathLike[str] | None = None,
    max_line_bytes: int | None = None,
    on_stdout: Callable[[bytes], object] | None = None,
    on_stderr: Callable[[str], object] | None = None,
) -> Run:
    """Runs an agent in its own process group, on Windows in a Job Object. It starts when the context
    is entered or the first event is read.

    `env` is added to the environment; a value of None removes the variable. `stdin` is a text
    or bytes; without it the command reads nothing, or with `inherit_stdin` what Python would read.
    With `open_stdin` you can `write` more, until `close_stdin`. Times are in seconds. `config` is an
    `ndjson-check.toml`; the other options win over it. A limit in it that is exceeded ends the
    command. While events are read, `on_stdout` gets the bytes of the stream, such as to keep the
    recording, and `on_stderr` gets standard error.
    """
    words = _options.command(command)
    _options.flag("inherit_stdin", inherit_stdin)
    _options.flag("open_stdin", open_stdin)
    folder = None if cwd is None else _options.path("cwd", cwd)
    variables = _options.variables(env)
    given = _options.data("stdin", stdin)
    if inherit_stdin and (stdin is not None or open_stdin):
        raise ValueError("inherit_stdin: cannot be used with stdin or open_stdin")
    _options.seconds("timeout", timeout)
    _options.seconds("idle_timeout", idle_timeout)
    _options.seconds("exit_grace", exit_grace, least=0)
    _options.callback("on_stdout", on_stdout)
    _options.callback("on_stderr", on_stderr)

    def start() -> _native.NativeRun:
        directory = None if config is None else _real_directory(folder)
        checker = _checker(profile, strict, rules, config, max_line_bytes,
                           command=name, directory=directory)
        return _native.NativeRun(
            checker, words, folder, variables, given, inherit_stdin, open_stdin, timeout,
            idle_timeout, exit_grace, on_stdout is not None, on_stderr is not None,
        )

    name = os.path.basename(_shown(words[0])) if words else "run"
    listeners: dict[str, Callable[[bytes], object]] = {}
    if on_stdout is not None:
        listeners["stdout"] = on_stdout
    if on_stderr is not None:
        listeners["stderr"] = _decoded(on_stderr)
    return Run(name, start, listeners)


def _real_directory(cwd: str | None) -> str | None:
    """Where a command with this option works, as it sees that itself."""
    try:
        return os.path.realpath(os.curdir if cwd is None else cwd)
    except OSError:
        # It has none: this directory was deleted.
        return None


def _decoded(listener: Callable[[str], object]) -> Callable[[bytes], object]:
    """A listener of bytes; no bytes are the end."""
    decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def decoded(data: bytes) -> object:
        text = decoder.decode(data, final=not data)
        return listener(text) if text else None

    return decoded
