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
  /** The answer in one sentence. */
  readonly headline: string;
  readonly passed: boolean;
  readonly errors: number;
  readonly warnings: number;
  readonly tool_call_counts: { readonly total: number };
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

/** What the report for people says around its findings. */
export interface Words {
  readonly mark: string;
  readonly notes: readonly string[];
  readonly figures: string;
}

/** What is known of a recording after its end. */
export interface Recording {
  readonly stream: Stream;
  readonly words: Words;
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

/** The parts of a report for people about the stream with this headline. */
function wordsOf(human: string, headline: string): Words {
  const all = human.trimEnd().split("\n");
  // About all streams: what the configuration has changed.
  const lines = all.filter((line) => !line.startsWith("note: "));
  const [head = "", last = ""] = [lines[0], lines.at(-1)];
  // What is good, and about which there is nothing to say, is on one line.
  const figures = lines.length === 1 ? head.slice(2).replace(`${headline} · `, "") : last.trim();
  const notes = all.filter((line) => /^( {4})?(agent|note): /.test(line)).map((line) => line.trim());
  return { mark: head.slice(0, 1), notes, figures };
}

/** Reads a recording, twice. `progress` is told how much of this is done, from 0 to 1. */
export async function read(
  pieces: () => AsyncIterable<Uint8Array>,
  size: number,
  options: CheckOptions,
  progress: (done: number) => void = () => {},
): Promise<Recording> {
  const reader = new Reader(options);
  const calls = new CallReader();
  const starts = new LineStarts();
  let bytes = 0;
  const tell = (piece: Uint8Array) => progress((bytes += piece.length) / (2 * size));
  async function* once(): AsyncGenerator<Uint8Array> {
    for await (const piece of pieces()) {
      starts.add(piece);
      calls.add(reader.feed(piece));
      tell(piece);
      yield piece;
    }
    calls.add(reader.finish());
  }
  async function* again(): AsyncGenerator<Uint8Array> {
    for await (const piece of pieces()) {
      tell(piece);
      yield piece;
    }
  }
  try {
    const lines = (await report(once(), "json", options)).trim().split("\n");
    const records = lines.map((line) => JSON.parse(line) as Finding | Stream);
    const stream = records.find((it) => it.type === "stream");
    if (stream === undefined) throw new Error("the report has no stream");
    const findings = errorsFirst(records.filter((it) => it.type === "diagnostic"));
    // Without a name, which would come before the headline.
    const words = wordsOf(await report(again(), "human", { ...options, name: "-" }), stream.headline);
    return { stream, words, findings, calls: [...calls.calls.values()], starts: starts.finish() };
  } finally {
    reader.close();
  }
}

function errorsFirst(findings: readonly Finding[]): Finding[] {
  const of = (severity: string) => findings.filter((it) => it.severity === severity);
  return [...of("error"), ...of("warning")];
}
