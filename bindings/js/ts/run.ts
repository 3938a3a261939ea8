// Runs an agent: Node, Deno and Bun.

import { builtin, isError, NdjsonCheckError, StreamError, toBytes, util } from "./core.js";
import type { Chunk, StreamState } from "./core.js";
import { guard, release } from "./guard.js";
import { ABORT, CALLBACK, CHECK, COMMAND, FLAG, FOLDER, GRACE, INPUT, LIMIT } from "./options.js";
import { VARIABLES, WORDS, isPromise, linesOf, statusOf, verify } from "./options.js";
import { Reader } from "./reader.js";
import type { CheckOptions, ExitStatus, RunExit } from "./reader.js";
import type { AgentEvent, CutEvent, DefectEvent, EndEvent } from "./types.js";
import type { EndReason, RetryAfter, Retryable, Summary, Usage } from "./types.js";
import { startOf, type Files, type Start } from "./windows.js";

/** How long a command may take to end after SIGTERM. */
const KILL_MS = 5_000;
/** How long the stream is read when the command has ended and a descendant holds it open. */
const DRAIN_MS = 2_000;
const DRAIN_TICK_MS = 50;
/** How long standard error is read when the run is over and another process holds it open. */
const STDERR_MS = 500;
const EXIT_GRACE_MS = 10_000;
const STDERR_LINES_MAX = 10;
const STDERR_CHARACTERS_MAX = 4 * 1024 * 1024;
const STDERR_PART_MIN = 64 * 1024;
/** How many `defect` events a `RunEnd` has. */
const DEFECTS_MAX = 100;
/** Events that wait for a slow reader; then the agent waits. */
const WAITING_MAX = 1_024;
/** The longest time of a timer of JavaScript. */
const TIMER_MAX = 2 ** 31 - 1;
const OPTIONS = {
  ...CHECK,
  cwd: FOLDER,
  env: VARIABLES,
  stdin: INPUT,
  openStdin: FLAG,
  timeout: LIMIT,
  idleTimeout: LIMIT,
  exitGrace: GRACE,
  signal: ABORT,
  onStderr: CALLBACK,
  onStdout: CALLBACK,
};

/** What is used of an AbortSignal. */
export interface StopSignal {
  readonly aborted: boolean;
  readonly reason?: unknown;
  addEventListener(type: "abort", listener: () => void): void;
  removeEventListener(type: "abort", listener: () => void): void;
}

export interface RunOptions extends CheckOptions {
  /** A path, or a `file:` URL. */
  readonly cwd?: string | { readonly href: string } | undefined;
  /** Added to the environment; `undefined` removes a variable. */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
  /** A text or bytes for standard input. Without it the command reads nothing. */
  readonly stdin?: Chunk | undefined;
  /** Keeps standard input open for `write`, until `closeStdin`. */
  readonly openStdin?: boolean | undefined;
  /** The longest time of the run, in milliseconds. A fraction is rounded up, Infinity is no limit. */
  readonly timeout?: number | undefined;
  /** The longest time without an event while no call is open in the stream, in milliseconds. */
  readonly idleTimeout?: number | undefined;
  /** How long the command may go on after its terminal event, in milliseconds; 10,000. */
  readonly exitGrace?: number | undefined;
  /** Ends the run when it is aborted. If it is aborted already, `run` throws its reason and starts nothing. */
  readonly signal?: StopSignal | undefined;
  /** Gets what the command writes to standard error. The run waits for a promise that it returns. */
  readonly onStderr?: ((text: string) => unknown) | undefined;
  /**
   * Gets the bytes of the stream before they are read, such as to keep the recording. The agent
   * waits for a promise that it returns.
   */
  readonly onStdout?: ((bytes: Uint8Array) => unknown) | undefined;
}

interface Readable extends AsyncIterable<Uint8Array> {
  on(event: "data", listener: (bytes: Uint8Array) => void): void;
  once(event: "end" | "close", listener: () => void): void;
  destroy(): void;
}

interface Writable {
  on(event: "error", listener: () => void): void;
  write(input: string | Uint8Array): boolean;
  end(): void;
  destroy(): void;
}

interface Child {
  readonly pid?: number;
  readonly stdin: Writable | null;
  readonly stdout: Readable;
  readonly stderr: Readable;
  kill(signal: string): boolean;
  once(event: "error", listener: (error: Error) => void): void;
  once(event: "exit", listener: (code: number | null, signal: string | null) => void): void;
}

type Spawn = (command: string, args: readonly string[], options: object) => Child;

/** How a run ended: its last event, and what the stream says in all. */
export interface RunEnd extends ExitStatus {
  /** Whether the stream conforms and the run succeeded. */
  readonly passed: boolean;
  /** How the run ended, in one sentence. */
  readonly headline: string;
  readonly outcome: Summary["outcome"];
  readonly verdict: Summary["verdict"];
  readonly reason?: EndReason;
  /** Whether a retry is worth it. Absent: not known. */
  readonly retryable?: Retryable;
  /** When a retry is worth it: seconds after the end of the run, or a time as in RFC 3339. */
  readonly retryAfter?: RetryAfter;
  /** Empty unless the run succeeded. */
  readonly answer: string;
  readonly usage: Usage;
  readonly event: EndEvent | CutEvent;
  /** The first 100 `defect` events. */
  readonly defects: readonly DefectEvent[];
  readonly stderrTail: readonly string[];
  readonly summary: Summary;
}

function system() {
  const child = builtin<{ spawn: Spawn }>("node:child_process");
  const os = builtin<{ constants: { signals: Record<string, number> } }>("node:os");
  const its = (globalThis as { process?: { platform: string; env: object; kill(pid: number, signal: string | 0): void } }).process;
  if (child === undefined || os === undefined || its === undefined) {
    throw new NdjsonCheckError("running an agent needs Node, Deno or Bun");
  }
  return { spawn: child.spawn, signals: os.constants.signals, process: its };
}

function inputOf(data: Chunk): string | Uint8Array {
  return typeof data === "string" ? data : toBytes(data);
}

/** Whole milliseconds; Infinity is no limit. */
function limitOf(time: number | undefined): number | undefined {
  return time === undefined || time === Infinity ? undefined : Math.ceil(time);
}

/** Where a command with this option works, as it sees that itself, or undefined if there is none. */
function realDirectory(cwd: RunOptions["cwd"]): string | undefined {
  const fs = builtin<{ realpathSync(file: unknown): string }>("node:fs");
  try {
    return fs?.realpathSync(cwd ?? ".");
  } catch {
    return undefined;
  }
}

function onWindows(
  command: string,
  args: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
  cwd: RunOptions["cwd"],
): Start {
  const fs = builtin<{ readFileSync(file: string, encoding: "latin1"): string }>("node:fs");
  const path = builtin<{ win32: { resolve(...parts: string[]): string } }>("node:path");
  const url = builtin<{ fileURLToPath(url: string): string }>("node:url");
  if (fs === undefined || path === undefined || url === undefined) return { file: command, args, verbatim: false };
  const files: Files = {
    isFile,
    read: (file) => fs.readFileSync(file, "latin1"),
    resolve: (...parts) => path.win32.resolve(...parts),
  };
  const folder = typeof cwd === "object" ? url.fileURLToPath(cwd.href) : (cwd ?? "");
  return startOf(command, args, env, folder, files);
}

/** Without free file handles Node makes none. */
function hasPipes(child: { readonly stdout: unknown }): boolean {
  return child.stdout !== undefined && child.stdout !== null;
}

/** What the system says by a code. */
const SYSTEM_ERRORS = new Map([
  ["E2BIG", "the arguments or the environment are too long"],
  ["EACCES", "permission denied"],
  ["ENOENT", "no such file or directory"],
  ["ENOTDIR", "not a directory"],
]);

/** Why a command does not start. */
function notStarted(command: string, cwd: RunOptions["cwd"], cause: unknown): Error {
  // Such as a NUL byte in an argument, or one that a batch file cannot get.
  if (cause instanceof NdjsonCheckError || (isError(cause) && cause.name === "TypeError")) return cause;
  const code = isError(cause) && "code" in cause ? String(cause.code) : "";
  const said = SYSTEM_ERRORS.get(code) ?? (isError(cause) ? cause.message : String(cause));
  const why = cwd === undefined || isDirectory(cwd) ? said : `there is no directory ${String(cwd)}`;
  return new NdjsonCheckError(`failed to start ${command}: ${why}`, { cause });
}

interface Stat {
  isDirectory(): boolean;
  isFile(): boolean;
}

function stat(path: unknown): Stat | undefined {
  try {
    return builtin<{ statSync(path: unknown): Stat }>("node:fs")?.statSync(path);
  } catch {
    return undefined;
  }
}

function isDirectory(path: unknown): boolean {
  return stat(path)?.isDirectory() ?? false;
}

function isFile(path: string): boolean {
  return stat(path)?.isFile() ?? false;
}

/** The error, and what the command said at its end: that may be why its stream cannot be read. */
function withEnd(error: StreamError, exit: ExitStatus, stderrTail: readonly string[]): StreamError {
  const { exitStatus, signal } = exit;
  const killed = signal === undefined ? "" : `; the command was ended by signal ${signal}`;
  const status = exitStatus === undefined ? killed : `; the command ended with exit status ${exitStatus}`;
  const last = stderrTail.at(-1);
  const said = last === undefined ? "" : `; its last line of standard error: ${last}`;
  const ended = new StreamError(`${error.message}${status}${said}`, { cause: error });
  return Object.assign(ended, exit, { stderrTail });
}

/** What each signal calls: of many listeners, such as those of many agents, Node warns. */
const stops = new WeakMap<StopSignal, { readonly called: Set<() => void>; readonly abort: () => void }>();

/** Returns a function that takes it back. Node keeps a signal alive while it has a listener. */
function onAbort(signal: StopSignal, stop: () => void): () => void {
  let known = stops.get(signal);
  if (known === undefined) {
    const called = new Set<() => void>();
    known = { called, abort: () => called.forEach((it) => it()) };
    stops.set(signal, known);
    signal.addEventListener("abort", known.abort);
  }
  const { called, abort } = known;
  called.add(stop);
  return () => {
    called.delete(stop);
    if (called.size > 0) return;
    signal.removeEventListener("abort", abort);
    stops.delete(signal);
  };
}

/** A run of an agent, and an iterator of its events. Leaving the loop ends the command. */
export class AgentRun implements AsyncIterable<AgentEvent> {
  readonly #system = system();
  readonly #child: Child;
  readonly #reader: Reader;
  readonly #end: Promise<RunEnd>;
  readonly #exited: Promise<ExitStatus>;
  /** As of the last bytes. */
  #state: StreamState;
  #waiting: AgentEvent[] = [];
  readonly #defects: DefectEvent[] = [];
  #wake: (() => void)[] = [];
  /** How many events a loop has read, and after how many of them each turn ends. */
  #eventsRead = 0;
  #turnEnds: number[] = [];
  /** The open standard input. */
  #stdin: Writable | undefined;
  /** Whether a message was written after the latest terminal event. */
  #hasMessage = false;
  #isOver = false;
  #isKept = false;
  /** Whether a loop reads the events. */
  #hasLoop = false;
  #stop: RunExit["stop"];
  #isInterrupted = false;
  #isHeldOpen = false;
  /** The pieces of standard error that are kept, and how many characters they have. */
  #stderr: string[] = [];
  #stderrSize = 0;
  #hasExited = false;
  /** Whether no process of the group is left, or the run is over: its number may be that of another group. */
  #isGone = false;
  /** Whether the stream waits for a slow reader of the events, or for a callback. */
  #isBlocked = false;
  /** Whether the idle time is over, and only what waits in the pipe can show that the agent is not idle. */
  #isLate = false;
  /** What a callback has thrown. */
  #thrown: { readonly error: unknown } | undefined;
  #stderrClosed: Promise<void>;
  /** The promises of `onStderr`. */
  #pending: Promise<unknown> = Promise.resolve();
  /** The open calls: their lines and the times of their starts. */
  readonly #open = new Map<number, readonly [number, number]>();
  readonly #timers = new Map<string, ReturnType<typeof setTimeout>>();
  readonly #options: RunOptions;
  readonly #idleTimeout: number | undefined;
  readonly #kill = () => this.#signal("SIGKILL");

  constructor(command: string, args: readonly string[], options: RunOptions) {
    // After the start of the command nothing here may throw.
    verify({ command: command ?? null, args }, { command: COMMAND, args: WORDS });
    verify(options, OPTIONS);
    const { cwd, env, stdin, openStdin = false, timeout, idleTimeout, exitGrace, signal, ...others } = options;
    const { onStderr, onStdout, ...check } = others;
    if (signal?.aborted === true) throw signal.reason ?? new NdjsonCheckError("the signal is aborted");
    this.#options = options;
    this.#idleTimeout = limitOf(idleTimeout);
    const directory = check.config === undefined ? undefined : realDirectory(cwd);
    const name = command.split(/[\\/]/).at(-1) ?? command;
    this.#reader = new Reader({ name, ...check }, command, directory);
    this.#state = this.#reader.takeState();
    const all = Object.entries({ ...this.#system.process.env, ...env });
    const variables = Object.fromEntries(all.filter(([, value]) => value !== undefined));
    try {
      const isWindows = this.#system.process.platform === "win32";
      const start = isWindows ? onWindows(command, args, variables, cwd) : { file: command, args, verbatim: false };
      this.#child = this.#system.spawn(start.file, start.args, {
        cwd,
        env: variables,
        windowsHide: true,
        windowsVerbatimArguments: start.verbatim,
        // Its own process group.
        detached: !isWindows,
        stdio: [stdin === undefined && !openStdin ? "ignore" : "pipe", "pipe", "pipe"],
      });
    } catch (cause) {
      // Node says most of it later, by an event.
      this.#reader.close();
      throw notStarted(command, cwd, cause);
    }
    const child = this.#child;
    if (!hasPipes(child)) {
      // Its error says so later, when nobody listens.
      child.once("error", () => {});
      this.#reader.close();
      throw notStarted(command, cwd, new Error("too many open files"));
    }
    guard(this.#kill);
    // A command may end before it has read its input.
    child.stdin?.on("error", () => {});
    if (stdin !== undefined) child.stdin?.write(inputOf(stdin));
    if (openStdin) this.#stdin = child.stdin ?? undefined;
    else child.stdin?.end();
    const decoder = new util.TextDecoder("utf-8", { ignoreBOM: true });
    this.#stderrClosed = new Promise((resolve) => child.stderr.once("close", resolve));
    const say = (more: string) => {
      if (more === "") return;
      this.#keep(more);
      const pending = this.#call(() => onStderr?.(more));
      if (pending !== undefined) this.#pending = Promise.all([this.#pending, pending]);
    };
    child.stderr.on("data", (bytes) => say(decoder.decode(bytes, { stream: true })));
    child.stderr.once("end", () => say(decoder.decode()));
    this.#exited = new Promise((resolve, reject) => {
      child.once("error", (cause) => reject(notStarted(command, cwd, cause)));
      child.once("exit", (code, name) => {
        this.#hasExited = true;
        for (const limit of ["timeout", "idle", "grace"]) this.#clear(limit);
        resolve(name === null ? statusOf({ exitStatus: code ?? 0 }) : { signal: this.#system.signals[name] ?? 0 });
        if (!this.#isGone) this.#drain(DRAIN_MS);
      });
    });
    this.#exited.catch(() => {});
    const limit = limitOf(timeout);
    if (limit !== undefined) this.#timer("timeout", limit, () => this.#timedOut(limit));
    this.#progress();
    const unlisten = signal === undefined ? undefined : onAbort(signal, () => this.stop());
    this.#end = this.#read().catch((error) => this.#failed(error)).finally(async () => {
      unlisten?.();
      this.#leave();
      await this.#exited.catch(() => {});
      this.#reader.close();
      this.#isOver = true;
      this.#notify();
    });
    this.#end.catch(() => {});
  }

  /** The number of the command's process; undefined if it did not start. */
  get pid(): number | undefined {
    return this.#child.pid;
  }

  /** How the run ended. Events that nobody has read are kept for a loop that comes later. */
  get end(): Promise<RunEnd> {
    this.#isKept = true;
    this.#notify();
    return this.#end;
  }

  /** Asks the command to end. Its last events can still be read. */
  stop(): void {
    this.#isInterrupted ||= this.#stop === undefined && !this.#hasExited;
    this.#terminate();
  }

  /**
   * Writes to the command, whose standard input `openStdin` keeps open. What it no longer reads is dropped; throws if
   * it has ended.
   */
  write(data: Chunk): void {
    verify({ data: data ?? null }, { data: INPUT });
    if (this.#stdin === undefined) throw new Error("standard input is not open; `openStdin` keeps it open");
    if (this.#hasExited || this.#isOver) throw new Error("the command has ended, so it cannot answer");
    this.#stdin.write(inputOf(data));
    this.#hasMessage = true;
    if (!this.#isBlocked && this.#mayBeIdle()) this.#progress();
  }

  /** The command gets the end of its input; an agent whose turn is complete then ends. */
  closeStdin(): void {
    this.#stdin?.end();
    this.#stdin = undefined;
    if (!this.#isOver && this.#isComplete()) this.#turnIsComplete(this.#state.waitsForWork);
  }

  /**
   * The events up to the terminal event of the current turn; of an agent that writes none, up to the end of the
   * run. Leaving the loop ends nothing.
   */
  async *turn(): AsyncGenerator<AgentEvent, void, undefined> {
    this.#enterLoop();
    try {
      for (;;) {
        const event = (this.#turnEnds[0] ?? Infinity) > this.#eventsRead ? this.#waiting.shift() : undefined;
        if (event !== undefined) {
          this.#eventsRead += 1;
          this.#notify();
          yield event;
        } else if (this.#turnEnds.length > 0) {
          this.#turnEnds.shift();
          return;
        } else if (this.#isOver) break;
        else await this.#changed();
      }
      await this.#end;
    } finally {
      this.#hasLoop = false;
    }
  }

  #enterLoop(): void {
    if (this.#hasLoop) throw new Error("another loop reads the events of this run; each event comes once");
    this.#hasLoop = true;
  }

  [Symbol.asyncIterator](): AsyncGenerator<AgentEvent, void, undefined> {
    const events = this.#events();
    const [leave, fail] = [events.return.bind(events), events.throw.bind(events)];
    // A generator is left only after the event that it waits for; only the end of the command may bring that.
    events.return = (value) => {
      if (!this.#isOver) this.stop();
      return leave(value);
    };
    // A stream of Node that is destroyed with an error calls this.
    events.throw = (error) => {
      if (!this.#isOver) this.stop();
      return fail(error);
    };
    return events;
  }

  async *#events(): AsyncGenerator<AgentEvent, void, undefined> {
    this.#enterLoop();
    let isRead = false;
    try {
      for (;;) {
        const events = this.#waiting;
        if (events.length > 0) {
          this.#waiting = [];
          this.#eventsRead += events.length;
          this.#turnEnds = this.#turnEnds.filter((end) => end > this.#eventsRead);
          this.#notify();
          yield* events;
        } else if (this.#isOver) break;
        else await this.#changed();
      }
      isRead = true;
      await this.#end;
    } finally {
      this.#hasLoop = false;
      if (!isRead) {
        this.stop();
        this.#isKept = true;
        this.#notify();
        await this.#end.catch(() => {});
      }
    }
  }

  async #read(): Promise<RunEnd> {
    try {
      for await (const bytes of this.#child.stdout) {
        const pending = this.#call(() => this.#options.onStdout?.(bytes));
        if (pending !== undefined) await this.#waitFor(pending);
        if (this.#thrown !== undefined) break;
        // A part of a long line is no event, and yet the agent is not idle.
        if (this.#isLate && this.#timers.has("idle")) this.#progress();
        this.#take(this.#reader.feed(bytes));
        if (this.#mustWait()) await this.#waitFor(this.#readerGoesOn());
      }
      // No call can end any more: an open one is no reason to be silent.
      if (this.#isComplete()) this.#turnIsComplete(false);
      else if (!this.#state.isComplete && !this.#timers.has("idle")) this.#progress();
    } catch (error) {
      // Of a command that does not start, Deno closes the output first.
      if (this.#child.pid === undefined) await this.#exited;
      // An output that was closed by us is at its end.
      if (!this.#isHeldOpen && this.#thrown === undefined) throw error;
    }
    const exit = await this.#exited;
    this.#signal("SIGKILL");
    await this.#readStderr();
    await this.#pending;
    const stderrLines = linesOf(this.#stderr.join(""));
    const all: RunExit = {
      ...exit,
      ...(this.#stop === undefined ? {} : { stop: this.#stop }),
      interrupted: this.#isInterrupted,
      stdoutHeldOpen: this.#isHeldOpen,
      expectsTurn: this.#hasMessage && this.#state.isComplete,
      stderr: stderrLines,
      stderrLines,
    };
    if (this.#thrown !== undefined) throw this.#thrown.error;
    const last = this.#reader.finishRun(all);
    this.#leave();
    const event = last.at(-1);
    if (event?.type !== "end" && event?.type !== "cut") throw new Error("the stream has no last event");
    this.#push(last);
    const { summary } = this.#reader;
    const { passed, headline, answer, usage = {} } = summary;
    // Of a run that succeeded, the summary has none.
    const stderrTail = summary.stderr_tail ?? stderrLines.slice(-STDERR_LINES_MAX);
    const { outcome, verdict, reason, retryable, retry_after: retryAfter } = event;
    return {
      ...exit,
      passed,
      headline,
      outcome,
      verdict,
      ...(reason === undefined ? {} : { reason }),
      ...(retryable === undefined ? {} : { retryable }),
      ...(retryAfter === undefined ? {} : { retryAfter }),
      answer,
      usage,
      event,
      defects: [...this.#defects],
      stderrTail,
      summary,
    };
  }

  /** Rejects the run. */
  async #failed(error: unknown): Promise<never> {
    if (!(error instanceof StreamError)) throw error;
    const hadExited = this.#hasExited;
    this.#signal("SIGKILL");
    const exit = await this.#exited;
    await this.#readStderr();
    // Of a command that still ran, the signal is ours.
    const isOurs = !hadExited && exit.signal !== undefined;
    throw withEnd(error, isOurs ? {} : exit, linesOf(this.#stderr.join("")).slice(-STDERR_LINES_MAX));
  }

  /** Keeps the end of standard error: what the agent refused may be in it. */
  #keep(more: string): void {
    const last = this.#stderr.length - 1;
    // A few long parts: many short ones would take long to remove.
    if ((this.#stderr[last]?.length ?? STDERR_PART_MIN) < STDERR_PART_MIN) this.#stderr[last] += more;
    else this.#stderr.push(more);
    this.#stderrSize += more.length;
    while (this.#stderrSize > STDERR_CHARACTERS_MAX && this.#stderr.length > 1) {
      this.#stderrSize -= this.#stderr.shift()?.length ?? 0;
    }
  }

  #mustWait(): boolean {
    return this.#waiting.length >= WAITING_MAX && !this.#isKept && this.#thrown === undefined;
  }

  async #readerGoesOn(): Promise<void> {
    while (this.#mustWait()) await this.#changed();
  }

  /** Meanwhile the command is not idle, although no event arrives. */
  async #waitFor(work: Promise<void>): Promise<void> {
    const wasIdle = this.#timers.has("idle");
    this.#clear("idle");
    this.#isBlocked = true;
    await work;
    this.#isBlocked = false;
    if (wasIdle || (this.#hasMessage && this.#mayBeIdle())) this.#progress();
  }

  /** Whether no tool is at work. */
  #mayBeIdle(): boolean {
    return this.#open.size === 0 && !this.#state.hidesOpenCalls;
  }

  /** Calls a callback. What it throws, at once or later, ends the run. */
  #call(callback: () => unknown): Promise<void> | undefined {
    const fail = (error: unknown) => {
      this.#thrown ??= { error };
      this.#leave();
      this.#notify();
    };
    try {
      const returned = callback();
      if (isPromise(returned)) return Promise.resolve(returned).then(() => {}, fail);
    } catch (error) {
      fail(error);
    }
    return undefined;
  }

  /** Ends what is left of the group, and nothing of the command keeps this process alive. */
  #leave(): void {
    this.#signal("SIGKILL");
    this.#isGone = true;
    release(this.#kill);
    [...this.#timers.keys()].forEach((name) => this.#clear(name));
    const { stdin, stdout, stderr } = this.#child;
    stdin?.destroy();
    stdout.destroy();
    stderr.destroy();
  }

  /** The command has ended: what is left of its group may hold the stream open for a while. */
  #drain(leftMs: number): void {
    // Only this call knows when the group ends: then its number is not used any more.
    this.#signal(0);
    if (leftMs <= 0) {
      this.#isHeldOpen = true;
      this.#signal("SIGKILL");
      this.#child.stdout.destroy();
      return;
    }
    const next = this.#isBlocked ? leftMs : leftMs - DRAIN_TICK_MS;
    const timer = this.#timer("drain", DRAIN_TICK_MS, () => this.#drain(next));
    // Events that nobody reads do not keep this process alive.
    if (this.#isBlocked && typeof timer === "object") timer.unref();
  }

  async #readStderr(): Promise<void> {
    const late = new Promise<void>((resolve) => this.#timer("stderr", STDERR_MS, resolve));
    await Promise.race([this.#stderrClosed, late]);
  }

  #take(events: AgentEvent[]): void {
    const now = Date.now();
    for (const event of events) {
      if (event.type === "call_started") this.#open.set(event.call, [event.line ?? 0, now]);
      if (event.type === "call_completed" || event.type === "call_unfinished") this.#open.delete(event.call);
    }
    const turnEnds = this.#reader.turnEnds();
    this.#turnEnds.push(...turnEnds);
    this.#push(events);
    const state = this.#reader.takeState();
    this.#state = state;
    if (!state.isComplete || state.hasReply || turnEnds.length > 0) this.#hasMessage = false;
    if (!state.isComplete && state.exceedsLimit) this.#stopFor({ why: "limit-exceeded" });
    else if (!state.isComplete && state.startsWrong) this.#stopFor({ why: "wrong-start" });
    if (!this.#mayBeIdle()) this.#clear("idle");
    else if (state.hasProgress) this.#progress();
    if (!state.isComplete) this.#clear("grace");
    else if (!this.#hasMessage) this.#turnIsComplete(state.waitsForWork);
  }

  /** Whether the terminal event came, and no message after it. */
  #isComplete(): boolean {
    return this.#state.isComplete && !this.#hasMessage;
  }

  /** The turn is complete: the agent waits for a message or for its background work, or else has only to exit. */
  #turnIsComplete(waitsForWork: boolean): void {
    if (this.#hasExited) return;
    if (waitsForWork && this.#stdin === undefined) {
      this.#clear("grace");
      if (!this.#timers.has("idle") && this.#mayBeIdle()) this.#progress();
      return;
    }
    if (this.#timers.has("grace")) return;
    this.#clear("idle");
    if (this.#stdin !== undefined) return;
    const grace = this.#options.exitGrace ?? EXIT_GRACE_MS;
    this.#timer("grace", grace, () => this.#stopFor({ why: "lingered" }));
  }

  #push(events: AgentEvent[]): void {
    for (const event of events) {
      this.#waiting.push(event);
      if (event.type === "defect" && this.#defects.length < DEFECTS_MAX) this.#defects.push(event);
    }
    this.#notify();
  }

  /** The time without an event begins again. */
  #progress(): void {
    const limitMs = this.#idleTimeout;
    if (limitMs === undefined || this.#hasExited) return;
    this.#isLate = false;
    // A run that is complete only lingers.
    const stop = () => this.#stopFor(this.#isComplete() ? { why: "lingered" } : { why: "idle-timeout", limitMs });
    // If this program was busy, events wait in the pipe, and are read before the second timer ends.
    this.#timer("idle", limitMs, () => {
      this.#isLate = true;
      this.#timer("idle", 1, stop);
    });
  }

  #timedOut(limitMs: number): void {
    const now = Date.now();
    const openCalls = [...this.#open.values()].map(([line, start]) => [line, now - start] as const);
    this.#stopFor(this.#isComplete() ? { why: "lingered" } : { why: "timeout", limitMs, openCalls });
  }

  /** Ends a command that has not ended by itself. The first reason counts. */
  #stopFor(reason: NonNullable<RunExit["stop"]>): void {
    if (this.#hasExited || this.#stop !== undefined) return;
    this.#stop = reason;
    this.#terminate();
  }

  #terminate(): void {
    if (this.#isGone) return;
    this.#signal("SIGTERM");
    // A stopped process must continue to receive it.
    this.#signal("SIGCONT");
    if (!this.#timers.has("kill")) this.#timer("kill", KILL_MS, () => this.#signal("SIGKILL"));
  }

  /** Signals the group; 0 only asks whether there is one. */
  #signal(signal: "SIGTERM" | "SIGCONT" | "SIGKILL" | 0): void {
    const { pid } = this.#child;
    if (pid === undefined || this.#isGone) return;
    try {
      if (this.#system.process.platform !== "win32") this.#system.process.kill(-pid, signal);
      else if (signal === "SIGTERM" || signal === "SIGKILL") this.#child.kill(signal);
    } catch {
      this.#isGone ||= this.#hasExited;
    }
  }

  #timer(name: string, limit: number, work: () => void): ReturnType<typeof setTimeout> {
    this.#clear(name);
    const timer = setTimeout(work, Math.min(limit, TIMER_MAX));
    this.#timers.set(name, timer);
    return timer;
  }

  #clear(name: string): void {
    clearTimeout(this.#timers.get(name));
    this.#timers.delete(name);
  }

  #changed(): Promise<void> {
    return new Promise((resolve) => this.#wake.push(resolve));
  }

  #notify(): void {
    const wake = this.#wake;
    this.#wake = [];
    wake.forEach((each) => each());
  }
}

/** Runs an agent in its own process group. The agent starts at once. */
export function run(command: string, args: readonly string[] = [], options: RunOptions = {}): AgentRun {
  return new AgentRun(command, args, options);
}
