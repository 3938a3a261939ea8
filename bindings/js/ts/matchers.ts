// A matcher for Vitest and Jest: `expect.extend(matchers)`.

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
  // One report has both: a source that is a stream can be read only once.
  const text = await report(received, "json", options);
  const lines = text.split("\n").filter(Boolean).map((line) => JSON.parse(line) as ReportLine);
  const pass = lines.some((it) => it.type === "stream" && it.verdict === "conforming");
  const findings = lines.flatMap((it) =>
    it.type === "diagnostic" ? [`  line ${it.line ?? "-"}: ${it.rule}: ${it.message}`] : [],
  );
  const message = pass
    ? "the stream conforms, and should not"
    : `the stream does not conform:\n${findings.join("\n")}`;
  return { pass, message: () => message };
}

type ReportLine =
  | { readonly type: "diagnostic"; readonly line?: number; readonly rule: string; readonly message: string }
  | { readonly type: "stream"; readonly verdict: string }
  | { readonly type: "run" };

/** For `expect.extend`. */
export const matchers = { toConform };
