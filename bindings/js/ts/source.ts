// Where bytes come from.

import type { CheckOptions, LaterProcessEnd } from "./reader.js";
import { Reader } from "./reader.js";
import { ChunkEncoder, Core, decode, init, isBytes, NdjsonCheckError, type Chunk } from "./core.js";
import { CALLBACK, CHECK, FLAG, LATER_END, WHOLE, choose, holdRejections, laterExitOf, verify } from "./options.js";
import type { AgentEvent, Summary } from "./types.js";

/** A ReadableStream of the Web, whatever library declares it. */
export interface WebStream {
  getReader(): {
    read(): Promise<{ done: boolean; value?: unknown }>;
    cancel(reason?: unknown): Promise<unknown>;
    releaseLock(): void;
  };
}

/** What can be read: a stream of Node or of the Web, a response, a file, any iterable, or bytes. */
export type Source =
  | Chunk
  | AsyncIterable<Chunk>
  | Iterable<Chunk>
  | WebStream
  | { stream(): WebStream }
  | {
      readonly body: WebStream | null;
      readonly bodyUsed?: boolean;
      readonly ok?: boolean;
      readonly status?: number;
    };

const NO_SOURCE = "the source is no stream, iterable, response, file, bytes or string";

/** Ends a source at once, although a part of it is awaited. */
class Leave {
  #end: (() => unknown) | undefined;
  #ended: Promise<void> | undefined;
  /** Nobody wants the rest. */
  isLeft = false;

  /** How to end the source, once it is open. One that was left ends as soon as it opens. */
  set end(end: () => unknown) {
    this.#end = end;
    if (this.isLeft) void this.endSource();
  }

  leave(): void {
    this.isLeft = true;
    void this.endSource();
  }

  /** Ends the source once, and waits for it. An error of its end does not matter any more. */
  endSource(): Promise<void> {
    if (this.#end !== undefined) this.#ended ??= this.#endWith(this.#end);
    return this.#ended ?? Promise.resolve();
  }

  async #endWith(end: () => unknown): Promise<void> {
    try {
      await end();
    } catch {}
  }
}

/** A generator that can be left while its source is silent, if that is a stream; otherwise, with its next part. */
function leavable<T>(leave: Leave, generator: AsyncGenerator<T, void, undefined>): AsyncGenerator<T, void, undefined> {
  const [end, fail] = [generator.return.bind(generator), generator.throw.bind(generator)];
  generator.return = (value) => (leave.leave(), end(value));
  generator.throw = (error) => (leave.leave(), fail(error));
  return generator;
}

/** The parts of a source until it is left. What a source says that was left does not matter. */
async function* untilLeft<T>(parts: AsyncIterable<T>, leave: Leave): AsyncGenerator<T, void, undefined> {
  try {
    for await (const part of parts) {
      if (leave.isLeft) return;
      yield part;
    }
  } catch (error) {
    if (!leave.isLeft) throw error;
  }
}

async function* webChunks(stream: WebStream, leave = new Leave()): AsyncGenerator<Chunk> {
  const reader = stream.getReader();
  leave.end = () => reader.cancel();
  let isRead = false;
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      yield value as Chunk;
    }
    isRead = true;
  } finally {
    if (!isRead || leave.isLeft) await leave.endSource();
    reader.releaseLock();
  }
}

/** A path, not an event. */
const PATH = /^[^{[\r\n]+\.(jsonl|ndjson|json)(\.gz)?$/i;

/** An interface of node:readline: it gives lines without their ends. */
function isLines(source: object): source is AsyncIterable<string> & { close(): void } {
  return Symbol.asyncIterator in source && "terminal" in source && "line" in source && "setPrompt" in source;
}

async function* chunks(source: Source, leave: Leave): AsyncGenerator<Chunk> {
  if (typeof source === "string" && PATH.test(source)) {
    throw new TypeError("a string is the text of a stream, not its path; pass `createReadStream(path)` of node:fs");
  }
  if (typeof source === "string" || isBytes(source)) yield source;
  else if (typeof source !== "object" || source === null) throw new TypeError(NO_SOURCE);
  else if ("getReader" in source) yield* webChunks(source, leave);
  else if (isLines(source)) {
    leave.end = source.close.bind(source);
    // A closed interface never says so.
    if (leave.isLeft) return;
    for await (const line of source) yield `${line}\n`;
  } else if (Symbol.asyncIterator in source) {
    // A stream of Node.
    if ("destroy" in source && typeof source.destroy === "function") leave.end = source.destroy.bind(source);
    yield* source;
  } else if (Symbol.iterator in source) yield* source;
  else if ("body" in source) {
    // What is there is the page of an error.
    if (source.ok === false) throw new NdjsonCheckError(`the response is an error: status ${source.status}`);
    if (source.bodyUsed === true) throw new TypeError("the body of the response was already read");
    if (source.body !== null) yield* webChunks(source.body, leave);
  } else if ("stream" in source && typeof source.stream === "function") {
    // A Blob, such as the File of an input field.
    yield* webChunks(source.stream(), leave);
  } else throw new TypeError(NO_SOURCE);
}

async function* encoded(source: Source, leave: Leave): AsyncGenerator<Uint8Array> {
  const encoder = new ChunkEncoder();
  for await (const chunk of chunks(source, leave)) yield encoder.encode(chunk);
  yield encoder.end();
}

const GZIP = [0x1f, 0x8b] as const;

/** The bytes of a source, unpacked if they begin as a gzip archive does. No event begins so. */
async function* bytesOf(source: Source, leave: Leave): AsyncGenerator<Uint8Array> {
  const parts = encoded(source, leave);
  let begin: Uint8Array | undefined = new Uint8Array();
  for await (const bytes of parts) {
    if (begin === undefined) {
      yield bytes;
      continue;
    }
    begin = joined(begin, bytes);
    const [first = GZIP[0], second] = begin;
    if (first === GZIP[0] && second === undefined) continue;
    if (first === GZIP[0] && second === GZIP[1]) {
      yield* unpacked(begin, parts, leave);
      return;
    }
    yield begin;
    begin = undefined;
  }
  if (begin !== undefined) yield begin;
}

function joined(first: Uint8Array, second: Uint8Array): Uint8Array {
  if (first.length === 0) return second;
  const both = new Uint8Array(first.length + second.length);
  both.set(first);
  both.set(second, first.length);
  return both;
}

async function* unpacked(
  begin: Uint8Array,
  rest: AsyncGenerator<Uint8Array>,
  leave: Leave,
): AsyncGenerator<Uint8Array> {
  if (typeof DecompressionStream === "undefined") {
    throw new NdjsonCheckError("the input is gzip-compressed: unpack it first");
  }
  let failure = undefined as { readonly error: unknown } | undefined;
  let isRead = false;
  const packed = new ReadableStream<Uint8Array<ArrayBuffer>>({
    // Copies: a part may be of shared memory.
    start: (its) => its.enqueue(new Uint8Array(begin)),
    async pull(its) {
      try {
        const { done, value } = await rest.next();
        if (done) its.close();
        else its.enqueue(new Uint8Array(value));
      } catch (error) {
        failure = { error };
        throw error;
      }
    },
  });
  try {
    const stream = packed.pipeThrough(new DecompressionStream("gzip"));
    yield* webChunks(stream) as AsyncGenerator<Uint8Array>;
    isRead = true;
  } catch (cause) {
    isRead = true;
    if (failure !== undefined) throw failure.error;
    throw new NdjsonCheckError("the gzip archive is damaged, not complete, or has several parts", { cause });
  } finally {
    // The next part is awaited while this one is unpacked.
    if (!isRead) await leave.endSource();
  }
}

/** The options of `events`. */
export interface EventsOptions extends CheckOptions, LaterProcessEnd {
  /** Gets the result, after the last event. */
  readonly onSummary?: ((summary: Summary) => unknown) | undefined;
}

/** The options of a reader: without those that are not for the core. */
function ofCheck({ exitStatus, signal, stderr, onSummary, ...check }: EventsOptions): CheckOptions {
  return check;
}

/** The events of a stream, each as soon as it is known. The last one is `end` or `cut`. */
export function events(source: Source, options: EventsOptions = {}): AsyncGenerator<AgentEvent, void, undefined> {
  const leave = new Leave();
  return leavable(leave, eventsOf(source, options, leave));
}

async function* eventsOf(
  source: Source,
  options: EventsOptions,
  leave: Leave,
): AsyncGenerator<AgentEvent, void, undefined> {
  verify(options, { ...CHECK, ...LATER_END, onSummary: CALLBACK });
  holdRejections(options);
  await init();
  const reader = new Reader(ofCheck(options));
  try {
    for await (const bytes of untilLeft(bytesOf(source, leave), leave)) {
      // In an async generator `yield*` waits once more for each event.
      for (const event of reader.feed(bytes)) yield event;
    }
    if (leave.isLeft) return;
    yield* reader.finishRun(await laterExitOf(options));
    await options.onSummary?.(reader.summary);
  } finally {
    reader.close();
  }
}

const FORMS = [
  "text",
  "transcript",
  "answer",
  "json",
  "stream-json",
  "events",
  "chrome-trace",
  "otlp-json",
  "atif",
] as const;
const REPORTS = ["human", "json", "markdown", "html"] as const;

/** A form of `--to`. `stream-json` has only the valid events, as with `--only-valid`. */
export type Form = (typeof FORMS)[number];

/** A report; `html` is the page of the run. */
export type ReportKind = (typeof REPORTS)[number];

export interface ConvertOptions extends CheckOptions, LaterProcessEnd {
  /** Leaves control characters and the like as they are. */
  readonly raw?: boolean | undefined;
  /** Shows at most this many lines of each call's result, in `text` and `transcript`. */
  readonly results?: number | undefined;
  /** Shows reasoning and notices, in `text` and `transcript`. */
  readonly thinking?: boolean | undefined;
}

async function* written(
  source: Source,
  output: () => string,
  options: ConvertOptions,
  leave = new Leave(),
): AsyncGenerator<string, void, undefined> {
  verify(options, { ...CHECK, ...LATER_END, raw: FLAG, results: WHOLE, thinking: FLAG });
  const { exitStatus, signal, stderr, ...rest } = options;
  holdRejections(options);
  await init();
  const core = Core.get();
  const number = core.open({ ...rest, output: output() });
  // An answer may end inside a character only where the stream itself is no UTF-8.
  let parts: string[] = [];
  try {
    for await (const bytes of untilLeft(bytesOf(source, leave), leave)) {
      core.feed(number, bytes, (answer) => parts.push(decode(answer)));
      yield* parts;
      parts = [];
    }
    if (leave.isLeft) return;
    yield decode(core.finish(number, await laterExitOf(options)));
  } finally {
    core.close(number);
  }
}

async function whole(source: Source, output: () => string, options: ConvertOptions): Promise<string> {
  const parts: string[] = [];
  for await (const part of written(source, output, options)) parts.push(part);
  return parts.join("");
}

/** The stream in another form, in parts: each as soon as it is written. */
export function convertParts(
  source: Source,
  form: Form,
  options: ConvertOptions = {},
): AsyncGenerator<string, void, undefined> {
  const leave = new Leave();
  return leavable(leave, written(source, () => choose("form", form, FORMS), options, leave));
}

/** The stream in another form, as `--to` writes it. */
export async function convert(
  source: Source,
  form: Form,
  options: ConvertOptions = {},
): Promise<string> {
  return whole(source, () => choose("form", form, FORMS), options);
}

/** A log of the run: one line for each action. */
export function toText(source: Source, options: ConvertOptions = {}): Promise<string> {
  return whole(source, () => "text", options);
}

/** A report about the stream; the findings with their lines are in `json`. */
export async function report(
  source: Source,
  kind: ReportKind,
  options: CheckOptions & LaterProcessEnd = {},
): Promise<string> {
  return whole(source, () => `${choose("kind of report", kind, REPORTS)}-report`, options);
}
