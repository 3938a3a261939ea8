from collections.abc import Sequence
from typing import Any, Literal, final

from ._words import CallKind, EndReason, NoticeKind, Retryable

__version__: str

class NdjsonCheckError(Exception):
    exit_status: int | None
    signal: int | None
    stderr_tail: tuple[str, ...]

class Event:
    @property
    def type(self) -> str: ...
    @property
    def line(self) -> int | None: ...
    @property
    def time_ms(self) -> int | None: ...
    def to_dict(self) -> dict[str, Any]: ...
    def to_json(self) -> str: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...

@final
class Session(Event):
    __match_args__ = (
        "session_id",
        "profile",
        "format",
        "directory",
        "version",
        "model",
        "mode",
        "tools",
        "servers",
    )
    @property
    def session_id(self) -> str | None: ...
    @property
    def profile(self) -> str: ...
    @property
    def format(self) -> str: ...
    @property
    def directory(self) -> str | None: ...
    @property
    def version(self) -> str | None: ...
    @property
    def model(self) -> str | None: ...
    @property
    def mode(self) -> str | None: ...
    @property
    def tools(self) -> list[str] | None: ...
    @property
    def servers(self) -> list[dict[str, Any]] | None: ...

@final
class SessionChanged(Event):
    __match_args__ = ("session_id", "directory", "version", "model", "mode", "tools", "servers")
    @property
    def session_id(self) -> str | None: ...
    @property
    def directory(self) -> str | None: ...
    @property
    def version(self) -> str | None: ...
    @property
    def model(self) -> str | None: ...
    @property
    def mode(self) -> str | None: ...
    @property
    def tools(self) -> list[str] | None: ...
    @property
    def servers(self) -> list[dict[str, Any]] | None: ...

@final
class Turn(Event):
    __match_args__ = ("turn",)
    @property
    def turn(self) -> int: ...

@final
class TextDelta(Event):
    __match_args__ = ("text", "segment")
    @property
    def text(self) -> str: ...
    @property
    def segment(self) -> int: ...

@final
class Text(Event):
    __match_args__ = ("text", "segment", "bytes")
    @property
    def text(self) -> str | None: ...
    @property
    def segment(self) -> int: ...
    @property
    def bytes(self) -> int: ...

@final
class TextAbandoned(Event):
    __match_args__ = ("segment", "replaced")
    @property
    def segment(self) -> int: ...
    @property
    def replaced(self) -> bool: ...

@final
class Answer(Event):
    __match_args__ = ("text",)
    @property
    def text(self) -> str: ...

@final
class CallStarted(Event):
    __match_args__ = ("call", "id", "tool", "parent", "kind", "detail", "files", "arguments")
    @property
    def call(self) -> int: ...
    @property
    def id(self) -> str: ...
    @property
    def tool(self) -> str | None: ...
    @property
    def parent(self) -> int | None: ...
    @property
    def kind(self) -> CallKind | None: ...
    @property
    def detail(self) -> str | None: ...
    @property
    def files(self) -> Sequence[str]: ...
    @property
    def arguments(self) -> Any: ...

@final
class CallUpdated(Event):
    __match_args__ = ("call", "id", "tool", "parent", "kind", "detail", "files", "arguments")
    @property
    def call(self) -> int: ...
    @property
    def id(self) -> str: ...
    @property
    def tool(self) -> str | None: ...
    @property
    def parent(self) -> int | None: ...
    @property
    def kind(self) -> CallKind | None: ...
    @property
    def detail(self) -> str | None: ...
    @property
    def files(self) -> Sequence[str]: ...
    @property
    def arguments(self) -> Any: ...

@final
class CallCompleted(Event):
    __match_args__ = (
        "call",
        "id",
        "tool",
        "parent",
        "kind",
        "detail",
        "files",
        "arguments",
        "outcome",
        "exit_code",
        "result",
        "stdout",
        "stderr",
        "changes",
        "media",
        "duration_ms",
        "started_line",
        "started_ms",
    )
    @property
    def call(self) -> int: ...
    @property
    def id(self) -> str: ...
    @property
    def tool(self) -> str | None: ...
    @property
    def parent(self) -> int | None: ...
    @property
    def kind(self) -> CallKind | None: ...
    @property
    def detail(self) -> str | None: ...
    @property
    def files(self) -> Sequence[str]: ...
    @property
    def arguments(self) -> Any: ...
    @property
    def outcome(self) -> Literal["succeeded", "failed", "rejected", "denied", "unknown"]: ...
    @property
    def exit_code(self) -> int | None: ...
    @property
    def result(self) -> str | None: ...
    @property
    def stdout(self) -> str | None: ...
    @property
    def stderr(self) -> str | None: ...
    @property
    def changes(self) -> Sequence[dict[str, Any]]: ...
    @property
    def media(self) -> Sequence[dict[str, Any]]: ...
    @property
    def duration_ms(self) -> int | None: ...
    @property
    def started_line(self) -> int | None: ...
    @property
    def started_ms(self) -> int | None: ...

@final
class CallCorrected(Event):
    __match_args__ = (
        "call",
        "id",
        "tool",
        "parent",
        "kind",
        "detail",
        "files",
        "arguments",
        "outcome",
        "instead_of",
    )
    @property
    def call(self) -> int: ...
    @property
    def id(self) -> str: ...
    @property
    def tool(self) -> str | None: ...
    @property
    def parent(self) -> int | None: ...
    @property
    def kind(self) -> CallKind | None: ...
    @property
    def detail(self) -> str | None: ...
    @property
    def files(self) -> Sequence[str]: ...
    @property
    def arguments(self) -> Any: ...
    @property
    def outcome(self) -> Literal["succeeded", "failed", "rejected", "denied"]: ...
    @property
    def instead_of(self) -> Literal["succeeded", "failed", "rejected", "denied", "unknown"]: ...

@final
class CallUnfinished(Event):
    __match_args__ = (
        "call",
        "id",
        "tool",
        "parent",
        "kind",
        "detail",
        "files",
        "arguments",
        "started_line",
        "started_ms",
    )
    @property
    def call(self) -> int: ...
    @property
    def id(self) -> str: ...
    @property
    def tool(self) -> str | None: ...
    @property
    def parent(self) -> int | None: ...
    @property
    def kind(self) -> CallKind | None: ...
    @property
    def detail(self) -> str | None: ...
    @property
    def files(self) -> Sequence[str]: ...
    @property
    def arguments(self) -> Any: ...
    @property
    def started_line(self) -> int | None: ...
    @property
    def started_ms(self) -> int | None: ...

@final
class ThinkingDelta(Event):
    __match_args__ = ("text", "block")
    @property
    def text(self) -> str: ...
    @property
    def block(self) -> int: ...

@final
class ThinkingEnd(Event):
    __match_args__ = ("block",)
    @property
    def block(self) -> int: ...

@final
class Plan(Event):
    __match_args__ = ("items",)
    @property
    def items(self) -> list[dict[str, Any]]: ...

@final
class Notice(Event):
    __match_args__ = (
        "kind",
        "detail",
        "attempt",
        "attempts",
        "delay_ms",
        "http_status",
        "tokens",
        "request",
        "call_id",
        "tool",
        "answer",
        "limit",
        "resets_at_ms",
    )
    @property
    def kind(self) -> NoticeKind: ...
    @property
    def detail(self) -> str | None: ...
    @property
    def attempt(self) -> int | None: ...
    @property
    def attempts(self) -> int | None: ...
    @property
    def delay_ms(self) -> int | None: ...
    @property
    def http_status(self) -> int | None: ...
    @property
    def tokens(self) -> int | None: ...
    @property
    def request(self) -> str | None: ...
    @property
    def call_id(self) -> str | None: ...
    @property
    def tool(self) -> str | None: ...
    @property
    def answer(self) -> str | None: ...
    @property
    def limit(self) -> str | None: ...
    @property
    def resets_at_ms(self) -> int | None: ...

@final
class Error(Event):
    __match_args__ = ("message", "severity")
    @property
    def message(self) -> str | None: ...
    @property
    def severity(self) -> Literal["warning", "fatal", "failure"]: ...

@final
class MessageUsage(Event):
    __match_args__ = (
        "message",
        "parent",
        "model",
        "input_tokens",
        "cache_read_tokens",
        "cache_write_tokens",
        "output_tokens",
        "reasoning_tokens",
    )
    @property
    def message(self) -> str | None: ...
    @property
    def parent(self) -> int | None: ...
    @property
    def model(self) -> str | None: ...
    @property
    def input_tokens(self) -> int | None: ...
    @property
    def cache_read_tokens(self) -> int | None: ...
    @property
    def cache_write_tokens(self) -> int | None: ...
    @property
    def output_tokens(self) -> int | None: ...
    @property
    def reasoning_tokens(self) -> int | None: ...

@final
class Usage(Event):
    __match_args__ = (
        "model",
        "cost_usd",
        "turns",
        "duration_ms",
        "input_tokens",
        "cache_read_tokens",
        "cache_write_tokens",
        "output_tokens",
        "reasoning_tokens",
    )
    @property
    def model(self) -> str | None: ...
    @property
    def cost_usd(self) -> float | None: ...
    @property
    def turns(self) -> int | None: ...
    @property
    def duration_ms(self) -> int | None: ...
    @property
    def input_tokens(self) -> int | None: ...
    @property
    def cache_read_tokens(self) -> int | None: ...
    @property
    def cache_write_tokens(self) -> int | None: ...
    @property
    def output_tokens(self) -> int | None: ...
    @property
    def reasoning_tokens(self) -> int | None: ...

@final
class Defect(Event):
    __match_args__ = ("rule", "severity", "message", "note", "related_line", "call_id")
    @property
    def rule(self) -> str: ...
    @property
    def severity(self) -> Literal["error", "warning"]: ...
    @property
    def message(self) -> str: ...
    @property
    def note(self) -> str | None: ...
    @property
    def related_line(self) -> int | None: ...
    @property
    def call_id(self) -> str | None: ...

@final
class End(Event):
    __match_args__ = (
        "outcome",
        "verdict",
        "reason",
        "retryable",
        "retry_after",
        "error_text",
        "structured",
        "agent_version",
        "model",
        "cost_usd",
        "turns",
        "duration_ms",
        "input_tokens",
        "cache_read_tokens",
        "cache_write_tokens",
        "output_tokens",
        "reasoning_tokens",
        "files",
        "commands",
        "exit_status",
        "signal",
        "stderr_tail",
        "errors",
        "warnings",
    )
    @property
    def outcome(self) -> Literal["succeeded", "failed"]: ...
    @property
    def verdict(self) -> Literal["conforming", "non-conforming"]: ...
    @property
    def reason(self) -> EndReason | None: ...
    @property
    def retryable(self) -> Retryable | None: ...
    @property
    def retry_after(self) -> int | str | None: ...
    @property
    def error_text(self) -> str | None: ...
    @property
    def structured(self) -> Any: ...
    @property
    def agent_version(self) -> str | None: ...
    @property
    def model(self) -> str | None: ...
    @property
    def cost_usd(self) -> float | None: ...
    @property
    def turns(self) -> int | None: ...
    @property
    def duration_ms(self) -> int | None: ...
    @property
    def input_tokens(self) -> int | None: ...
    @property
    def cache_read_tokens(self) -> int | None: ...
    @property
    def cache_write_tokens(self) -> int | None: ...
    @property
    def output_tokens(self) -> int | None: ...
    @property
    def reasoning_tokens(self) -> int | None: ...
    @property
    def files(self) -> Sequence[str]: ...
    @property
    def commands(self) -> dict[str, int] | None: ...
    @property
    def exit_status(self) -> int | None: ...
    @property
    def signal(self) -> int | None: ...
    @property
    def stderr_tail(self) -> Sequence[str]: ...
    @property
    def errors(self) -> int: ...
    @property
    def warnings(self) -> int: ...

@final
class Cut(Event):
    __match_args__ = (
        "outcome",
        "verdict",
        "reason",
        "retryable",
        "retry_after",
        "error_text",
        "structured",
        "agent_version",
        "model",
        "cost_usd",
        "turns",
        "duration_ms",
        "input_tokens",
        "cache_read_tokens",
        "cache_write_tokens",
        "output_tokens",
        "reasoning_tokens",
        "files",
        "commands",
        "exit_status",
        "signal",
        "stderr_tail",
        "errors",
        "warnings",
    )
    @property
    def outcome(self) -> Literal["truncated", "timed-out"]: ...
    @property
    def verdict(self) -> Literal["conforming", "non-conforming"]: ...
    @property
    def reason(self) -> EndReason | None: ...
    @property
    def retryable(self) -> Retryable | None: ...
    @property
    def retry_after(self) -> int | str | None: ...
    @property
    def error_text(self) -> str | None: ...
    @property
    def structured(self) -> Any: ...
    @property
    def agent_version(self) -> str | None: ...
    @property
    def model(self) -> str | None: ...
    @property
    def cost_usd(self) -> float | None: ...
    @property
    def turns(self) -> int | None: ...
    @property
    def duration_ms(self) -> int | None: ...
    @property
    def input_tokens(self) -> int | None: ...
    @property
    def cache_read_tokens(self) -> int | None: ...
    @property
    def cache_write_tokens(self) -> int | None: ...
    @property
    def output_tokens(self) -> int | None: ...
    @property
    def reasoning_tokens(self) -> int | None: ...
    @property
    def files(self) -> Sequence[str]: ...
    @property
    def commands(self) -> dict[str, int] | None: ...
    @property
    def exit_status(self) -> int | None: ...
    @property
    def signal(self) -> int | None: ...
    @property
    def stderr_tail(self) -> Sequence[str]: ...
    @property
    def errors(self) -> int: ...
    @property
    def warnings(self) -> int: ...

@final
class Checker:
    def __new__(
        cls,
        *,
        profile: str | None = None,
        strict: bool = False,
        rules: list[tuple[str, str]] | None = None,
        config: str | None = None,
        max_line_bytes: int | None = None,
        stats: bool = False,
        command: str | None = None,
        directory: str | None = None,
    ) -> Checker: ...

@final
class NativeReader:
    def __new__(cls, checker: Checker, name: str) -> NativeReader: ...
    def feed(self, data: bytes) -> list[Event]: ...
    def finish(self, exit_status: int | None, signal: int | None) -> tuple[list[Event], str]: ...

@final
class NativeRun:
    def __new__(
        cls,
        checker: Checker,
        command: list[str],
        cwd: str | None,
        env: list[tuple[str, str | None]],
        stdin: str | None,
        inherit_stdin: bool,
        timeout: float | None,
        idle_timeout: float | None,
        exit_grace: float | None,
        copies_stdout: bool,
        copies_stderr: bool,
    ) -> NativeRun: ...
    def next_batch(self) -> list[Event | tuple[str, bytes]]: ...
    def result(self) -> tuple[str, str] | None: ...
    def page(self, name: str) -> str | None: ...
    def stop(self) -> None: ...
    def leave(self) -> None: ...
    def is_over(self) -> bool: ...
    def close(self) -> None: ...

@final
class Table:
    def __new__(cls, columns: list[tuple[str, str, list[Any]]]) -> Table: ...
    def __len__(self) -> int: ...
    def __arrow_c_stream__(self, requested_schema: object = None) -> object: ...

def write(
    checker: Checker,
    name: str,
    kind: str,
    data: bytes,
    exit_status: int | None,
    signal: int | None,
    raw: bool,
    results: int,
    thinking: bool,
) -> str: ...
