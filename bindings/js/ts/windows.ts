// Which file a command of Windows starts. The system itself adds only `.exe` to a name, and npm
// installs `claude.cmd`, which Node does not start.

import { NdjsonCheckError } from "./core.js";

/** Extensions of programs, where the environment names none. */
const EXTENSIONS = ".COM;.EXE;.BAT;.CMD";

/** The file system, and Node's paths of Windows. */
export interface Files {
  isFile(path: string): boolean;
  read(path: string): string;
  resolve(...parts: string[]): string;
}

export interface Start {
  readonly file: string;
  readonly args: readonly string[];
  /** Whether the arguments are quoted already. */
  readonly verbatim: boolean;
}

/** How a command is started. What is not found stays as it is: the system says so. */
export function startOf(
  command: string,
  args: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
  folder: string,
  files: Files,
): Start {
  const variable = (name: string) => Object.entries(env).find(([key]) => key.toUpperCase() === name)?.[1];
  const extensions = (variable("PATHEXT") || EXTENSIONS).split(";").filter(Boolean);
  const folders = (variable("PATH") ?? "").split(";").map((it) => it.replace(/^"|"$/g, "")).filter(Boolean);

  const find = (name: string): string | undefined => {
    const isWhole = extensions.some((it) => name.toUpperCase().endsWith(it.toUpperCase()));
    const names = isWhole ? [name] : extensions.map((it) => name + it.toLowerCase());
    const places = /[\\/:]/.test(name) ? [folder] : folders;
    return places.flatMap((place) => names.map((it) => files.resolve(place, it))).find(files.isFile);
  };

  const file = find(command);
  if (file === undefined || !/\.(cmd|bat)$/i.test(file)) return { file: file ?? command, args, verbatim: false };
  return ofShim(file, args, find, files) ?? ofScript(file, args, variable("COMSPEC"));
}

/** What a script of npm or pnpm calls: no command prompt reads the arguments then. */
function ofShim(
  script: string,
  args: readonly string[],
  find: (name: string) => string | undefined,
  files: Files,
): Start | undefined {
  const text = files.read(script).replace(/^\s*@?rem\b.*$/gim, "");
  const here = (path: string) => files.resolve(script, "..", path);
  const own = /^@?"%(?:~dp0|dp0%)\\?([^"%]+\.exe)"\s+%\*/m.exec(text)?.[1];
  if (own !== undefined) return { file: here(own), args, verbatim: false };
  const called = /(?:"%_prog%"|\bnode(?:\.exe)?"?)((?:\s+-[\w=.-]+)*)\s+"%(?:~dp0|dp0%)\\?([^"%]+\.[cm]?js)"\s+%\*/.exec(text);
  const [, options = "", module] = called ?? [];
  if (module === undefined || (text.includes("_prog=") && !/_prog=node\b/.test(text))) return undefined;
  const beside = here("node.exe");
  const node = files.isFile(beside) ? beside : find("node.exe");
  if (node === undefined) return undefined;
  return { file: node, args: [...options.split(/\s+/).filter(Boolean), here(module), ...args], verbatim: false };
}

/**
 * Another script, by the command prompt: each argument is quoted, so that it is no command. As the
 * standard library of Rust does it.
 */
function ofScript(script: string, args: readonly string[], prompt = "cmd.exe"): Start {
  const words = [script, ...args];
  // The prompt would end its command there.
  const bad = words.find((it) => /[\r\n\0]/.test(it));
  if (bad !== undefined) {
    throw new NdjsonCheckError(`${script} is a batch file, which gets no argument of several lines; use \`stdin\`, or name its program`);
  }
  const line = words.map(quoted).join(" ");
  return { file: prompt, args: ["/e:ON", "/v:OFF", "/d", "/c", `"${line}"`], verbatim: true };
}

/** Between quotes: a `"` is doubled, also for the prompt, and a `%` begins no variable. */
function quoted(word: string): string {
  const inside = word.replace(/(\\*)"/g, '$1$1""').replace(/(\\+)$/, "$1$1").replace(/%/g, "%%cd:~,%");
  return `"${inside}"`;
}
