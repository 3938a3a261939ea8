// A matcher for Vitest and Jest: `expect.extend(matchers)`.

import { StreamError } from "./core.js";
import { report, type Source } from "./source.js";
import type { CheckOptions, ProcessEnd } from "./reader.js";

export interface MatcherResult {
  readonly pass: boolean;
  readonly message: () => string;
}

/** The stream keeps its contract. It says nothing about how the run ended. */
export async function toConform(
  received: Source,
  options: CheckOptions & ProcessEnd = {},
): Promise<MatcherResult> {
  let text: string;
  try {
    // One report has both: a source that is a stream can be read only once.
    text = await report(received, "json", options);
  } catch (error) {
    if (!(error instanceof StreamError)) throw error;
    // No known agent writes such a stream.
    return { pass: false, message: () => `the stream does not conform: ${error.message}` };
  }
  const lines = text.split("\n").filter(Boolean).map((line) => JSON.parse(line) as ReportLine);
  const stream = lines.find((it) => it.type === "stream");
  const findings = lines.filter((it) => it.type === "diagnostic").map(inWords);
  return stream?.verdict === "conforming"
    ? { pass: true, message: () => `the stream conforms, and should not: ${stream.headline}` }
    : { pass: false, message: () => [`the stream does not conform: ${stream?.headline}`, ...findings].join("\n") };
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

type ReportLine =
  | Finding
  | { readonly type: "stream"; readonly verdict: string; readonly headline: string }
  | { readonly type: "run" };

/** For `expect.extend`. */
export const matchers = { toConform };
