// Matchers for Vitest and Jest: `expect.extend(matchers)`.

import { StreamError } from "./core.js";
import { report, type Source } from "./source.js";
import type { CheckOptions, LaterProcessEnd } from "./reader.js";
import type { AgentRun, RunEnd } from "./run.js";

export interface MatcherResult {
  readonly pass: boolean;
  readonly message: () => string;
}

/** A stream, or what `run` returns, or its `end`. A run has been checked, so the matcher takes no options with it. */
export type Received = Source | AgentRun | RunEnd;

/** The run passes, as `summary.passed` says: the stream conforms, and the run succeeded. */
export async function toPass(
  received: Received,
  options: CheckOptions & LaterProcessEnd = {},
): Promise<MatcherResult> {
  return matched(received, options, (it) => it.passed, "the run passes", "the run does not pass");
}

/** The stream keeps its contract. It says nothing about how the run ended. */
export async function toConform(
  received: Received,
  options: CheckOptions & LaterProcessEnd = {},
): Promise<MatcherResult> {
  const conforms = (it: StreamLine) => it.verdict === "conforming";
  return matched(received, options, conforms, "the stream conforms", "the stream does not conform");
}

async function matched(
  received: Received,
  options: CheckOptions & LaterProcessEnd,
  holds: (stream: StreamLine) => boolean,
  yes: string,
  no: string,
): Promise<MatcherResult> {
  let checked: Checked;
  try {
    checked = isRun(received) ? await ofRun(received, options) : await ofSource(received, options);
  } catch (error) {
    if (!(error instanceof StreamError)) throw error;
    // No known agent writes such a stream.
    return { pass: false, message: () => `${no}: ${error.message}` };
  }
  const { stream, findings } = checked;
  return stream !== undefined && holds(stream)
    ? { pass: true, message: () => `${yes}, and should not: ${stream.headline}` }
    : { pass: false, message: () => [`${no}: ${stream?.headline}`, ...findings].join("\n") };
}

function isRun(received: Received): received is AgentRun | RunEnd {
  const its = (name: string) => typeof received === "object" && received !== null && name in received;
  return (its("end") && its("turn")) || (its("summary") && its("stderrTail"));
}

async function ofRun(run: AgentRun | RunEnd, options: object): Promise<Checked> {
  if (Object.values(options).some((it) => it !== undefined)) {
    throw new TypeError("the options of the check belong to `run`, which has checked this run");
  }
  const { passed, verdict, headline, defects, stderrTail } = "turn" in run ? await run.end : run;
  const findings = [...defects.map(inWords), ...stderrTail.map((it) => `  stderr: ${it}`)];
  return { stream: { type: "stream", passed, verdict, headline }, findings };
}

async function ofSource(source: Source, options: CheckOptions & LaterProcessEnd): Promise<Checked> {
  // One report has both: a source that is a stream can be read only once.
  const text = await report(source, "json", options);
  const lines = text.split("\n").filter(Boolean).map((line) => JSON.parse(line) as ReportLine);
  const findings = lines.filter((it) => it.type === "diagnostic").map(inWords);
  return { stream: lines.find((it) => it.type === "stream"), findings };
}

function inWords({ line, rule, message, note }: Finding): string {
  return `  line ${line ?? "-"}: ${rule}: ${message}${note === undefined ? "" : `\n    ${note}`}`;
}

interface Finding {
  readonly line?: number;
  readonly rule: string;
  readonly message: string;
  readonly note?: string;
}

interface FindingLine extends Finding {
  readonly type: "diagnostic";
}

interface StreamLine {
  readonly type: "stream";
  readonly passed: boolean;
  readonly verdict: string;
  readonly headline: string;
}

interface Checked {
  readonly stream: StreamLine | undefined;
  readonly findings: readonly string[];
}

type ReportLine = FindingLine | StreamLine | { readonly type: "summary" };

/** For `expect.extend`. */
export const matchers = { toPass, toConform };
