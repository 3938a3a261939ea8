// Ends the groups of running commands when this process ends before them. Each command has its own
// group, so that Ctrl-C in a terminal reaches only this process.

interface Process {
  readonly platform: string;
  readonly pid: number;
  kill(pid: number, signal: string): void;
  on(event: string, listener: (name: string, other: unknown) => void): void;
  off(event: string, listener: (name: string, other: unknown) => void): void;
  listenerCount(event: string): number;
}

const its = (globalThis as { process?: Process }).process;

/** What ends each group at once. */
const groups = new Set<() => void>();
const NAMES = ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT"];
const SIGNALS = new Map(NAMES.map((name) => [name, () => signalled(name)]));

function endAll(): void {
  groups.forEach((end) => end());
}

/** The signal ends this process, as it does without us; but if others listen, they decide what it means. */
function signalled(name: string): void {
  const own = SIGNALS.get(name);
  if (its === undefined || own === undefined) return;
  if (its.listenerCount(name) > 1) {
    // Some, such as `signal-exit`, end the process only if nobody else listens. We were first in the list.
    its.off(name, own);
    return;
  }
  endAll();
  leave();
  its.kill(its.pid, name);
}

/** Listens when nobody does; also when the last of the others has left, as after a `once`. */
function listen(name: string, left?: unknown): void {
  const own = SIGNALS.get(name);
  if (own !== undefined && own !== left && its?.listenerCount(name) === 0) its.on(name, own);
}

/** Remembers a group until `release`. */
export function guard(end: () => void): void {
  groups.add(end);
  if (its === undefined || groups.size > 1) return;
  its.on("exit", endAll);
  // On Windows, Ctrl-C reaches the commands, too.
  if (its.platform === "win32") return;
  its.on("removeListener", listen);
  for (const name of SIGNALS.keys()) listen(name);
}

export function release(end: () => void): void {
  if (groups.delete(end) && groups.size === 0) leave();
}

function leave(): void {
  its?.off("exit", endAll);
  its?.off("removeListener", listen);
  for (const [name, own] of SIGNALS) its?.off(name, own);
}
