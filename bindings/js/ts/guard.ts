// Ends the groups of running commands when this process ends before them. Each command has its own
// group, so that Ctrl-C in a terminal reaches only this process.

interface Process {
  readonly platform: string;
  readonly pid: number;
  kill(pid: number, signal: string): void;
  on(event: string, listener: () => void): void;
  prependListener(event: string, listener: () => void): void;
  off(event: string, listener: () => void): void;
  listenerCount(event: string): number;
}

const its = (globalThis as { process?: Process }).process;

/** What ends each group at once. */
const groups = new Set<() => void>();
const SIGNALS = new Map(["SIGINT", "SIGTERM", "SIGHUP"].map((name) => [name, () => signalled(name)]));

function endAll(): void {
  groups.forEach((end) => end());
}

/** The signal ends this process, as it does without us, unless the program listens to it, too. */
function signalled(name: string): void {
  const own = SIGNALS.get(name);
  if (its === undefined || own === undefined) return;
  its.off(name, own);
  if (its.listenerCount(name) > 0) return;
  endAll();
  its.kill(its.pid, name);
}

/** Remembers a group until `release`. */
export function guard(end: () => void): void {
  if (its === undefined) return;
  if (groups.size === 0) its.on("exit", endAll);
  groups.add(end);
  // On Windows, Ctrl-C reaches the commands, too.
  if (its.platform === "win32") return;
  for (const [name, listener] of SIGNALS) {
    // First in the list: a listener that is called once is not counted after its call.
    if (its.listenerCount(name) === 0) its.prependListener(name, listener);
  }
}

export function release(end: () => void): void {
  if (its === undefined || !groups.delete(end) || groups.size > 0) return;
  its.off("exit", endAll);
  for (const [name, listener] of SIGNALS) its.off(name, listener);
}
