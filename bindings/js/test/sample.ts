// How a program uses the types; `npm run lint` compiles it, with no types of Node or of a browser.
import { events, Reader, run, type AgentEvent, type CallKind } from "ndjson-check";
import { matchers } from "ndjson-check/matchers";

export function shown(event: AgentEvent): string | undefined {
  switch (event.type) {
    case "text_delta":
      return event.text;
    case "call_completed": {
      const kind: CallKind | undefined = event.kind;
      return `${kind ?? event.tool ?? ""}: ${event.outcome}`;
    }
    case "end":
    case "cut":
      return event.outcome;
    default:
      // @ts-expect-error: not every event has an outcome.
      return event.outcome;
  }
}

export async function main(): Promise<boolean> {
  for await (const event of events(["{}"], { rules: { "denied-call": "error" } })) shown(event);
  // As of `spawnSync` of Node.
  const status: number | null = null;
  const reader = new Reader({ profile: undefined });
  reader.feedLine("{}");
  // As of the event `close` of Node.
  const name: "SIGTERM" | "SIGKILL" | null = null;
  reader.finish({ exitStatus: status, signal: name });
  const calls: number = reader.summary.tool_calls.filter((it) => it.outcome === "failed").length;
  const limit: number | undefined = undefined;
  for await (const event of events([], { exitStatus: async () => status, signal: () => name, strict: undefined })) shown(event);
  if (reader.isComplete && calls > 0) return reader.answer === "";
  const kept: Uint8Array[] = [];
  const onStdout = (bytes: Uint8Array) => kept.push(bytes);
  const onStderr = async (text: string) => void text;
  const cwd = { href: "file:///tmp" };
  const agent = run("agent", ["--print"], { timeout: limit, cwd, stdin: new Uint8Array(), onStdout, onStderr });
  for await (const event of agent) shown(event);
  const exitStatus: number | undefined = (await agent.end).exitStatus;
  const { passed, headline, retryable, retryAfter, answer, usage } = await agent.end;
  const later: number | string | undefined = retryable === "later" ? retryAfter : undefined;
  const tokens: number | undefined = usage.input_tokens;
  return later === undefined && tokens !== 0 && answer !== "" && exitStatus === 0 && passed && headline !== "" && (await matchers.toConform("")).pass;
}
