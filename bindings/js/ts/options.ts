// What a caller says, before the core sees it: names and kinds of options, and exit statuses.

import { isUrl } from "./core.js";
import type { CheckOptions, ExitStatus, ProcessEnd } from "./reader.js";

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
export const FLAG: Kind = { says: "true or false", accepts: (it) => typeof it === "boolean" };
export const WHOLE: Kind = { says: "a whole number of 0 or more", accepts: (it) => isWhole(it) && it >= 0 };
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
  says: "the number of a signal",
  accepts: (it) => it === null || (isWhole(it) && it >= 0 && it <= 255),
};

/** How a process ended. */
export const END: Readonly<Record<keyof ProcessEnd, Kind>> = { exitStatus: STATUS, signal: SIGNAL };

/** The options of a check. */
export const CHECK: Readonly<Record<keyof CheckOptions, Kind>> = {
  name: TEXT,
  profile: TEXT,
  strict: FLAG,
  rules: RULES,
  config: CONFIG,
  maxLineBytes: WHOLE,
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

/** How a process ended, as the core takes it. Node says null for what is not known. */
export function statusOf({ exitStatus = null, signal = null }: ProcessEnd): ExitStatus {
  if (exitStatus === null) return signal === null ? {} : { signal };
  const crash = WINDOWS.get(exitStatus >>> 0);
  if (crash !== undefined) return { signal: crash };
  // A larger status must not become a success.
  return { exitStatus: exitStatus >= 0 && exitStatus <= 255 ? exitStatus : 255 };
}
