// Reads a recording once: what is wrong with it, its calls, and its figures.

import { Reader, report, type AgentEvent, type CheckOptions } from "ndjson-check";
import { LineStarts } from "./lines.js";

/** Most calls that are kept, and the longest detail of a call, in UTF-16 units. */
const CALLS_MAX = 5_000;
const DETAIL_MAX = 2_000;

/** A `diagnostic` of the JSON report. */
export interface Finding {
  readonly type: "diagnostic";
  readonly rule: string;
  readonly severity: "error" | "warning";
  readonly message: string;
  readonly note?: string;
  readonly line?: number;
  readonly offset?: number;
  readonly related_line?: number;
}

/** The `stream` of the JSON report: the members that the page shows. */
export interface Stream {
  readonly type: "stream";
  readonly profile: string;
  readonly verdict: "conforming" | "non-conforming";
  readonly outcome: "succeeded" | "failed" | "truncated" | "timed-out";
  readonly passed?: boolean;
  readonly headline?: string;
  readonly events: number;
  readonly lines: number;
  readonly bytes: number;
  readonly errors: number;
  readonly warnings: number;
  readonly tool_call_counts: Readonly<Record<string, number>>;
  readonly session_id?: string;
  readonly model?: string;
  readonly agent_version?: string;
  readonly cost_usd?: number;
  readonly turns?: number;
  readonly duration_ms?: number;
  readonly error_text?: string;
  readonly notes?: readonly { readonly message: string }[];
  readonly usage?: {
    readonly input_tokens?: number;
    readonly cache_read_tokens?: number;
    readonly cache_write_tokens?: number;
    readonly output_tokens?: number;
  };
}

export interface Call {
  readonly number: number;
  tool?: string;
  detail?: string;
  outcome: string;
  startedLine?: number;
  endedLine?: number;
  durationMs?: number;
  exitCode?: number;
}

/** What is known of a recording after its end. */
export interface Recording {
  readonly stream: Stream;
  readonly findings: Finding[];
  readonly calls: Call[];
  /** See `LineStarts`. */
  readonly starts: Float64Array;
}

/** The calls in events. */
class CallReader {
  readonly calls = new Map<number, Call>();

  add(events: readonly AgentEvent[]): void {
    for (const event of events) this.#event(event);
  }

  #event(event: AgentEvent): void {
    if (!("call" in event) || event.call > CALLS_MAX) return;
    let call = this.calls.get(event.call);
    if (call === undefined) {
      call = { number: event.call, outcome: "unfinished" };
      this.calls.set(event.call, call);
    }
    if (event.tool !== undefined) call.tool = event.tool;
    if (event.detail !== undefined) call.detail = event.detail.slice(0, DETAIL_MAX);
    if (event.type === "call_started" && event.line !== undefined) call.startedLine = event.line;
    if ("outcome" in event) call.outcome = event.outcome;
    if (event.type !== "call_completed") return;
    if (event.line !== undefined) call.endedLine = event.line;
    if (event.duration_ms !== undefined) call.durationMs = event.duration_ms;
    if (event.exit_code !== undefined) call.exitCode = event.exit_code;
  }
}

/** Reads the pieces of a recording. `progress` is told how many bytes were read. */
export async function read(
  pieces: AsyncIterable<Uint8Array>,
  options: CheckOptions,
  progress: (bytes: number) => void = () => {},
): Promise<Recording> {
  const reader = new Reader(options);
  const calls = new CallReader();
  const starts = new LineStarts();
  let bytes = 0;
  async function* once(): AsyncGenerator<Uint8Array> {
    for await (const piece of pieces) {
      starts.add(piece);
      calls.add(reader.feed(piece));
      progress((bytes += piece.length));
      yield piece;
    }
    calls.add(reader.finish());
  }
  try {
    const lines = (await report(once(), "json", options)).trim().split("\n");
    const records = lines.map((line) => JSON.parse(line) as Finding | Stream);
    const stream = records.find((it) => it.type === "stream");
    if (stream === undefined) throw new Error("the report has no stream");
    const findings = errorsFirst(records.filter((it) => it.type === "diagnostic"));
    return { stream, findings, calls: [...calls.calls.values()], starts: starts.finish() };
  } finally {
    reader.close();
  }
}

function errorsFirst(findings: readonly Finding[]): Finding[] {
  const of = (severity: string) => findings.filter((it) => it.severity === severity);
  return [...of("error"), ...of("warning")];
}

/** The answer in one sentence. */
export function headline({ stream, findings }: Recording): { passed: boolean; text: string } {
  const isGood = stream.verdict === "conforming" && stream.outcome === "succeeded";
  return { passed: stream.passed ?? isGood, text: stream.headline ?? sentence(stream, findings[0]) };
}

function sentence(stream: Stream, first: Finding | undefined): string {
  const because = (text: string | undefined) => (text === undefined ? "" : `: ${text}`);
  if (stream.outcome === "timed-out") return "timed out";
  if (stream.outcome === "failed") return `failed${because(stream.error_text)}`;
  if (stream.outcome === "truncated") return `cut short${because(first?.message)}`;
  const isBroken = stream.verdict === "non-conforming";
  if (isBroken) return `the stream is broken${because(first?.message)}`;
  return first === undefined ? "succeeded" : `succeeded, with ${first.severity}s`;
}
