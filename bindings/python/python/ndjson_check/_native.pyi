from collections.abc import Mapping, Sequence
from typing import Any, Literal, final

from typing_extensions import Self

from ._events import AnyEvent
from ._words import CallKind, EndReason, NoticeKind, Retryable

__version__: str

class NdjsonCheckError(Exception):
    exit_status: int | None
    signal: int | None
    stderr_tail: tuple[str, ...]

class Event:
    """One thing that happened. This class itself stands for kinds that this version does not know.
    """
    @property
    def type(self) -> str:
        """The name of the kind in JSON, such as `text_delta`."""
    @property
    def line(self) -> int | None:
        """The line of the stream, from 1; None for what only the end of the stream shows."""
    @property
    def time_ms(self) -> int | None:
        """The agent's own time in milliseconds."""
    def to_dict(self) -> dict[str, Any]:
        """The members as in a line of `--to events`."""
    def to_json(self) -> str:
        """The line of `--to events --raw`."""
    @classmethod
    def from_dict(cls, members: Mapping[str, Any]) -> AnyEvent:
        """An event with these members, such as those of `to_dict()`. A harness is tested with it.
        Raises ValueError unless they are an event of `--to events`, and of this class."""
    def __copy__(self) -> Self: ...
    def __deepcopy__(self, memo: object, /) -> Self: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...

@final
class Session(Event):
    """Comes first, once. What is not known yet comes in session_changed.

    directory: The directory in which the agent works.
    mode: What the agent may do without asking, in its own words.
    model: The model, by the agent's name for it.
    profile: The profile of the stream that this was made from: the agent.
    servers: The servers with more tools; at most 1,000.
    session_id: The agent's id of the session.
    tools: The names of its tools; at most 1,000.
    version: The version of the agent.
    """
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
    @classmethod
    def from_dict(cls, members: Mapping[str, Any]) -> Self: ...
    @property
    def type(self) -> Literal["session"]: ...
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
    """More of the session became known, or changed.

    directory: The directory in which the agent works.
    mode: What the agent may do without asking, in its own words.
    model: The model, by the agent's name for it.
    servers: The servers with more tools; at most 1,000.
    session_id: The agent's id of the session.
    tools: The names of its tools; at most 1,000.
    version: The version of the agent.
    """
    __match_args__ = ("session_id", "directory", "version", "model", "mode", "tools", "servers")
    @classmethod
    def from_dict(cls, members: Mapping[str, Any]) -> Self: ...
    @property
    def type(self) -> Literal["session_changed"]: ...
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
    """Another turn begins. The first, which has no such event, is 1."""
    __match_args__ = ("turn",)
    @classmethod
    def from_dict(cls, members: Mapping[str, Any]) -> Self: ...
    @property
    def type(self) -> Literal["turn"]: ...
    @property
    def turn(self) -> int: ...

@final
class TurnEnded(Event):
    """The terminal event of a turn, which says how the turn ended.

    error_text: What the agent says about its failure.
    structured: The answer as a value, where the agent was asked for one.
    """
    __match_args__ = (
        "turn",
        "outcome",
        "reason",
        "retryable",
        "retry_after",
        "error_text",
        "structured",
    )
    @classmethod
    def from_dict(cls, members: Mapping[str, Any]) -> Self: ...
    @property
    def type(self) -> Literal["turn_ended"]: ...
    @property
    def turn(self) -> int: ...
    @property
    def outcome(self) -> Literal["succeeded", "failed"]: ...
    @property
    def reason(self) -> EndReason: ...
    @property
    def retryable(self) -> Retryable | None: ...
    @property
    def retry_after(self) -> int | str | None: ...
    @property
    def error_text(self) -> str | None: ...
    @property
    def structured(self) -> Any: ...

@final
class TextDelta(Event):
    """More of the assistant's text.

    segment: The number of the text segment in this stream, from 1.
    """
    __match_args__ = ("text", "segment")
    @classmethod
    def from_dict(cls, members: Mapping[str, Any]) -> Self: ...
    @property
    def type(self) -> Literal["text_delta"]: ...
    @property
    def text(self) -> str: ...
    @property
    def segment(self) -> int: ...

@final
class Text(Event):
    """A segment of the assistant's text is complete. It repeats the deltas of the segment. If these
    are very long, there is no text here.

    bytes: The size of the segment.
    came_in_deltas: Deltas have brought the whole text before.
    segment: The number of the text segment in this stream, from 1.
    """
    __match_args__ = ("text", "segment", "bytes", "came_in_deltas")
    @classmethod
    def from_dict(cls, members: Mapping[str, Any]) -> Self: ...
    @property
    def type(self) -> Literal["text"]: ...
    @property
    def text(self) -> str | None: ...
    @property
    def segment(self) -> int: ...
    @property
    def bytes(self) -> int: ...
    @property
    def came_in_deltas(self) -> bool: ...

@final
class TextAbandoned(Event):
    """The deltas of the segment are no part of the answer.

    replaced: The next event has the final version of the text, as a whole.
    segment: The number of the text segment in this stream, from 1.
    """
    __match_args__ = ("segment", "replaced")
    @classmethod
    def from_dict(cls, members: Mapping[str, Any]) -> Self: ...
    @property
    def type(self) -> Literal["text_abandoned"]: ...
    @property
    def segment(self) -> int: ...
    @property
    def replaced(self) -> bool: ...

@final
class Answer(Event):
    """The agent gives its answer as a whole at the end; it repeats what came before."""
    __match_args__ = ("text",)
    @classmethod
    def from_dict(cls, members: Mapping[str, Any]) -> Self: ...
    @property
    def type(self) -> Literal["answer"]: ...
    @property
    def text(self) -> str: ...

@final
class CallStarted(Event):
    """A tool call starts. Exactly one call_completed or call_unfinished follows, unless this stream
    is cut.

    arguments: What the tool was asked to do: any JSON value, with the members of objects in the
        order of their names.
    call: The number of the call in this stream, from 1.
    detail: What the call is about, such as a path or a command.
    files: The files that the call writes or deletes.
    id: The agent's id of the call; the start of a very long one. Agents may use an id again.
    parent: The number of the call inside which a sub-agent makes this one.
    tool: The tool's name, by the agent.
    """
    __match_args__ = ("call", "id", "tool", "parent", "kind", "detail", "files", "arguments")
    @classmethod
    def from_dict(cls, members: Mapping[str, Any]) -> Self: ...
    @property
    def type(self) -> Literal["call_started"]: ...
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
    """The start came again, perhaps with more details.

    arguments: What the tool was asked to do: any JSON value, with the members of objects in the
        order of their names.
    call: The number of the call in this stream, from 1.
    detail: What the call is about, such as a path or a command.
    files: The files that the call writes or deletes.
    id: The agent's id of the call; the start of a very long one. Agents may use an id again.
    parent: The number of the call inside which a sub-agent makes this one.
    tool: The tool's name, by the agent.
    """
    __match_args__ = ("call", "id", "tool", "parent", "kind", "detail", "files", "arguments")
    @classmethod
    def from_dict(cls, members: Mapping[str, Any]) -> Self: ...
    @property
    def type(self) -> Literal["call_updated"]: ...
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
    """The call has ended.

    call: The number of the call in this stream, from 1.
    changes: What the call changed in files, if the agent says it.
    detail: What the call is about, such as a path or a command.
    duration_ms: How long it took: by the times of its start and its end, or as the agent says.
    exit_code: The exit status of a command, if the agent says it.
    files: The files that the call writes or deletes.
    id: The agent's id of the call; the start of a very long one. Agents may use an id again.
    media: The images and other binary content in its result; at most 1,000.
    parent: The number of the call inside which a sub-agent makes this one.
    result: The text of its result, if the profile knows where it is.
    started_line: The line of its start, if another event started it.
    started_ms: The agent's time of that start, in milliseconds since 1970.
    stderr: The standard error of a command, if the agent gives it apart.
    stdout: The standard output of a command, if the agent gives it apart.
    tool: The tool's name, by the agent.
    """
    __match_args__ = (
        "call",
        "id",
        "tool",
        "parent",
        "kind",
        "detail",
        "files",
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
    @classmethod
    def from_dict(cls, members: Mapping[str, Any]) -> Self: ...
    @property
    def type(self) -> Literal["call_completed"]: ...
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
    """The call has completed, and now the agent says how it ended: it was refused, interrupted, or
    ended in the background. This replaces its outcome.

    call: The number of the call in this stream, from 1.
    detail: What the call is about, such as a path or a command.
    files: The files that the call writes or deletes.
    id: The agent's id of the call; the start of a very long one. Agents may use an id again.
    instead_of: The outcome until now.
    outcome: An interrupted call failed.
    parent: The number of the call inside which a sub-agent makes this one.
    tool: The tool's name, by the agent.
    """
    __match_args__ = (
        "call",
        "id",
        "tool",
        "parent",
        "kind",
        "detail",
        "files",
        "outcome",
        "instead_of",
    )
    @classmethod
    def from_dict(cls, members: Mapping[str, Any]) -> Self: ...
    @property
    def type(self) -> Literal["call_corrected"]: ...
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
    def outcome(self) -> Literal["succeeded", "failed", "rejected", "denied"]: ...
    @property
    def instead_of(self) -> Literal["succeeded", "failed", "rejected", "denied", "unknown"]: ...

@final
class CallUnfinished(Event):
    """The turn or the run is over, and nothing says that the call has ended.

    call: The number of the call in this stream, from 1.
    detail: What the call is about, such as a path or a command.
    id: The agent's id of the call; the start of a very long one. Agents may use an id again.
    parent: The number of the call inside which a sub-agent makes this one.
    started_line: The line of its start, if another event started it.
    started_ms: The agent's time of that start, in milliseconds since 1970.
    tool: The tool's name, by the agent.
    """
    __match_args__ = (
        "call",
        "id",
        "tool",
        "parent",
        "kind",
        "detail",
        "files",
        "started_line",
        "started_ms",
    )
    @classmethod
    def from_dict(cls, members: Mapping[str, Any]) -> Self: ...
    @property
    def type(self) -> Literal["call_unfinished"]: ...
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
    def started_line(self) -> int | None: ...
    @property
    def started_ms(self) -> int | None: ...

@final
class ThinkingDelta(Event):
    """More of the agent's reasoning."""
    __match_args__ = ("text", "block")
    @classmethod
    def from_dict(cls, members: Mapping[str, Any]) -> Self: ...
    @property
    def type(self) -> Literal["thinking_delta"]: ...
    @property
    def text(self) -> str: ...
    @property
    def block(self) -> int: ...

@final
class ThinkingEnd(Event):
    """The block of reasoning is complete."""
    __match_args__ = ("block",)
    @classmethod
    def from_dict(cls, members: Mapping[str, Any]) -> Self: ...
    @property
    def type(self) -> Literal["thinking_end"]: ...
    @property
    def block(self) -> int: ...

@final
class Plan(Event):
    """The agent's list of things to do changed: all of it, at most 1,000 items."""
    __match_args__ = ("items",)
    @classmethod
    def from_dict(cls, members: Mapping[str, Any]) -> Self: ...
    @property
    def type(self) -> Literal["plan"]: ...
    @property
    def items(self) -> list[dict[str, Any]]: ...

@final
class Notice(Event):
    """What a reader of a log wants to see: a request is tried again, the context is shortened, the
    agent asks the user or for a permission, a limit is near, something failed, or something else.

    answer: Of an answer: what it is, in the agent's words.
    attempt: Of a retry: the number of the attempt.
    attempts: Of a retry: how many attempts there may be.
    call_id: Of a permission or its answer: the agent's id of the call that needs it.
    delay_ms: Of a retry: how long the agent waits before it, in milliseconds.
    http_status: Of a retry: the HTTP status of the request that failed.
    limit: Of a rate limit: which one, by the agent's name for it.
    request: Of a permission or its answer: the agent's id of the request.
    resets_at_ms: Of a rate limit: when it is over, in milliseconds since 1970.
    tokens: Of a compaction: the tokens of the context before it.
    tool: Of a permission or its answer: the tool that needs it.
    """
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
    @classmethod
    def from_dict(cls, members: Mapping[str, Any]) -> Self: ...
    @property
    def type(self) -> Literal["notice"]: ...
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
    """The agent reports an error. After a failure or a fatal one, the turn cannot succeed."""
    __match_args__ = ("message", "severity")
    @classmethod
    def from_dict(cls, members: Mapping[str, Any]) -> Self: ...
    @property
    def type(self) -> Literal["error"]: ...
    @property
    def message(self) -> str | None: ...
    @property
    def severity(self) -> Literal["warning", "fatal", "failure"]: ...

@final
class MessageUsage(Event):
    """What one message of the model used; comes once, when the message is complete. The sum of a run
    is in usage and end.

    cache_read_tokens: Tokens read from the cache.
    cache_write_tokens: Tokens written to the cache.
    input_tokens: Tokens sent to the model, but for those of the cache.
    message: The agent's id of the message.
    model: The agent's name of the model.
    output_tokens: Tokens that the model wrote.
    parent: The number of the call inside which a sub-agent writes the message.
    reasoning_tokens: Those of them that are reasoning.
    """
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
    @classmethod
    def from_dict(cls, members: Mapping[str, Any]) -> Self: ...
    @property
    def type(self) -> Literal["message_usage"]: ...
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
    """What the agent has reported of the run so far; all figures replace those before.

    cache_read_tokens: Tokens read from the cache.
    cache_write_tokens: Tokens written to the cache.
    cost_usd: US dollars, by the agent.
    duration_ms: The agent's own figure, in milliseconds.
    input_tokens: Tokens sent to the model, but for those of the cache.
    model: The agent's name of the model.
    output_tokens: Tokens that the model wrote.
    reasoning_tokens: Those of them that are reasoning.
    turns: Turns of the model.
    """
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
    @classmethod
    def from_dict(cls, members: Mapping[str, Any]) -> Self: ...
    @property
    def type(self) -> Literal["usage"]: ...
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
    """The stream does not keep its contract. A missing terminal event is shown by cut.

    call_id: The agent's id of the call, or of the background work, that it is about.
    demand: Which demand of yours is not met: a limit, such as `limits.cost`, or the place of an
        expectation.
    related_line: A line that belongs to it, such as the start of the call.
    """
    __match_args__ = ("rule", "severity", "message", "note", "related_line", "call_id", "demand")
    @classmethod
    def from_dict(cls, members: Mapping[str, Any]) -> Self: ...
    @property
    def type(self) -> Literal["defect"]: ...
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
    @property
    def demand(self) -> str | None: ...

@final
class End(Event):
    """The run is over. Nothing follows.

    cache_read_tokens: Tokens read from the cache.
    cache_write_tokens: Tokens written to the cache.
    commands: The calls that ran commands.
    cost_usd: US dollars, by the agent.
    duration_ms: The agent's own figure, in milliseconds.
    error_text: What the agent says about its failure.
    errors: Defects of severity error.
    exit_status: The exit status of the process, if it is known.
    files: The files that calls wrote or deleted. Absent if the profile does not know which calls
        do.
    input_tokens: Tokens sent to the model, but for those of the cache.
    model: The agent's name of the model.
    output_tokens: Tokens that the model wrote.
    reasoning_tokens: Those of them that are reasoning.
    session_id: The id of the session: the first, or the latest if the agent announces that it
        changes.
    signal: The signal that ended the process.
    stderr_tail: The last lines of standard error, of a run that did not succeed.
    structured: The answer as a value, where the agent was asked for one.
    turns: Turns of the model.
    verdict: Whether the stream keeps its contract.
    warnings: Defects of severity warning.
    """
    __match_args__ = (
        "outcome",
        "verdict",
        "reason",
        "retryable",
        "retry_after",
        "error_text",
        "structured",
        "session_id",
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
    @classmethod
    def from_dict(cls, members: Mapping[str, Any]) -> Self: ...
    @property
    def type(self) -> Literal["end"]: ...
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
    def session_id(self) -> str | None: ...
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
    """The stream is over, and the run was not. Nothing follows.

    cache_read_tokens: Tokens read from the cache.
    cache_write_tokens: Tokens written to the cache.
    commands: The calls that ran commands.
    cost_usd: US dollars, by the agent.
    duration_ms: The agent's own figure, in milliseconds.
    error_text: What the agent says about its failure.
    errors: Defects of severity error.
    exit_status: The exit status of the process, if it is known.
    files: The files that calls wrote or deleted. Absent if the profile does not know which calls
        do.
    input_tokens: Tokens sent to the model, but for those of the cache.
    model: The agent's name of the model.
    output_tokens: Tokens that the model wrote.
    reasoning_tokens: Those of them that are reasoning.
    session_id: The id of the session: the first, or the latest if the agent announces that it
        changes.
    signal: The signal that ended the process.
    stderr_tail: The last lines of standard error, of a run that did not succeed.
    structured: The answer as a value, where the agent was asked for one.
    turns: Turns of the model.
    verdict: Whether the stream keeps its contract.
    warnings: Defects of severity warning.
    """
    __match_args__ = (
        "outcome",
        "verdict",
        "reason",
        "retryable",
        "retry_after",
        "error_text",
        "structured",
        "session_id",
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
    @classmethod
    def from_dict(cls, members: Mapping[str, Any]) -> Self: ...
    @property
    def type(self) -> Literal["cut"]: ...
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
    def session_id(self) -> str | None: ...
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
    def feed(self, data: bytes) -> list[AnyEvent]: ...
    def finish(
        self, exit_status: int | None, signal: int | None, stderr: str | None
    ) -> tuple[list[AnyEvent], str]: ...
    def is_complete(self) -> bool: ...

@final
class NativeRun:
    def __new__(
        cls,
        checker: Checker,
        command: list[str],
        cwd: str | None,
        env: list[tuple[str, str | None]],
        stdin: bytes | None,
        inherit_stdin: bool,
        open_stdin: bool,
        timeout: float | None,
        idle_timeout: float | None,
        exit_grace: float | None,
        copies_stdout: bool,
        copies_stderr: bool,
    ) -> NativeRun: ...
    def next_batch(self) -> list[AnyEvent | tuple[str, bytes] | None]: ...
    def result(self) -> str | None: ...
    def stderr_tail(self) -> list[str]: ...
    def pid(self) -> int | None: ...
    def page(self, name: str) -> str | None: ...
    def write(self, data: bytes) -> None: ...
    def close_stdin(self) -> None: ...
    def stop(self) -> None: ...
    def leave(self) -> None: ...
    def is_over(self) -> bool: ...
    def close(self) -> None: ...

@final
class Table:
    def __new__(cls, columns: list[tuple[str, str, list[Any]]]) -> Table: ...
    def __len__(self) -> int: ...
    def __arrow_c_schema__(self) -> object: ...
    def __arrow_c_stream__(self, requested_schema: object = None) -> object: ...

def event_again(text: str) -> Event: ...
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
