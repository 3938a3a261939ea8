// Made by types.mjs from the schemas of `--to events` and of the JSON report. Do not edit.

/** One thing that happened in a run; `type` says what. */
export type AgentEvent =
  | SessionEvent
  | SessionChangedEvent
  | TurnEvent
  | TurnEndedEvent
  | TextDeltaEvent
  | TextEvent
  | TextAbandonedEvent
  | AnswerEvent
  | CallStartedEvent
  | CallUpdatedEvent
  | CallCompletedEvent
  | CallCorrectedEvent
  | CallUnfinishedEvent
  | ThinkingDeltaEvent
  | ThinkingEndEvent
  | PlanEvent
  | NoticeEvent
  | ErrorEvent
  | MessageUsageEvent
  | UsageEvent
  | DefectEvent
  | EndEvent
  | CutEvent;

/** Comes first, once. What is not known yet comes in session_changed. */
export interface SessionEvent {
  type: "session";
  format: "ndjson-check/1";
  /** The profile of the stream that this was made from: the agent. */
  profile: string;
  /** The agent's id of the session. */
  session_id?: string;
  /** The directory in which the agent works. */
  directory?: string;
  /** The version of the agent. */
  version?: string;
  /** The model, by the agent's name for it. */
  model?: string;
  /** What the agent may do without asking, in its own words. */
  mode?: string;
  /** The names of its tools; at most 1,000. */
  tools?: string[];
  /** The servers with more tools; at most 1,000. */
  servers?: Server[];
  line?: Line;
  time_ms?: TimeMs;
}

/** More of the session became known, or changed. */
export interface SessionChangedEvent {
  type: "session_changed";
  /** The agent's id of the session. */
  session_id?: string;
  /** The directory in which the agent works. */
  directory?: string;
  /** The version of the agent. */
  version?: string;
  /** The model, by the agent's name for it. */
  model?: string;
  /** What the agent may do without asking, in its own words. */
  mode?: string;
  /** The names of its tools; at most 1,000. */
  tools?: string[];
  /** The servers with more tools; at most 1,000. */
  servers?: Server[];
  line?: Line;
  time_ms?: TimeMs;
}

export type Whole = number;

/** A server with tools. */
export interface Server {
  name: string;
  /** What the agent says of it, such as connected or failed. */
  status?: string;
  /** Whether the agent can use it, if that is known. */
  available?: boolean;
}

/** Another turn begins. The first, which has no such event, is 1. */
export interface TurnEvent {
  type: "turn";
  turn: number;
  line?: Line;
  time_ms?: TimeMs;
}

/** The terminal event of a turn, which says how the turn ended. */
export interface TurnEndedEvent {
  type: "turn_ended";
  turn: number;
  outcome: "succeeded" | "failed";
  reason: EndReason;
  retryable?: Retryable;
  retry_after?: RetryAfter;
  /** What the agent says about its failure. */
  error_text?: string;
  /** The answer as a value, where the agent was asked for one. */
  structured?: unknown;
  line?: Line;
  time_ms?: TimeMs;
}

/** More of the assistant's text. */
export interface TextDeltaEvent {
  type: "text_delta";
  /** The number of the text segment in this stream, from 1. */
  segment: number;
  text: string;
  line?: Line;
  time_ms?: TimeMs;
}

/** A segment of the assistant's text is complete. It repeats the deltas of the segment. If these are very long, there is no text here. */
export interface TextEvent {
  type: "text";
  /** The number of the text segment in this stream, from 1. */
  segment: number;
  text?: string;
  /** The size of the segment. */
  bytes: number;
  /** Deltas have brought the whole text before. */
  came_in_deltas?: true;
  line?: Line;
  time_ms?: TimeMs;
}

/** The deltas of the segment are no part of the answer. */
export interface TextAbandonedEvent {
  type: "text_abandoned";
  /** The number of the text segment in this stream, from 1. */
  segment: number;
  /** The next event has the final version of the text, as a whole. */
  replaced?: true;
  line?: Line;
  time_ms?: TimeMs;
}

/** The agent gives its answer as a whole at the end; it repeats what came before. */
export interface AnswerEvent {
  type: "answer";
  text: string;
  line?: Line;
  time_ms?: TimeMs;
}

/** A tool call starts. Exactly one call_completed or call_unfinished follows, unless this stream is cut. */
export interface CallStartedEvent {
  type: "call_started";
  /** The number of the call in this stream, from 1. */
  call: number;
  /** The agent's id of the call; the start of a very long one. Agents may use an id again. */
  id: string;
  /** The tool's name, by the agent. */
  tool?: string;
  /** The number of the call inside which a sub-agent makes this one. */
  parent?: number;
  kind?: CallKind;
  /** What the call is about, such as a path or a command. */
  detail?: string;
  /** The files that the call writes or deletes. */
  files?: string[];
  /** What the tool was asked to do: any JSON value, with the members of objects in the order of their names. */
  arguments?: unknown;
  line?: Line;
  time_ms?: TimeMs;
}

/** The start came again, perhaps with more details. */
export interface CallUpdatedEvent {
  type: "call_updated";
  /** The number of the call in this stream, from 1. */
  call: number;
  /** The agent's id of the call; the start of a very long one. Agents may use an id again. */
  id: string;
  /** The tool's name, by the agent. */
  tool?: string;
  /** The number of the call inside which a sub-agent makes this one. */
  parent?: number;
  kind?: CallKind;
  /** What the call is about, such as a path or a command. */
  detail?: string;
  /** The files that the call writes or deletes. */
  files?: string[];
  /** What the tool was asked to do: any JSON value, with the members of objects in the order of their names. */
  arguments?: unknown;
  line?: Line;
  time_ms?: TimeMs;
}

/** The call has ended. */
export interface CallCompletedEvent {
  type: "call_completed";
  /** The number of the call in this stream, from 1. */
  call: number;
  /** The agent's id of the call; the start of a very long one. Agents may use an id again. */
  id: string;
  /** The tool's name, by the agent. */
  tool?: string;
  /** The line of its start, if another event started it. */
  started_line?: number;
  /** The agent's time of that start, in milliseconds since 1970. */
  started_ms?: number;
  /** The number of the call inside which a sub-agent makes this one. */
  parent?: number;
  kind?: CallKind;
  /** What the call is about, such as a path or a command. */
  detail?: string;
  /** The files that the call writes or deletes. */
  files?: string[];
  outcome: "succeeded" | "failed" | "rejected" | "denied" | "unknown";
  /** The text of its result, if the profile knows where it is. */
  result?: string;
  /** The exit status of a command, if the agent says it. */
  exit_code?: number;
  /** The standard output of a command, if the agent gives it apart. */
  stdout?: string;
  /** The standard error of a command, if the agent gives it apart. */
  stderr?: string;
  /** What the call changed in files, if the agent says it. */
  changes?: FileChange[];
  /** The images and other binary content in its result; at most 1,000. */
  media?: Media[];
  /** How long it took: by the times of its start and its end, or as the agent says. */
  duration_ms?: number;
  line?: Line;
  time_ms?: TimeMs;
}

/** The call has completed, and now the agent says how it ended: it was refused, interrupted, or ended in the background. This replaces its outcome. */
export interface CallCorrectedEvent {
  type: "call_corrected";
  /** The number of the call in this stream, from 1. */
  call: number;
  /** The agent's id of the call; the start of a very long one. Agents may use an id again. */
  id: string;
  /** The tool's name, by the agent. */
  tool?: string;
  /** The number of the call inside which a sub-agent makes this one. */
  parent?: number;
  kind?: CallKind;
  /** What the call is about, such as a path or a command. */
  detail?: string;
  /** The files that the call writes or deletes. */
  files?: string[];
  /** An interrupted call failed. */
  outcome: "succeeded" | "failed" | "rejected" | "denied";
  /** The outcome until now. */
  instead_of?: "succeeded" | "failed" | "rejected" | "denied" | "unknown";
  line?: Line;
  time_ms?: TimeMs;
}

/** The turn or the run is over, and nothing says that the call has ended. */
export interface CallUnfinishedEvent {
  type: "call_unfinished";
  /** The number of the call in this stream, from 1. */
  call: number;
  /** The agent's id of the call; the start of a very long one. Agents may use an id again. */
  id: string;
  /** The tool's name, by the agent. */
  tool?: string;
  /** The line of its start, if another event started it. */
  started_line?: number;
  /** The agent's time of that start, in milliseconds since 1970. */
  started_ms?: number;
  /** The number of the call inside which a sub-agent makes this one. */
  parent?: number;
  kind?: CallKind;
  /** What the call is about, such as a path or a command. */
  detail?: string;
  line?: Line;
  time_ms?: TimeMs;
}

/** More of the agent's reasoning. */
export interface ThinkingDeltaEvent {
  type: "thinking_delta";
  block: Block;
  text: string;
  line?: Line;
  time_ms?: TimeMs;
}

/** The block of reasoning is complete. */
export interface ThinkingEndEvent {
  type: "thinking_end";
  block: Block;
  line?: Line;
  time_ms?: TimeMs;
}

/** The agent's list of things to do changed: all of it, at most 1,000 items. */
export interface PlanEvent {
  type: "plan";
  items: ({
    text: string;
    state: "pending" | "in_progress" | "completed" | "cancelled";
  })[];
  line?: Line;
  time_ms?: TimeMs;
}

/** What a reader of a log wants to see: a request is tried again, the context is shortened, the agent asks the user or for a permission, a limit is near, something failed, or something else. */
export interface NoticeEvent {
  type: "notice";
  kind: "prompt" | "retry" | "compaction" | "question" | "permission" | "permission_answer" | "rate_limit" | "error" | "info";
  detail?: string;
  /** Of a retry: the number of the attempt. */
  attempt?: Whole;
  /** Of a retry: how many attempts there may be. */
  attempts?: Whole;
  /** Of a retry: how long the agent waits before it, in milliseconds. */
  delay_ms?: Whole;
  /** Of a retry: the HTTP status of the request that failed. */
  http_status?: Whole;
  /** Of a compaction: the tokens of the context before it. */
  tokens?: Whole;
  /** Of a rate limit: which one, by the agent's name for it. */
  limit?: string;
  /** Of a rate limit: when it is over, in milliseconds since 1970. */
  resets_at_ms?: Whole;
  /** Of a permission or its answer: the agent's id of the request. */
  request?: string;
  /** Of a permission or its answer: the agent's id of the call that needs it. */
  call_id?: string;
  /** Of a permission or its answer: the tool that needs it. */
  tool?: string;
  /** Of an answer: what it is, in the agent's words. */
  answer?: string;
  line?: Line;
  time_ms?: TimeMs;
}

/** The agent reports an error. After a failure or a fatal one, the turn cannot succeed. */
export interface ErrorEvent {
  type: "error";
  severity: "warning" | "fatal" | "failure";
  message?: string;
  line?: Line;
  time_ms?: TimeMs;
}

/** What one message of the model used; comes once, when the message is complete. The sum of a run is in usage and end. */
export interface MessageUsageEvent {
  type: "message_usage";
  /** The agent's id of the message. */
  message?: string;
  /** The number of the call inside which a sub-agent writes the message. */
  parent?: number;
  /** The agent's name of the model. */
  model?: string;
  /** Tokens sent to the model, but for those of the cache. */
  input_tokens?: number;
  /** Tokens read from the cache. */
  cache_read_tokens?: number;
  /** Tokens written to the cache. */
  cache_write_tokens?: number;
  /** Tokens that the model wrote. */
  output_tokens?: number;
  /** Those of them that are reasoning. */
  reasoning_tokens?: number;
  line?: Line;
  time_ms?: TimeMs;
}

/** What the agent has reported of the run so far; all figures replace those before. */
export interface UsageEvent {
  type: "usage";
  /** The agent's name of the model. */
  model?: string;
  /** US dollars, by the agent. */
  cost_usd?: number;
  /** Turns of the model. */
  turns?: number;
  /** The agent's own figure, in milliseconds. */
  duration_ms?: number;
  /** Tokens sent to the model, but for those of the cache. */
  input_tokens?: number;
  /** Tokens read from the cache. */
  cache_read_tokens?: number;
  /** Tokens written to the cache. */
  cache_write_tokens?: number;
  /** Tokens that the model wrote. */
  output_tokens?: number;
  /** Those of them that are reasoning. */
  reasoning_tokens?: number;
  line?: Line;
  time_ms?: TimeMs;
}

/** The stream does not keep its contract. A missing terminal event is shown by cut. */
export interface DefectEvent {
  type: "defect";
  rule: RuleName;
  severity: "error" | "warning";
  message: string;
  note?: string;
  /** A line that belongs to it, such as the start of the call. */
  related_line?: number;
  /** The agent's id of the call, or of the background work, that it is about. */
  call_id?: string;
  /** Which demand of yours is not met: a limit, such as `limits.cost`, or the place of an expectation. */
  demand?: string;
  line?: Line;
  time_ms?: TimeMs;
}

/** The run is over. Nothing follows. */
export interface EndEvent {
  type: "end";
  outcome: "succeeded" | "failed";
  /** Whether the stream keeps its contract. */
  verdict: "conforming" | "non-conforming";
  reason?: EndReason;
  retryable?: Retryable;
  retry_after?: RetryAfter;
  /** What the agent says about its failure. */
  error_text?: string;
  /** The answer as a value, where the agent was asked for one. */
  structured?: unknown;
  /** The id of the session: the first, or the latest if the agent announces that it changes. */
  session_id?: string;
  agent_version?: string;
  /** The agent's name of the model. */
  model?: string;
  /** US dollars, by the agent. */
  cost_usd?: number;
  /** Turns of the model. */
  turns?: number;
  /** The agent's own figure, in milliseconds. */
  duration_ms?: number;
  /** Tokens sent to the model, but for those of the cache. */
  input_tokens?: number;
  /** Tokens read from the cache. */
  cache_read_tokens?: number;
  /** Tokens written to the cache. */
  cache_write_tokens?: number;
  /** Tokens that the model wrote. */
  output_tokens?: number;
  /** Those of them that are reasoning. */
  reasoning_tokens?: number;
  /** The files that calls wrote or deleted. Absent if the profile does not know which calls do. */
  files?: string[];
  /** The calls that ran commands. */
  commands?: {
    total: number;
    failed: number;
  };
  /** The exit status of the process, if it is known. */
  exit_status?: number;
  /** The signal that ended the process. */
  signal?: number;
  /** The last lines of standard error, of a run that did not succeed. */
  stderr_tail?: string[];
  /** Defects of severity error. */
  errors: number;
  /** Defects of severity warning. */
  warnings: number;
  line?: Line;
  time_ms?: TimeMs;
}

/** The stream is over, and the run was not. Nothing follows. */
export interface CutEvent {
  type: "cut";
  outcome: "truncated" | "timed-out";
  /** Whether the stream keeps its contract. */
  verdict: "conforming" | "non-conforming";
  reason?: EndReason;
  retryable?: Retryable;
  retry_after?: RetryAfter;
  /** What the agent says about its failure. */
  error_text?: string;
  /** The answer as a value, where the agent was asked for one. */
  structured?: unknown;
  /** The id of the session: the first, or the latest if the agent announces that it changes. */
  session_id?: string;
  agent_version?: string;
  /** The agent's name of the model. */
  model?: string;
  /** US dollars, by the agent. */
  cost_usd?: number;
  /** Turns of the model. */
  turns?: number;
  /** The agent's own figure, in milliseconds. */
  duration_ms?: number;
  /** Tokens sent to the model, but for those of the cache. */
  input_tokens?: number;
  /** Tokens read from the cache. */
  cache_read_tokens?: number;
  /** Tokens written to the cache. */
  cache_write_tokens?: number;
  /** Tokens that the model wrote. */
  output_tokens?: number;
  /** Those of them that are reasoning. */
  reasoning_tokens?: number;
  /** The files that calls wrote or deleted. Absent if the profile does not know which calls do. */
  files?: string[];
  /** The calls that ran commands. */
  commands?: {
    total: number;
    failed: number;
  };
  /** The exit status of the process, if it is known. */
  exit_status?: number;
  /** The signal that ended the process. */
  signal?: number;
  /** The last lines of standard error, of a run that did not succeed. */
  stderr_tail?: string[];
  /** Defects of severity error. */
  errors: number;
  /** Defects of severity warning. */
  warnings: number;
  line?: Line;
  time_ms?: TimeMs;
}

/** The number of the block of reasoning in this stream, from 1. */
export type Block = number;

/** The line of the stream that this was made from, from 1. */
export type Line = number;

/** The time in the stream, in milliseconds. */
export type TimeMs = number;

/** What a call does. */
export type CallKind = "read" | "write" | "delete" | "command" | "search" | "fetch" | "mcp" | "task" | "todo" | "question" | "other";

/** Whether a retry is worth it. no: the same run fails again until something is changed. Absent: not known. */
export type Retryable = "yes" | "no" | "later";

/** When a retry is worth it, by the agent or its provider: seconds after the end of the run, or a time as in RFC 3339. */
export type RetryAfter = number | string;

/** Why the run ended. */
export type EndReason = "completed" | "auth" | "billing" | "rate-limit" | "overloaded" | "network" | "context-overflow" | "output-limit" | "refusal" | "content-filter" | "max-turns" | "budget" | "permission" | "tool" | "interrupted" | "killed" | "timeout" | "crash" | "config" | "model-not-found" | "unknown";

/** Binary content. What the agent does not say is absent. */
export interface Media {
  /** What it is, by its media type. */
  kind: "image" | "audio" | "video" | "file";
  /** Its media type, such as image/png. */
  media_type?: string;
  /** Its size. */
  bytes?: number;
}

/** A file that a call changed. What the agent does not say is absent. */
export interface FileChange {
  /** Its path, as the agent writes it. */
  path: string;
  kind?: "added" | "modified" | "deleted" | "renamed";
  /** Its path before, if it has another name now. */
  from?: string;
  /** A unified diff. */
  diff?: string;
  /** The text that was replaced: all of the file, or a part. */
  old?: string;
  /** The text that replaces it. */
  new?: string;
  /** Lines that were added. */
  added?: number;
  /** Lines that were removed. */
  removed?: number;
}

/** A rule of ndjson-check: `ndjson-check rules NAME` explains it. */
export type RuleName = string;

/** The result of one stream, with the names of the JSON report. What is not known is absent. */
export interface Summary {
  /** Whether the stream conforms and its run succeeded. */
  passed: boolean;
  /** How the run ended, in one sentence for a reader. */
  headline: string;
  /** The answer: the last message of the agent, or its value as JSON; empty unless the run succeeded. */
  answer: string;
  /** The last message of the agent, whether or not the run succeeded. */
  last_message: string;
  /** The answer as a value, where the agent was asked for one. */
  structured?: unknown;
  path: string;
  /** The name of the profile that the stream was checked with. */
  profile: string;
  format: "stream-json" | "json";
  /** non-conforming if there is a diagnostic of severity error. */
  verdict: "conforming" | "non-conforming";
  /** How the run ended. */
  outcome: "succeeded" | "failed" | "truncated" | "timed-out";
  /** Lines, including blank ones; of an array, its elements. */
  lines: number;
  /** Lines that are events. */
  events: number;
  bytes: number;
  /** Diagnostics of severity error. */
  errors: number;
  /** Diagnostics of severity warning. */
  warnings: number;
  /** How often each rule was raised, including diagnostics that are not in the report. */
  rule_counts: Record<string, number>;
  /** The id of the session: the first in the stream, or the latest if the agent announces that it changes. */
  session_id?: string;
  /** The tool calls in the order in which they appeared, at most 1000. tool_call_counts counts all of them. */
  tool_calls: ToolCall[];
  tool_call_counts: ToolCallCounts;
  /** The exit status of the command. */
  exit_status?: number;
  /** The signal that ended the command. */
  signal?: number;
  /** The last lines of the command's standard error, if the run did not succeed. */
  stderr_tail?: string[];
  /** The model, by the agent's name for it. */
  model?: string;
  /** The version of the agent. */
  agent_version?: string;
  /** The cost in US dollars, as the agent reports it. */
  cost_usd?: number;
  /** The cost in US dollars by the prices of the configuration, if the agent reports none. */
  estimated_cost_usd?: number;
  /** Turns of the model. */
  turns?: number;
  /** The duration of the run, as the agent reports it. */
  duration_ms?: number;
  usage?: Usage;
  /** Why the run ended. */
  reason: EndReason;
  /** Whether a retry is worth it. no: the same run fails again until something is changed. Absent: not known. */
  retryable?: Retryable;
  /** When a retry is worth it, as the agent or its provider reports: seconds after the end of the run, or a time as in RFC 3339. */
  retry_after?: RetryAfter;
  /** What the agent says about the failure of a run; only the start, if it is long. */
  error_text?: string;
  /** The files that successful tool calls wrote or deleted. Commands may have changed others. */
  files?: string[];
  /** The tool calls that ran a command. */
  commands?: {
    /** Calls that ended. */
    total: number;
    failed: number;
  };
  /** The size of the assistant's text. */
  text_bytes: number;
  /** What the profile does not know; with --stats, members of known events, too. */
  unknown?: ({
    kind: "event" | "tool" | "result" | "value" | "member";
    /** Of a value, the path where it is; of a member, the tag of its event. */
    of?: string;
    /** The tag, the tool, the value, or the pointer to the member, with * for the index of an element. Empty if it has no name. */
    name: string;
    /** How often it came. */
    count: number;
    /** Where it came first. */
    line: number;
  })[];
  /** What else a reader should know. A note is not a defect. */
  notes?: Note[];
}

export interface ToolCall {
  id: string;
  /** The name of the tool, if an event has it. */
  tool?: string;
  outcome: "succeeded" | "failed" | "rejected" | "denied" | "unknown" | "unfinished";
  started_line?: number;
  completed_line?: number;
  /** For a call that did not succeed: what it did, such as its command or its path; only the start, if it is long. Absent if no event shows it. */
  detail?: string;
}

/** How many tool calls there were, and how they ended. */
export interface ToolCallCounts {
  total: number;
  succeeded: number;
  failed: number;
  /** Rejected by the user. */
  rejected: number;
  /** Denied by a permission rule. */
  denied: number;
  /** Completed without an outcome. */
  unknown: number;
  /** Never completed. */
  unfinished: number;
}

/** The tokens used, as the agent reports them. */
export interface Usage {
  /** Sent to the model, neither read from a cache nor written to it. */
  input_tokens?: number;
  cache_read_tokens?: number;
  cache_write_tokens?: number;
  /** Written by the model, reasoning included. */
  output_tokens?: number;
  reasoning_tokens?: number;
}

export interface Note {
  /** The name of the note. */
  note: "configured" | "rules-off" | "rules-lowered" | "profile-fallback" | "version-out-of-range" | "diagnostics-omitted" | "unknown-event-repeated" | "events-incomplete" | "line-lost" | "limit-reached" | "failure-reported" | "cut-short" | "outcome-unknown" | "errors-survived" | "exit-status-meaning" | "exit-status-lost" | "lingered" | "no-idle-timeout" | "no-call-timeout" | "timed-out" | "tried-again" | "not-tried-again";
  /** The limit that was reached. */
  limit?: "calls" | "names" | "call-rows" | "files" | "text";
  /** The configuration file that was read. */
  file?: string;
  /** The rules that the configuration file or an option turned off, or made warnings. */
  rules?: string[];
  /** The note, for a reader. The text may change between versions. */
  message: string;
}
