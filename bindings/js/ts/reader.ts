// Reads one stream as events.

import { ChunkEncoder, Core, decode, toBytes, type Chunk, type StreamState } from "./core.js";
import { CHECK, END, exitOf, verify } from "./options.js";
import type { AgentEvent, Summary } from "./types.js";

/** The options of a check. */
export interface CheckOptions {
  /** The name of the stream in reports. */
  readonly name?: string | undefined;
  /** The built-in profile of the agent; without it, the first events show which one it is. */
  readonly profile?: string | undefined;
  /** Gives every rule its strict level. */
  readonly strict?: boolean | undefined;
  /** The level of a rule, by its name. */
  readonly rules?: Readonly<Record<string, "error" | "warning" | "off" | undefined>> | undefined;
  /**
   * The text of an `ndjson-check.toml`: limits, expectations and levels of rules. The options above win.
   * It cannot name files.
   */
  readonly config?: string | undefined;
  /** The longest line that is checked. */
  readonly maxLineBytes?: number | undefined;
}

/** How the process of the agent ended. What is not known is absent or null. */
export interface ProcessEnd {
  /** More than 255 counts as 255; the codes of Windows for crashes and Ctrl-C count as signals. */
  readonly exitStatus?: number | null | undefined;
  /** The number or the name of the signal that ended it, as Node gives it. */
  readonly signal?: number | SignalName | null | undefined;
  /** What it wrote to standard error, or the end of it: it may say why the run failed. */
  readonly stderr?: string | null | undefined;
}

export type SignalName = `SIG${string}`;

/** A value, or where it will come from: a promise, or a function that is called after the last bytes. */
export type Later<T> = T | PromiseLike<T> | (() => T | PromiseLike<T>);

/** How the process of the agent will have ended. If one of them comes later, one of them must be known then. */
export interface LaterProcessEnd {
  readonly exitStatus?: Later<ProcessEnd["exitStatus"]>;
  readonly signal?: Later<ProcessEnd["signal"]>;
  readonly stderr?: Later<ProcessEnd["stderr"]>;
}

/** The same, without what is not known. */
export interface ExitStatus {
  readonly exitStatus?: number;
  readonly signal?: number;
}

/** What `run` knows about the end, and nobody else does. */
export interface RunExit extends ExitStatus {
  readonly stop?:
    | { readonly why: "lingered" | "limit-exceeded" | "wrong-start" }
    | { readonly why: "timeout"; limitMs: number; openCalls: readonly (readonly [number, number])[] }
    | { readonly why: "idle-timeout"; limitMs: number };
  readonly interrupted?: boolean;
  readonly stdoutHeldOpen?: boolean;
  readonly expectsTurn?: boolean;
  readonly stderr?: readonly string[];
  readonly stderrLines?: readonly string[];
}

// A reader that nobody closed is closed when it is collected, where the runtime says when.
const forgotten = typeof FinalizationRegistry === "undefined" ? undefined : registry();

function registry() {
  return new FinalizationRegistry<{ core: Core; number: number }>(({ core, number }) => core.close(number));
}

/** Reads one stream, whose bytes come in pieces cut anywhere. */
export class Reader {
  readonly #core: Core;
  #number: number | undefined;
  #summary: Summary | undefined;
  #isComplete = false;
  readonly #encoder = new ChunkEncoder();

  constructor(options?: CheckOptions);
  /** For `run`: with the command and its directory. @internal */
  constructor(options: CheckOptions, command: string, directory: string | undefined);
  constructor(options: CheckOptions = {}, command?: string, directory?: string) {
    verify(options, CHECK);
    this.#core = Core.get();
    this.#number = this.#core.open({ ...options, command, directory });
    forgotten?.register(this, { core: this.#core, number: this.#number }, this);
  }

  /** The events that these bytes complete. Lines need their line ends; `feedLine` adds them. */
  feed(data: Chunk): AgentEvent[] {
    const bytes = this.#encoder.encode(data);
    let events: AgentEvent[] = [];
    const number = this.#open();
    try {
      this.#core.feed(number, bytes, (answer) => {
        // `[]`: most pieces of a line complete nothing.
        if (answer.length <= 2) return;
        const more = JSON.parse(decode(answer)) as AgentEvent[];
        events = events.length === 0 ? more : events.concat(more);
      });
    } catch (error) {
      this.close();
      throw error;
    }
    return events;
  }

  /** The events of one whole line, with or without its line end. */
  feedLine(line: Chunk): AgentEvent[] {
    const bytes = typeof line === "string" ? line : toBytes(line);
    const isEnded = bytes.at(-1) === (typeof bytes === "string" ? "\n" : 0x0a);
    const events = this.feed(bytes);
    return isEnded ? events : events.concat(this.feed("\n"));
  }

  /**
   * Whether the terminal event has come, so that the agent has only to exit. A new turn takes that back.
   * Always false for an agent that writes no terminal event.
   */
  get isComplete(): boolean {
    if (this.#number !== undefined) this.#isComplete = this.#core.takeState(this.#number).isComplete;
    return this.#isComplete;
  }

  /** The last events. The very last is `end` or `cut`. */
  finish(end: ProcessEnd = {}): AgentEvent[] {
    verify(end, END);
    return this.finishRun(exitOf(end));
  }

  /** For `run`. @internal */
  finishRun(end: RunExit): AgentEvent[] {
    const number = this.#open();
    const half = this.feed(this.#encoder.end());
    this.#isComplete = this.isComplete;
    try {
      const last = JSON.parse(decode(this.#core.finish(number, end))) as {
        events: AgentEvent[];
        summary: Summary;
      };
      this.#summary = last.summary;
      return half.concat(last.events);
    } finally {
      this.close();
    }
  }

  /** The result, after `finish`. */
  get summary(): Summary {
    if (this.#summary === undefined) throw new Error("the stream is not finished");
    return this.#summary;
  }

  /** That of the summary: the last message of a run that succeeded. */
  get answer(): string {
    return this.summary.answer;
  }

  /** For `run`, while the stream is open. @internal */
  takeState(): StreamState {
    return this.#core.takeState(this.#open());
  }

  /** For `run`: after how many events the turns have ended that ended since the last call. @internal */
  turnEnds(): number[] {
    const ends: number[] = [];
    if (this.#number === undefined) return ends;
    for (let end = this.#core.turnEnd(this.#number); end > 0; end = this.#core.turnEnd(this.#number)) ends.push(end);
    return ends;
  }

  /** Forgets a stream that is not read to its end. */
  close(): void {
    if (this.#number === undefined) return;
    forgotten?.unregister(this);
    this.#core.close(this.#number);
    this.#number = undefined;
  }

  #open(): number {
    if (this.#number === undefined) {
      throw new Error("the stream is finished, or was lost by an earlier error");
    }
    return this.#number;
  }
}
