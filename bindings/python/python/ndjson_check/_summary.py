"""Made by summary.py from the schema of the JSON report. Do not edit."""

from typing import Any, Literal, TypedDict, Union


class _ToolCall(TypedDict):
    """What is always there."""

    id: str
    outcome: Literal["succeeded", "failed", "rejected", "denied", "unknown", "unfinished"]


class ToolCall(_ToolCall, total=False):
    """An item of `tool_calls`."""

    # The name of the tool, if an event has it.
    tool: str
    started_line: int
    completed_line: int
    # For a call that did not succeed: what it did, such as its command or its path; only the
    # start, if it is long. Absent if no event shows it.
    detail: str


class ToolCallCounts(TypedDict):
    """How many tool calls there were, and how they ended."""

    total: int
    succeeded: int
    failed: int
    # Rejected by the user.
    rejected: int
    # Denied by a permission rule.
    denied: int
    # Completed without an outcome.
    unknown: int
    # Never completed.
    unfinished: int


class Usage(TypedDict, total=False):
    """The tokens used, as the agent reports them."""

    # Sent to the model, neither read from a cache nor written to it.
    input_tokens: int
    cache_read_tokens: int
    cache_write_tokens: int
    # Written by the model, reasoning included.
    output_tokens: int
    reasoning_tokens: int


class Commands(TypedDict):
    """The tool calls that ran a command."""

    # Calls that ended.
    total: int
    failed: int


class _Unknown(TypedDict):
    """What is always there."""

    kind: Literal["event", "tool", "result", "value", "member"]
    # The tag, the tool, the value, or the pointer to the member, with * for the index of an
    # element. Empty if it has no name.
    name: str
    # How often it came.
    count: int
    # Where it came first.
    line: int


class Unknown(_Unknown, total=False):
    """A name or a value that the profile does not know."""

    # Of a value, the path where it is; of a member, the tag of its event.
    of: str


class _Note(TypedDict):
    """What is always there."""

    # The name of the note.
    note: Literal["configured", "rules-off", "rules-lowered", "profile-fallback", "version-out-of-range", "diagnostics-omitted", "unknown-event-repeated", "events-incomplete", "line-lost", "limit-reached", "failure-reported", "cut-short", "outcome-unknown", "errors-survived", "exit-status-meaning", "exit-status-lost", "lingered", "no-idle-timeout", "no-call-timeout", "timed-out", "tried-again", "not-tried-again"]
    # The note, for a reader. The text may change between versions.
    message: str


class Note(_Note, total=False):
    """An item of `notes`."""

    # The limit that was reached.
    limit: Literal["calls", "names", "call-rows", "files", "text"]
    # The configuration file that was read.
    file: str
    # The rules that the configuration file or an option turned off, or made warnings.
    rules: list[str]


class _Summary(TypedDict):
    """What is always there."""

    # Whether the stream conforms and its run succeeded.
    passed: bool
    # How the run ended, in one sentence for a reader.
    headline: str
    # The answer: the last message of the agent, or its value as JSON; empty unless the run
    # succeeded.
    answer: str
    # The last message of the agent, whether or not the run succeeded.
    last_message: str
    path: str
    # The name of the profile that the stream was checked with.
    profile: str
    format: Literal["stream-json", "json"]
    # non-conforming if there is a diagnostic of severity error.
    verdict: Literal["conforming", "non-conforming"]
    # How the run ended.
    outcome: Literal["succeeded", "failed", "truncated", "timed-out"]
    # Lines, including blank ones; of an array, its elements.
    lines: int
    # Lines that are events.
    events: int
    bytes: int
    # Diagnostics of severity error.
    errors: int
    # Diagnostics of severity warning.
    warnings: int
    # How often each rule was raised, including diagnostics that are not in the report.
    rule_counts: dict[str, int]
    # The tool calls in the order in which they appeared, at most 1000. tool_call_counts counts
    # all of them.
    tool_calls: list[ToolCall]
    tool_call_counts: ToolCallCounts
    # Why the run ended.
    reason: Literal["completed", "auth", "billing", "rate-limit", "overloaded", "network", "context-overflow", "output-limit", "refusal", "content-filter", "max-turns", "budget", "permission", "tool", "interrupted", "killed", "timeout", "crash", "config", "model-not-found", "unknown"]
    # The size of the assistant's text.
    text_bytes: int


class Summary(_Summary, total=False):
    """The result of one stream. Properties that are not known are absent."""

    # The answer as a value, where the agent was asked for one.
    structured: Any
    # The id of the session: the first in the stream, or the latest if the agent announces that it
    # changes.
    session_id: str
    # The exit status of the command.
    exit_status: int
    # The signal that ended the command.
    signal: int
    # The last lines of the command's standard error, if the run did not succeed.
    stderr_tail: list[str]
    # The model, by the agent's name for it.
    model: str
    # The version of the agent.
    agent_version: str
    # The cost in US dollars, as the agent reports it.
    cost_usd: float
    # The cost in US dollars by the prices of the configuration, if the agent reports none.
    estimated_cost_usd: float
    # Turns of the model.
    turns: int
    # The duration of the run, as the agent reports it.
    duration_ms: int
    usage: Usage
    # Whether a retry is worth it. no: the same run fails again until something is changed.
    # Absent: not known.
    retryable: Literal["yes", "no", "later"]
    # When a retry is worth it, as the agent or its provider reports: seconds after the end of the
    # run, or a time as in RFC 3339.
    retry_after: Union[int, str]
    # What the agent says about the failure of a run; only the start, if it is long.
    error_text: str
    # The files that successful tool calls wrote or deleted. Commands may have changed others.
    files: list[str]
    # The tool calls that ran a command.
    commands: Commands
    # What the profile does not know; with --stats, members of known events, too.
    unknown: list[Unknown]
    # What else a reader should know. A note is not a defect.
    notes: list[Note]
