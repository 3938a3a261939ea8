// The WebAssembly core: loads it, and calls its functions.

interface Exports {
  readonly memory: WebAssembly.Memory;
  ndjson_check_input(length: number): number;
  ndjson_check_output(): number;
  ndjson_check_output_length(): number;
  ndjson_check_open(length: number): number;
  ndjson_check_feed(reader: number, length: number): number;
  ndjson_check_finish(reader: number, length: number): number;
  ndjson_check_state(reader: number): number;
  ndjson_check_turn_end(reader: number): number;
  ndjson_check_close(reader: number): void;
}

/** Something cannot be checked: no known agent wrote the stream, or a profile cannot be used. */
export class NdjsonCheckError extends Error {
  override readonly name: string = "NdjsonCheckError";
}

/** The stream itself cannot be checked: no known agent wrote it, or one of several. */
export class StreamError extends NdjsonCheckError {
  override readonly name = "StreamError";
  /** After a run: the exit status of the command, if it ended by itself. */
  readonly exitStatus?: number;
  /** After a run: the number of the signal that ended the command, unless the error itself did. */
  readonly signal?: number;
  /** After a run: the last lines of standard error; a command that is killed may have had more to say. */
  readonly stderrTail?: readonly string[];
}

/** What the last bytes showed. */
export interface StreamState {
  /** The terminal event came. */
  readonly isComplete: boolean;
  /** The agent does not show calls while they run. */
  readonly hidesOpenCalls: boolean;
  /** An event came that is not a retry. */
  readonly hasProgress: boolean;
  readonly exceedsLimit: boolean;
  /** The run does not start as `config` expects. */
  readonly startsWrong: boolean;
  /** The agent waits for background work before it exits. */
  readonly waitsForWork: boolean;
  /** The agent answered a message that begins no turn. */
  readonly hasReply: boolean;
}

/** Bytes of one call: the memory of the core stays small, whatever the size of a chunk. */
const BYTES_MAX = 256 * 1024;

/** With TextEncoder and TextDecoder: Jest's environment of jsdom has none. */
export const util = builtin<typeof globalThis>("node:util") ?? globalThis;
const encoder = new util.TextEncoder();
// A byte order mark that begins a part may be a character of a text.
const decoder = new util.TextDecoder("utf-8", { ignoreBOM: true });

let compiled: WebAssembly.Module | undefined;
let current: Core | undefined;

/** One instance of the core. */
export class Core {
  private constructor(private readonly exports: Exports) {}

  /** The instance that new readers use. */
  static get(): Core {
    if (current === undefined) {
      compiled ??= compileHere();
      current = new Core(new WebAssembly.Instance(compiled, {}).exports as unknown as Exports);
    }
    return current;
  }

  open(options: object): number {
    const length = this.write(encoder.encode(JSON.stringify(options)));
    const reader = this.call(() => this.exports.ndjson_check_open(length));
    if (reader === 0) throw new NdjsonCheckError(decode(this.output()));
    return reader >>> 0;
  }

  /** Gives bytes to a reader. Each part of its answer goes to `take`. */
  feed(reader: number, bytes: Uint8Array, take: (answer: Uint8Array) => void): void {
    for (let at = 0; at < bytes.length; at += BYTES_MAX) {
      const length = this.write(bytes.subarray(at, at + BYTES_MAX));
      if (this.call(() => this.exports.ndjson_check_feed(reader, length)) === 0) throw this.streamError();
      take(this.output());
    }
  }

  finish(reader: number, exit: object): Uint8Array {
    const length = this.write(encoder.encode(JSON.stringify(exit)));
    if (this.call(() => this.exports.ndjson_check_finish(reader, length)) === 0) throw this.streamError();
    return this.output();
  }

  /** Takes what is new: a second call in a row has neither progress nor a reply. */
  takeState(reader: number): StreamState {
    const bits = this.exports.ndjson_check_state(reader);
    // In the order of src/events.rs.
    const bit = (at: number) => ((bits >> at) & 1) === 1;
    return {
      isComplete: bit(0),
      hidesOpenCalls: bit(1),
      hasProgress: bit(2),
      exceedsLimit: bit(3),
      startsWrong: bit(4),
      waitsForWork: bit(5),
      hasReply: bit(6),
    };
  }

  /** After how many events the next turn has ended; 0 if none has since the last call. */
  turnEnd(reader: number): number {
    return this.exports.ndjson_check_turn_end(reader) >>> 0;
  }

  close(reader: number): void {
    this.exports.ndjson_check_close(reader);
  }

  private write(bytes: Uint8Array): number {
    const at = this.call(() => this.exports.ndjson_check_input(bytes.length)) >>> 0;
    new Uint8Array(this.exports.memory.buffer, at, bytes.length).set(bytes);
    return bytes.length;
  }

  /** Valid until the next call. */
  private output(): Uint8Array {
    const length = this.exports.ndjson_check_output_length() >>> 0;
    const at = this.exports.ndjson_check_output() >>> 0;
    return new Uint8Array(this.exports.memory.buffer, at, length);
  }

  private streamError(): StreamError {
    return new StreamError(decode(this.output()));
  }

  private call(work: () => number): number {
    try {
      return work();
    } catch (cause) {
      // A defect of the core: its memory is not used again.
      if (current === this) current = undefined;
      throw new NdjsonCheckError(`the core has failed: ${String(cause)}`, { cause });
    }
  }
}

/** A part of a stream. */
export type Chunk = string | ArrayBufferView | ArrayBuffer | SharedArrayBuffer;

/** The name of a class of JavaScript, also where the object comes from another realm, as in a frame. */
function className(it: unknown): string {
  return Object.prototype.toString.call(it).slice("[object ".length, -1);
}

/** Whether these are bytes: a buffer, or a view of one. */
export function isBytes(it: unknown): it is Exclude<Chunk, string> {
  return ArrayBuffer.isView(it) || /^(Shared)?ArrayBuffer$/.test(className(it));
}

export function isError(it: unknown): it is Error {
  return className(it) === "Error";
}

export function isUrl(it: unknown): it is { readonly href: string } {
  return className(it) === "URL";
}

export function toBytes(chunk: unknown): Uint8Array {
  if (!isBytes(chunk)) {
    throw new TypeError(`a part of a stream must be bytes or a string; this is of type ${className(chunk)}`);
  }
  return ArrayBuffer.isView(chunk)
    ? new Uint8Array(chunk.buffer, chunk.byteOffset, chunk.byteLength)
    : new Uint8Array(chunk);
}

/** Makes bytes of the parts of one stream, also where two strings share a character. */
export class ChunkEncoder {
  /** The first half of this character. */
  #half = "";

  encode(chunk: Chunk): Uint8Array {
    if (typeof chunk !== "string") return toBytes(chunk);
    const all = this.#half + chunk;
    const last = all.charCodeAt(all.length - 1);
    const whole = last >= 0xd800 && last <= 0xdbff ? all.length - 1 : all.length;
    this.#half = all.slice(whole);
    return encoder.encode(all.slice(0, whole));
  }

  /** What is left: a half that stayed alone. */
  end(): Uint8Array {
    const half = this.#half;
    this.#half = "";
    return encoder.encode(half);
  }
}

export function decode(answer: Uint8Array): string {
  return decoder.decode(answer);
}

interface Modules {
  getBuiltinModule?(name: string): unknown;
}

/** A module of Node, or undefined where there is none, as in a browser. */
export function builtin<T>(name: string): T | undefined {
  const its = (globalThis as { process?: Modules }).process;
  return its?.getBuiltinModule?.(name) as T | undefined;
}

/** Node, Deno and Bun read the file at once. */
function compileHere(): WebAssembly.Module {
  const fs = builtin<{ readFileSync(file: string): Uint8Array<ArrayBuffer> }>("node:fs");
  const url = builtin<{ fileURLToPath(url: string): string }>("node:url");
  if (fs === undefined || url === undefined) throw new NdjsonCheckError("call `await init()` first");
  let bytes: Uint8Array<ArrayBuffer>;
  try {
    // As a text: in a test environment such as jsdom, URL is not that of Node. In one expression with the name of
    // the file, Vitest would replace the address.
    const here = import.meta.url;
    bytes = fs.readFileSync(url.fileURLToPath(new URL("./ndjson_check.wasm", here).href));
  } catch (cause) {
    // Most likely a bundler has moved this module, and not the file; a bundle of CommonJS has no
    // address of its module either.
    const advice = "copy it there, or call `await init(bytes)` with its bytes; it is the file ndjson-check/ndjson_check.wasm";
    throw new NdjsonCheckError(`ndjson_check.wasm is not next to the module of ndjson-check: ${advice}`, { cause });
  }
  return new WebAssembly.Module(bytes);
}

/** Written so that bundlers see which file it is. */
function nextToModule(): URL {
  try {
    return new URL("./ndjson_check.wasm", import.meta.url);
  } catch (cause) {
    // Such as a worker of Cloudflare, which may compile no bytes either.
    const advice = 'call `await init(core)` after `import core from "ndjson-check/ndjson_check.wasm"`';
    throw new NdjsonCheckError(`this runtime cannot load ndjson_check.wasm by its address: ${advice}`, { cause });
  }
}

/**
 * Loads the core. `events`, `convert` and `report` call it; before `new Reader` a browser has to.
 * `source` is a URL, or the core itself, for pages that may not fetch anything: its bytes, or a
 * WebAssembly.Module. Its type names no class, so that it needs no types of a browser.
 */
export async function init(source?: object | string): Promise<void> {
  if (source === undefined && compiled !== undefined) return;
  if (source === undefined && builtin("node:fs") !== undefined) {
    compiled = compileHere();
  } else if (source instanceof WebAssembly.Module) {
    compiled = source;
  } else if (source === undefined || isUrl(source) || typeof source === "string") {
    const given = source as URL | string | undefined;
    const response = await fetch(given ?? nextToModule());
    if (!response.ok) throw new NdjsonCheckError(`${response.url}: ${response.status}`);
    compiled = await WebAssembly.compile(await response.arrayBuffer());
  } else {
    compiled = await WebAssembly.compile(source as BufferSource);
  }
}
