// Matchers for Vitest and Jest: `expect.extend(matchers)`.

import { StreamError } from "./core.js";
import { report, type Source } from "./source.js";
import type { CheckOptions, LaterProcessEnd } from "./reader.js";

export interface MatcherResult {
  readonly pass: boolean;
  readonly message: () => string;
}

/** The run passes, as `summary.passed` says: the stream conforms, and the run succeeded. */
export async function toPass(
  received: Source,
  options: CheckOptions & LaterProcessEnd = {},
): Promise<MatcherResult> {
  return matched(received, options, (it) => it.passed, "the run passes", "the run does not pass");
}

/** The stream keeps its contract. It says nothing about how the run ended. */
export async function toConform(
  received: Source,
  options: CheckOptions & LaterProcessEnd = {},
): Promise<MatcherResult> {
  const conforms = (it: StreamLine) => it.verdict === "conforming";
  return matched(received, options, conforms, "the stream conforms", "the stream does not conform");
}

async function matched(
  received: Source,
  options: CheckOptions & LaterProcessEnd,
  holds: (stream: StreamLine) => boolean,
  yes: string,
  no: string,
): Promise<MatcherResult> {
  let text: string;
  try {
    // One report has both: a source that is a stream can be read only once.
    text = await report(received, "json", options);
  } catch (error) {
    if (!(error instanceof StreamError)) throw error;
    // No known agent writes such a stream.
    return { pass: false, message: () => `${no}: ${error.message}` };
  }
  const lines = text.split("\n").filter(Boolean).map((line) => JSON.parse(line) as ReportLine);
  const stream = lines.find((it) => it.type === "stream");
  const findings = lines.filter((it) => it.type === "diagnostic").map(inWords);
  return stream !== undefined && holds(stream)
    ? { pass: true, message: () => `${yes}, and should not: ${stream.headline}` }
    : { pass: false, message: () => [`${no}: ${stream?.headline}`, ...findings].join("\n") };
}

function inWords({ line, rule, message, note }: Finding): string {
  return `  line ${line ?? "-"}: ${rule}: ${message}${note === undefined ? "" : `\n    ${note}`}`;
}

interface Finding {
  readonly type: "diagnostic";
  readonly line?: number;
  readonly rule: string;
  readonly message: string;
  readonly note?: string;
}

interface StreamLine {
  readonly type: "stream";
  readonly passed: boolean;
  readonly verdict: string;
  readonly headline: string;
}

type ReportLine = Finding | StreamLine | { readonly type: "summary" };

/** For `expect.extend`. */
export const matchers = { toPass, toConform };
