// What a caller says, before the core sees it: names and kinds of options, and exit statuses.

import { builtin, isBytes, isUrl } from "./core.js";
import type { CheckOptions, ExitStatus, LaterProcessEnd, ProcessEnd, RunExit } from "./reader.js";

/** What an option may be. */
export interface Kind {
  readonly says: string;
  accepts(value: unknown): boolean;
}

const LEVELS: readonly unknown[] = ["error", "warning", "off", undefined];
const isNumber = (it: unknown): it is number => typeof it === "number";
const isObject = (it: unknown): it is object => typeof it === "object" && it !== null;
const isWhole = (it: unknown): it is number => Number.isSafeInteger(it);
const isVariable = ([name, value]: [string, unknown]) =>
  name !== "" && !name.includes("=") && (value === undefined || typeof value === "string");

export const TEXT: Kind = { says: "a string", accepts: (it) => typeof it === "string" };
export const INPUT: Kind = { says: "a string or bytes", accepts: (it) => typeof it === "string" || isBytes(it) };
export const FLAG: Kind = { says: "true or false", accepts: (it) => typeof it === "boolean" };
export const WHOLE: Kind = { says: "a whole number of 0 or more", accepts: (it) => isWhole(it) && it >= 0 };
const COUNT: Kind = { says: "a whole number of 1 or more", accepts: (it) => isWhole(it) && it >= 1 };
export const CALLBACK: Kind = { says: "a function", accepts: (it) => typeof it === "function" };
export const FOLDER: Kind = { says: "a string or a URL", accepts: (it) => typeof it === "string" || isUrl(it) };
export const COMMAND: Kind = {
  says: "the name or the path of a program",
  accepts: (it) => typeof it === "string" && it !== "",
};
export const WORDS: Kind = {
  says: "an array of strings",
  accepts: (it) => Array.isArray(it) && it.every((word) => typeof word === "string"),
};
export const VARIABLES: Kind = {
  says: "an object with a name and a string, or undefined, for each variable",
  accepts: (it) => isObject(it) && !Array.isArray(it) && Object.entries(it).every(isVariable),
};
/** Of a text in the format TOML; a user may give the path of one. */
const CONFIG: Kind = {
  says: "the text of an ndjson-check.toml, not its path",
  accepts: (it) => typeof it === "string" && !/^[^\n=]*\.toml$/.test(it),
};
/** Infinity is no limit. */
export const LIMIT: Kind = { says: "a number of milliseconds above 0", accepts: (it) => isNumber(it) && it > 0 };
export const GRACE: Kind = { says: "a number of milliseconds of 0 or more", accepts: (it) => isNumber(it) && it >= 0 };
export const ABORT: Kind = {
  says: "an AbortSignal",
  accepts: (it) => isObject(it) && "addEventListener" in it && typeof it.addEventListener === "function",
};
const RULES: Kind = {
  says: "an object with `error`, `warning` or `off` for each rule",
  accepts: (it) => isObject(it) && !Array.isArray(it) && Object.values(it).every((level) => LEVELS.includes(level)),
};
const STATUS: Kind = { says: "a whole number", accepts: (it) => it === null || isWhole(it) };
const SIGNAL: Kind = {
  says: "the number or the name of a signal",
  accepts: (it) => it === null || signalOf(it) !== undefined,
};

const STDERR: Kind = { says: "a string", accepts: (it) => it === null || typeof it === "string" };

/** How a process ended. */
export const END: Readonly<Record<keyof ProcessEnd, Kind>> = {
  exitStatus: STATUS,
  signal: SIGNAL,
  stderr: STDERR,
};

const later = ({ says, accepts }: Kind): Kind => ({ says, accepts: (it) => isLater(it) || accepts(it) });

/** The same, where it may become known after the last bytes. */
export const LATER_END: typeof END = { exitStatus: later(STATUS), signal: later(SIGNAL), stderr: later(STDERR) };

/** The options of a check. */
export const CHECK: Readonly<Record<keyof CheckOptions, Kind>> = {
  name: TEXT,
  profile: TEXT,
  strict: FLAG,
  rules: RULES,
  config: CONFIG,
  maxLineBytes: COUNT,
};

/** Every option is known, and is what it must be. */
export function verify(options: unknown, known: Readonly<Record<string, Kind>>): void {
  if (!isObject(options)) throw new TypeError("the options must be an object");
  for (const [name, value] of Object.entries(options)) {
    const kind = Object.hasOwn(known, name) ? known[name] : undefined;
    if (kind === undefined) throw new TypeError(`unknown option: ${name}`);
    if (value !== undefined && !kind.accepts(value)) throw new TypeError(`the option ${name} must be ${kind.says}`);
  }
}

/** A word that is one of these. */
export function choose<T extends string>(name: string, word: T, words: readonly T[]): T {
  if (!words.includes(word)) throw new TypeError(`the ${name} must be one of ${words.join(", ")}`);
  return word;
}

/** How Windows says that a program has crashed, or that Ctrl-C ended it: the numbers of signals. */
const WINDOWS: ReadonlyMap<number, number> = new Map([
  [0xc000013a, 2],
  [0xc000001d, 4],
  [0xc0000374, 6],
  [0xc0000409, 6],
  [0xc0000094, 8],
  [0xc0000005, 11],
  [0xc00000fd, 11],
]);

/** The signals whose numbers all systems share: a browser has no list of them. */
const SIGNALS: ReadonlyMap<unknown, number> = new Map([
  ["SIGHUP", 1],
  ["SIGINT", 2],
  ["SIGQUIT", 3],
  ["SIGILL", 4],
  ["SIGTRAP", 5],
  ["SIGABRT", 6],
  ["SIGFPE", 8],
  ["SIGKILL", 9],
  ["SIGSEGV", 11],
  ["SIGPIPE", 13],
  ["SIGALRM", 14],
  ["SIGTERM", 15],
]);

interface Os {
  readonly constants: { readonly signals: Readonly<Record<string, number>> };
}

/** The number of a signal, or undefined if there is none. */
function signalOf(it: unknown): number | undefined {
  if (typeof it === "string") return SIGNALS.get(it) ?? builtin<Os>("node:os")?.constants.signals[it];
  return isWhole(it) && it >= 0 && it <= 255 ? it : undefined;
}

export function isPromise(it: unknown): it is PromiseLike<unknown> {
  return typeof (it as PromiseLike<unknown> | null | undefined)?.then === "function";
}

function isLater(it: unknown): it is PromiseLike<unknown> | (() => unknown) {
  return typeof it === "function" || isPromise(it);
}

/** A promise that is rejected before the last bytes must not end the program. */
export function holdRejections({ exitStatus, signal, stderr }: LaterProcessEnd): void {
  for (const it of [exitStatus, signal, stderr]) if (isPromise(it)) it.then(undefined, () => {});
}

/** How a process ended, after the last bytes. */
export async function laterExitOf({ exitStatus, signal, stderr }: LaterProcessEnd): Promise<RunExit> {
  const [status, name, text] = await Promise.all([
    typeof exitStatus === "function" ? exitStatus() : exitStatus,
    typeof signal === "function" ? signal() : signal,
    typeof stderr === "function" ? stderr() : stderr,
  ]);
  const end: ProcessEnd = { exitStatus: status, signal: name, stderr: text };
  verify(end, END);
  if ((isLater(exitStatus) || isLater(signal)) && (status ?? name ?? null) === null) {
    // It must not become a success.
    const why = "the process has not ended, or a signal has ended it; the option signal says that";
    throw new TypeError(`the option exitStatus has given no number: ${why}`);
  }
  return exitOf(end);
}

/** The lines, as a terminal leaves them: a carriage return begins a line anew. */
export function linesOf(text: string): string[] {
  const lines = text.split("\n").map((line) => line.replace(/\r+$/, "").split("\r").at(-1) ?? "");
  return lines.filter((line) => line.trim() !== "");
}

/** The end of a process, as the core takes it. */
export function exitOf(end: ProcessEnd): RunExit {
  const lines = linesOf(end.stderr ?? "");
  return { ...statusOf(end), ...(typeof end.stderr === "string" ? { stderr: lines, stderrLines: lines } : {}) };
}

/** How a process ended, as the core takes it. Node says null for what is not known. */
export function statusOf({ exitStatus, signal }: ProcessEnd): ExitStatus {
  exitStatus ??= null;
  const number = signalOf(signal);
  // Deno also gives the exit status that a shell would.
  if (number !== undefined) return { signal: number };
  if (exitStatus === null) return {};
  const crash = WINDOWS.get(exitStatus >>> 0);
  if (crash !== undefined) return { signal: crash };
  // A larger status must not become a success.
  return { exitStatus: exitStatus >= 0 && exitStatus <= 255 ? exitStatus : 255 };
}
